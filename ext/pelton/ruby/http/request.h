#ifndef PELTON_RUBY_HTTP_REQUEST_H
#define PELTON_RUBY_HTTP_REQUEST_H

#include "ruby/http/method.h"
#include "ruby/http/request_body.h"

struct pel_http_connection;

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

#define PEL_HTTP_MAX_UNSENT (1024 * 1024) /* bytes of output beyond which no further request is begun */

/* Parses the requests that have arrived, and answers them. May run Ruby, which may wait. */
void pel_http_read_requests(struct pel_http_connection *connection);

#endif
