#pragma once

#include <ruby.h>
#include <stdint.h>
#include "core/base/slice.h"
#include "ruby/http/connection/method.h"

struct pel_http_connection;
struct pel_http_flight;
struct pel_waiter;
struct pel_open_file;

/* A request's body, received only when the application asks for it. */
struct pel_http_request_body {
    struct pel_waiter *reader; /* the fiber that waits for the body's bytes, or NULL */
    uint64_t received;         /* bytes that were given to the reader */
    uint64_t dropped;          /* bytes that were not read */
    int64_t waited;            /* nanoseconds that readers have waited for bytes */
    uint8_t fault;             /* enum pel_http1_fault: what is wrong with the body */
    unsigned done : 1;         /* the body was received to its end */
    unsigned timed_out : 1;    /* the body did not arrive in time */
};

/* The file that answers a request in the application's place (response/public_file.c). */
struct pel_http_file {
    struct pel_open_file *open; /* held; NULL: there is none */
    struct pel_slice type;
    struct pel_slice coding; /* Content-Encoding, or empty */
    uint64_t from, length;   /* the bytes that are sent */
    uint16_t status;
    unsigned immutable : 1;
    unsigned varies : 1; /* there are compressed forms */
};

/* The present request of a connection, and its run in the application. Each new request begins with one assignment. */
struct pel_http_request {
    VALUE env, exchange;    /* Qfalse while there is no request */
    VALUE finish_callbacks; /* rack.response_finished: an Array of callables, called when the exchange is over */
    VALUE close_callbacks;  /* async.close: an Array of callables, called as soon as the client leaves; Qfalse */
    VALUE failure;          /* the application's exception; Qfalse */
    VALUE fiber;            /* the fiber that runs the application; Qfalse */
    VALUE cache_key;        /* under which the server's cache may keep the response; Qfalse */
    struct pel_http_flight *flight; /* the one that it leads, or NULL */
    int64_t began;                  /* when its head was complete */
    struct pel_http_request_body body;
    struct pel_http_file file;
    uint8_t method; /* enum pel_http_method */
    unsigned minor_version : 1;
    unsigned expects_continue : 1; /* the client waits for 100 Continue before it sends the body */
    unsigned in_application : 1;   /* the application was called and has not returned */
    unsigned holds_slot : 1;       /* it is one of the server's running requests */
    unsigned upgrade : 1;          /* the client offers protocols to upgrade to: rack.protocol */
    unsigned websocket : 1;        /* by HTTP/2, where 200 accepts the protocol */
    unsigned impersonal : 1;       /* env holds only what the cache's key covers */
    unsigned hides : 1;            /* the other headers were withheld from env */
    unsigned has_hidden : 1;       /* it has such headers */
    unsigned waits : 2;            /* how often it has waited for a flight */
    unsigned host_unchecked : 1;   /* whether the connection may have requests for this host is to be asked */
    unsigned for_file : 1;         /* a file answers it, not the application */
    unsigned timed_out : 1;        /* request_timeout was over before the response began */
};

/* How a response's body is delimited, and how much of it was sent. Each head begins with one assignment. */
struct pel_http_response_body {
    uint64_t left;           /* bytes of a body with a length that are still to come */
    uint64_t sent;           /* bytes, without what chunks add */
    unsigned none : 1;       /* the response has no body: its parts are ignored */
    unsigned has_length : 1; /* the body has content-length: `left` counts down */
    unsigned chunked : 1;    /* each part is sent as a chunk */
    unsigned unframed : 1;   /* parts are sent as they are: the application, or the connection's end, delimits them */
};

/* The response to a connection's present request. Each new request begins with one assignment. */
struct pel_http_response {
    VALUE headers;             /* for finish_callbacks; Qfalse */
    VALUE callback_response;   /* passed to async.callback before the application returned, sent afterwards; Qfalse */
    struct pel_waiter *writer; /* the fiber that waits until the descriptor takes more, or NULL */
    struct pel_http_response_body body;
    uint16_t status;
    unsigned keep_alive : 1;      /* the connection goes on after this response */
    unsigned head_sent : 1;       /* the response has begun */
    unsigned aborted : 1;         /* the response cannot be completed */
    unsigned ended_by_server : 1; /* the server has ended the response before the application did */
};

/*
 * Pelton::HTTP::Exchange: one request and its response, as the application has it in hand. When the exchange is over
 * the object refers to nothing, so a late call changes no other response.
 */

VALUE pel_http_exchange_new(struct pel_http_connection *connection);

/* The connection of an exchange, NULL when the exchange is over. */
struct pel_http_connection *pel_http_exchange_peek(VALUE self);

/* The same, but raises ClosedError when the exchange is over, and Error on another thread than the server's. */
struct pel_http_connection *pel_http_exchange_get(VALUE self);

/* The same, but raises ClosedError also when the response cannot be completed. */
struct pel_http_connection *pel_http_exchange_get_open(VALUE self);

/* Parks for `time` nanoseconds at most; the waiter is at `place` meanwhile, for who wakes it. 0: the time is over.
 * Raises, also when the exchange has ended meanwhile: then nothing but this function has kept the connection, and what
 * arrives may be the next request's. */
int pel_http_wait(struct pel_http_connection *connection, VALUE exchange, struct pel_waiter **place, int64_t time);

/* Makes a connection's exchange, if it has one, refer to nothing. C only. */
void pel_http_exchange_detach(struct pel_http_connection *connection);

/* Defines the class, which is returned. */
VALUE pel_init_http_exchange(void);

/* ---- its end (exchange_end.c) --------------------------------------------------------------------------------- */

/* The response is complete, or never will be: ends the exchange, queues its callbacks, and has the connection go on
 * with the next request, or close. C only. */
void pel_http_end_exchange(struct pel_http_connection *connection);

/* Ends the exchange and hands the connection's stream, which is returned, to the application. Raises, where the
 * protocol cannot do so. */
VALUE pel_http_hijack(struct pel_http_connection *connection);

/* The client has left while its request was answered: nothing more is sent. C only. */
void pel_http_client_left(struct pel_http_connection *connection);

/* Queues the callbacks of the exchange's end: rack.response_finished, and the log. C only. */
void pel_http_notify_finished(struct pel_http_connection *connection);

/* Queues the callbacks of the client's leaving: async.close. Each is called once. C only. */
void pel_http_notify_client_closed(struct pel_http_connection *connection);
