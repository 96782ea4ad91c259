#pragma once

#include "ruby/http/connection/http_connection.h"

/* A response's head while it is written, and what the application's headers say of the rest of the response. */
struct pel_http_head {
    struct pel_http_connection *connection;
    struct pel_buffer *output;
    unsigned status;
    unsigned dated : 1, connection_given : 1, close_given : 1; /* by headers of the application */
    unsigned upgrade_given : 1;                                /* likewise */
    unsigned tunnel : 1; /* HTTP/2's answer that accepts a WebSocket: what follows is no body */
    VALUE hijack;        /* the value of rack.hijack, or nil */
    VALUE protocol;      /* the value of rack.protocol, or nil */
    size_t file_length;  /* bytes of the file that the body names, or SIZE_MAX */
};

/* Headers as a Hash. Raises TypeError. */
VALUE pel_http_checked_headers(VALUE headers);

/* Whether the application says itself how the client sees the body's end: by content-length or transfer-encoding. */
int pel_http_framing_given_p(VALUE headers);

/* Begins a head. `head` lies on the caller's stack. Calls no Ruby. Raises ArgumentError when the protocol that the
 * headers choose (rack.protocol) was not offered by the client. */
void pel_http_begin_head(struct pel_http_connection *connection, struct pel_http_head *head, VALUE headers, int status);

/* Writes the head to the output. `length`: bytes of the whole body, or SIZE_MAX when they are not known. Calls no Ruby.
 * Raises ArgumentError or TypeError when something in the head is wrong: then the caller takes back the bytes written.
 */
void pel_http_write_head(struct pel_http_head *head, VALUE headers, size_t length);
