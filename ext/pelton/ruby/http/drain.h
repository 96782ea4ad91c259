#ifndef PELTON_RUBY_HTTP_DRAIN_H
#define PELTON_RUBY_HTTP_DRAIN_H

#include "ruby/http/connection.h"

/* Receives and drops the rest of the request's body, then goes on with the next request. C only. */
void pel_http_drain_body(struct pel_http_connection *connection);

/* Receives and drops whatever arrives, until the peer closes. C only. */
void pel_http_drain_until_end(struct pel_http_connection *connection);

#endif
