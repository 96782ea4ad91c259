#ifndef PEL_HTTP_H
#define PEL_HTTP_H

#include "../core/http1_parser.h"
#include "stream_private.h"

/*
 * The HTTP server, inside. Its parts, each with its section below.
 *
 * A connection is idle, or it is busy with one request. While it is busy nothing else is parsed, so order never
 * changes. The application runs on the fiber that turns the loop; if it waits, so does this connection alone.
 */

struct pel_http_connection;

/* A list of connections: each is on at most one. */
struct pel_http_list {
    struct pel_http_connection *first, *last;
    uint32_t count;
};

#define PEL_HTTP_CLASSES 5    /* of status codes: 1xx to 5xx */
#define PEL_HTTP_DURATIONS 14 /* buckets of a histogram */

struct pel_http_server {
    struct pel_spare spare;      /* first; among the reactor's while there are connections */
    struct pel_reactor *reactor; /* while there are connections: theirs */
    unsigned fork_generation;
    VALUE self, app, log;             /* log: nil, or what is called with an exchange's facts */
    VALUE template;                   /* env without what a request adds; Qfalse until the first */
    VALUE host, host_name, host_port; /* of the last Host header: usually the next one's, too */
    struct pel_http1_limits limits;
    int64_t header_timeout, idle_timeout, request_timeout, write_timeout; /* nanoseconds */
    uint32_t concurrency, queue_limit; /* requests that run at once; that wait for a place */
    uint32_t requests_limit;           /* of one connection */
    uint32_t body_rate;                /* bytes a second that a request's body must come at; 0: any */
    uint32_t running, connections;
    uint64_t accepted, requests, refused, overloads, errors;
    uint64_t responses[PEL_HTTP_CLASSES];
    uint64_t durations[PEL_HTTP_DURATIONS]; /* requests by their time; not cumulative */
    int64_t duration;                       /* nanoseconds of all of them */
    struct pel_http_list idle;              /* between two requests, the longest first */
    struct pel_http_list waiting;           /* for a place to run */
    struct pel_http_list events;            /* responses that are event streams: they go on while the client likes */
    time_t date_time;
    char date[32];
    int64_t stopping; /* since when; 0: it does not */
    uint8_t secure;
};

enum pel_http_state {
    PEL_HTTP_IDLE,      /* between requests, or within a head */
    PEL_HTTP_WAITING,   /* the request waits for a place to run */
    PEL_HTTP_BUSY,      /* the application has it, or its response is under way */
    PEL_HTTP_DRAINING,  /* answered; the rest of the request's body is dropped */
    PEL_HTTP_LINGERING, /* answered for the last time; what comes is dropped until the peer closes */
    PEL_HTTP_GONE       /* closed, or hijacked: the stream is somebody else's */
};

struct pel_http_connection {
    struct stream *stream;
    struct pel_http_server *server;
    struct pel_reactor *reactor;
    VALUE self, stream_object, server_object;
    VALUE env, exchange; /* of the present request */
    VALUE finished;      /* rack.response_finished: those who want to know of its end */
    VALUE headers;       /* of its answer, for those who are told of its end */
    VALUE early;         /* its answer, given while the application still ran; Qfalse */
    VALUE closers;       /* async.close: those who want to know as soon as the client leaves; Qfalse */
    VALUE address;       /* REMOTE_ADDR, Qfalse until it is asked for */
    VALUE fiber;         /* that runs the application, Qfalse */
    struct pel_listed listed;
    struct pel_http_connection *previous, *next;
    struct pel_http_list *list;
    struct pel_http1_parser parser;
    struct pel_alarm alarm;
    int64_t deadline;          /* PEL_FOREVER: none; the alarm may be earlier */
    struct pel_waiter *reader; /* the fiber that waits for the request's body */
    struct pel_waiter *writer; /* the fiber that waits until the descriptor takes more */
    uint64_t body_left;        /* of a response with a length */
    uint64_t body_sent;
    uint64_t unsent;        /* bytes queued when the write deadline was set */
    uint64_t drained;       /* bytes dropped of a request's body */
    uint64_t body_received; /* bytes of the request's, by those who read it */
    int64_t body_waited;    /* nanoseconds that they have waited for it */
    int64_t began;          /* when its last head was complete, or else the connection */
    int64_t rested;         /* when all of the last response was sent, or the connection began */
    unsigned fork_generation;
    uint32_t served; /* requests */
    uint16_t status;
    uint8_t state;             /* enum pel_http_state */
    unsigned queued : 1;       /* its job is on the ready queue */
    unsigned minor : 1;        /* of the request's version */
    unsigned keep_alive : 1;   /* after this response */
    unsigned head_request : 1; /* no body is sent */
    unsigned no_body : 1;      /* this response has none */
    unsigned chunked : 1;      /* the response's body */
    unsigned has_length : 1;   /* the response's body: body_left */
    unsigned raw : 1;          /* the application frames the body itself, or the end of the connection does */
    unsigned expects : 1;      /* the client waits for 100 Continue */
    unsigned body_done : 1;    /* the request's body was received to its end */
    unsigned in_app : 1;       /* the application has not returned */
    unsigned head_sent : 1;    /* the response has begun */
    unsigned aborted : 1;      /* it cannot be completed */
    unsigned counted : 1;      /* among the server's running ones */
    unsigned timed_out : 1;    /* the application's time was over */
    unsigned lingers : 1;      /* its end waits for the peer's */
    unsigned late : 1;         /* the request's body did not come in time */
    unsigned get_request : 1;
    unsigned cut_short : 1; /* the server has ended the response before the application did */
};

