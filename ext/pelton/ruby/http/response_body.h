#ifndef PELTON_RUBY_HTTP_RESPONSE_BODY_H
#define PELTON_RUBY_HTTP_RESPONSE_BODY_H

#include "ruby/http/connection.h"

/* Appends a part of the response's body, a String, to the output, as a chunk if the body is chunked. It does not wait.
 * Raises; a part beyond content-length ends the exchange as well. */
void pel_http_write_body(struct pel_http_connection *connection, VALUE part);

/* Appends the end of the body, with trailers: a Hash, or nil. Raises; a body shorter than its content-length ends the
 * exchange as well. */
void pel_http_finish_body(struct pel_http_connection *connection, VALUE trailers);

#endif
