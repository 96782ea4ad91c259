#ifndef PELTON_RUBY_HTTP_REQUEST_BODY_H
#define PELTON_RUBY_HTTP_REQUEST_BODY_H

#include <ruby.h>
#include <stdint.h>

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

/* Adds the reading of a request's body to Pelton::HTTP::Exchange. */
void pel_init_http_request_body(VALUE exchange);

#endif