/* Sets a field of a connection to a Ruby object, which it keeps alive: whatever is not Qfalse is set by this. */
#define PEL_HTTP_KEEP(connection, field, object) RB_OBJ_WRITE((connection)->self, &(connection)->field, object)

/* ---- http_server.c --------------------------------------------------------------------------------------------- */

struct pel_http_server *pel_http_server_get(VALUE self);
void pel_http_list_add(struct pel_http_list *list, struct pel_http_connection *connection);
void pel_http_list_remove(struct pel_http_connection *connection);

/* Whether it may serve on this reactor: all of its connections are one's. What came through a fork is forgotten. */
int pel_http_server_fits(struct pel_http_server *server, struct pel_reactor *reactor);

/* One connection more, or less. C only. */
void pel_http_server_add(struct pel_http_server *server, struct pel_reactor *reactor);
void pel_http_server_remove(struct pel_http_server *server, struct pel_reactor *reactor);

/* PEL_HTTP1_DATE bytes: now. */
const char *pel_http_date(struct pel_http_server *server);

/* ---- http_connection.c ----------------------------------------------------------------------------------------- */

/* Takes a stream over. Raises. */
void pel_http_serve(struct pel_http_server *server, VALUE stream);

/* Has the connection's job run: there is something to parse, to drop, or to go on with. C only. */
void pel_http_queue(struct pel_http_connection *connection);

/* The response is complete, or will never be: tells whom it concerns, and goes on with the next request, or closes. May
 * run Ruby, which may wait. */
void pel_http_end_exchange(struct pel_http_connection *connection);

/* Closes at once. C only. */
void pel_http_close(struct pel_http_connection *connection);

/* Goes on between two requests. C only. */
void pel_http_idle(struct pel_http_connection *connection);

/* After the last response. Whoever closes while bytes of the peer are on their way destroys what the peer has not read
 * yet: so then only our side is shut, and the rest is dropped. C only. */
void pel_http_close_when_sent(struct pel_http_connection *connection);

/* It has no request any more that takes a place: another one may have it. C only. */
void pel_http_uncount(struct pel_http_connection *connection);

/* For pel_job.mark. */
void pel_http_mark_job(void *data);

/* Lets the stream go to the application. */
void pel_http_let_go(struct pel_http_connection *connection);

/* ---- http_stop.c --------------------------------------------------------------------------------------------------
 */

/* Closes one that is idle, unless its next request has come. Whether it did. C only. */
int pel_http_close_idle(struct pel_http_connection *connection);

/* While the server stops: has one that is idle close a little later. C only. */
void pel_http_last_chance(struct pel_http_connection *connection);

/* Before the response's head is written: decides whether the connection goes on after it. C only. */
void pel_http_decide_end(struct pel_http_connection *connection);

/* A response has begun that may go on for ever: remembers it if it is an event stream. C only. */
void pel_http_remember_events(struct pel_http_connection *connection, VALUE headers);
void pel_init_http_stop(VALUE server);

/* ---- http_request.c ---------------------------------------------------------------------------------------------- */

#define PEL_HTTP_OUTPUT_LIMIT (1024 * 1024) /* bytes not yet sent, beyond which no further request is begun */

/* Parses what is there, and answers. May run Ruby, which may wait. */
void pel_http_read_requests(struct pel_http_connection *connection);

/* Whether an answer says that the answer comes later: status -1. */
int pel_http_deferred_p(VALUE response);

/* Gives free places to those who wait for one. C only. */
void pel_http_grant(struct pel_http_server *server);
void pel_init_http_request(void);

