#ifndef PELTON_RUBY_HTTP_FIELDS_H
#define PELTON_RUBY_HTTP_FIELDS_H

#include "ruby/http/connection.h"

/* Writes early hints (`hints` is 1), or the last chunk with trailers (0). `hash`: their fields, or nil. Writes all of
 * them, or, when one is malformed, none, and raises. */
void pel_http_write_fields(struct pel_http_connection *connection, VALUE hash, int hints);

#endif
