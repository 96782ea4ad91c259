#ifndef PEL_HTTP_RESPONSE_HEAD_H
#define PEL_HTTP_RESPONSE_HEAD_H

#include "http.h"

/* A response's head while it is written, and what the application's headers say of the rest. */
struct pel_http_head {
    struct pel_http_connection *connection;
    struct pel_buffer *output;
    unsigned status;
    unsigned dated : 1, connection_given : 1, close_given : 1;
    VALUE hijack;
};

/* `head` is the caller's, on its stack. */
void pel_http_begin_head(struct pel_http_connection *connection, struct pel_http_head *head, int status);

/* Writes it to the output. `length`: bytes of all of the body, or SIZE_MAX. Raises ArgumentError or TypeError where
 * something in it is wrong: then the caller takes back what was written. */
void pel_http_write_head(struct pel_http_head *head, VALUE headers, VALUE body, size_t length);

#endif