/* ---- http_drain.c ------------------------------------------------------------------------------------------------ */

/* Receives the rest of the request's body for nothing, then goes on. */
void pel_http_drain(struct pel_http_connection *connection);

/* Receives whatever comes for nothing, until the peer closes. */
void pel_http_drop_input(struct pel_http_connection *connection);

/* ---- http_deadline.c ------------------------------------------------------------------------------------------- */

/* From now on, `time` nanoseconds; PEL_FOREVER takes the limit away. C only. */
void pel_http_limit(struct pel_http_connection *connection, int64_t time);
void pel_http_ring(struct pel_reactor *reactor, struct pel_alarm *alarm);

/* ---- http_env.c ------------------------------------------------------------------------------------------------ */

/* Runs no Ruby code: the head lies in a buffer that others use as well. */
VALUE pel_http_env(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* Adds rack.input to a request that has a body. Runs Ruby code. */
void pel_http_env_input(struct pel_http_connection *connection);
void pel_init_http_env(void);

/* ---- http_env_headers.c ---------------------------------------------------------------------------------------- */

/* Sets a key for each header; those that come more than once are one list. Runs no Ruby code. */
void pel_http_env_headers(VALUE env, const struct pel_http1_head *head);
void pel_init_http_env_headers(void);

/* ---- http_response.c ------------------------------------------------------------------------------------------- */

/* Sends status, headers, body, and ends the exchange, unless the body goes on by itself. May run Ruby, and wait. */
void pel_http_respond(struct pel_http_connection *connection, VALUE response);

/* Closes the body of a response that nobody wants, or of nil. */
void pel_http_drop_response(VALUE response);

/* Sends what was written: at the tick's end, or at once when it is much. */
void pel_http_send_soon(struct pel_http_connection *connection);
void pel_init_http_response(void);

/* ---- http_response_head.c --------------------------------------------------------------------------------------- */

/* Headers as a Hash. Raises TypeError. */
VALUE pel_http_checked_headers(VALUE headers);

/* ---- http_failure.c ---------------------------------------------------------------------------------------------- */

/* A response of our own, with a line of text. C only. `last`: the connection ends with it. */
void pel_http_respond_plainly(struct pel_http_connection *connection, unsigned status, const char *text, int last);

/* The application has failed: 500, or an end in the middle. */
void pel_http_fail(struct pel_http_connection *connection, VALUE error);

/* Tells Pelton.on_error, unless somebody wants to leave: that ends run. */
void pel_http_report(struct pel_http_connection *connection, VALUE error);

/* Calls those who want to know that the exchange is over: rack.response_finished, and the log. */
void pel_http_tell_end(struct pel_http_connection *connection);

/* Calls those who want to know that the client has left: async.close. C only. */
void pel_http_tell_close(struct pel_http_connection *connection);

/* ---- http_stats.c ---------------------------------------------------------------------------------------------- */

/* Counts an exchange that is over. Returns the nanoseconds that it took; 0 for what was no request. C only. */
int64_t pel_http_count(struct pel_http_connection *connection);
void pel_init_http_stats(VALUE class);

/* ---- http_exchange.c ------------------------------------------------------------------------------------------- */

VALUE pel_http_exchange_new(struct pel_http_connection *connection);

/* The connection of one that is not over. Raises. */
struct pel_http_connection *pel_http_exchange_get(VALUE self);

/* The same, NULL when it is over. */
struct pel_http_connection *pel_http_exchange_peek(VALUE self);

/* From now on it refers to nothing. */
void pel_http_exchange_end(VALUE exchange);

/* A part of a response's body, framed. Waits while much is queued. Raises. */
void pel_http_write(struct pel_http_connection *connection, VALUE string);

/* The end of the body, with trailers, a Hash or nil. */
void pel_http_finish_body(struct pel_http_connection *connection, VALUE trailers);
void pel_init_http_exchange(VALUE module);

/* ---- http_fields.c --------------------------------------------------------------------------------------------- */

/* Writes early hints, or trailers behind the last chunk: a Hash, or nil. All of them, or, when one is malformed, none:
 * raises. */
void pel_http_write_fields(struct pel_http_connection *connection, VALUE hash, int hints);

/* ---- http_input.c ---------------------------------------------------------------------------------------------- */

void pel_init_http_input(VALUE exchange);

/* ---- http_file.c ----------------------------------------------------------------------------------------------- */

void pel_init_http_file(VALUE exchange);

extern VALUE pel_mHTTP;
void pel_init_http(void);

#endif
