#ifndef PELTON_RUBY_HTTP_ERROR_RESPONSE_H
#define PELTON_RUBY_HTTP_ERROR_RESPONSE_H

#include "ruby/http/connection.h"

/* Answers with a response of the server's own, a status and a line of text, and ends the exchange. Legal for an idle
 * connection whose request did not arrive, or was not understood. `last`: the connection ends with it. C only. */
void pel_http_respond_error(struct pel_http_connection *connection, unsigned status, const char *text, int last);

#endif
