#ifndef PELTON_RUBY_HTTP_CONNECTION_REQUEST_H
#define PELTON_RUBY_HTTP_CONNECTION_REQUEST_H

#include <ruby.h>
#include "ruby/http/connection/method.h"

struct pel_waiter;

/* A request's body, received only when the application asks for it. */
struct pel_http_request_body {
    struct pel_waiter *reader; /* the fiber that waits for the body's bytes, or NULL */
    uint64_t received;         /* bytes that were given to the reader */
    uint64_t dropped;          /* bytes that nobody read */
    int64_t waited;            /* nanoseconds that readers have waited for bytes */
    unsigned done : 1;         /* the body was received to its end */
    unsigned timed_out : 1;    /* the body did not arrive in time */
};

/* The present request of a connection, and its run in the application. Each new request begins with one assignment. */
struct pel_http_request {
    VALUE env, exchange;    /* Qfalse while there is no request */
    VALUE finish_callbacks; /* rack.response_finished: an Array of callables, called when the exchange is over */
    VALUE close_callbacks;  /* async.close: an Array of callables, called as soon as the client leaves; Qfalse */
    VALUE failure;          /* the application's exception; Qfalse */
    VALUE fiber;            /* the fiber that runs the application; Qfalse */
    VALUE cache_key;        /* under which the server's cache may keep the response; Qfalse */
    int64_t began;          /* when its head was complete */
    struct pel_http_request_body body;
    uint8_t method; /* enum pel_http_method */
    unsigned minor_version : 1;
    unsigned expects_continue : 1; /* the client waits for 100 Continue before it sends the body */
    unsigned in_application : 1;   /* the application was called and has not returned */
    unsigned holds_slot : 1;       /* it is one of the server's running requests */
    unsigned upgrade : 1;          /* the client offers protocols to upgrade to: rack.protocol */
    unsigned impersonal : 1;       /* env has nothing that is not in the cache's key: the response may be for others */
    unsigned hides : 1;            /* because its other headers were left out */
    unsigned host_unchecked : 1;   /* whether the connection may have requests for this host is to be asked */
    unsigned timed_out : 1;        /* request_timeout was over before the response began */
};

#endif
