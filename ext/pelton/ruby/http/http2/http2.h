#pragma once

#include "ruby/http/connection/http_connection.h"

/* The connection, on which nothing was answered yet, is one of HTTP/2, and begins with these bytes, or with what comes.
 * 0: the server does not serve HTTP/2, or is built without it. Raises NoMemoryError. */
int pel_http2_serve(struct pel_http_connection *connection, const char *bytes, size_t length);

/* Adds Pelton::HTTP.http2?. */
void pel_init_http2(void);
