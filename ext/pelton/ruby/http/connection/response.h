#ifndef PELTON_RUBY_HTTP_CONNECTION_RESPONSE_H
#define PELTON_RUBY_HTTP_CONNECTION_RESPONSE_H

#include <ruby.h>
#include <stdint.h>

struct pel_waiter;

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

#endif
