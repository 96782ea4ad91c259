#ifndef PELTON_RUBY_HTTP_REFUSAL_H
#define PELTON_RUBY_HTTP_REFUSAL_H

#include "ruby/http/connection.h"

/* Answers an idle connection whose request did not arrive in time, or was not understood, closes it, and tells the
 * server in a job (Server#_refused): it may be called in the middle of a tick. C only. */
void pel_http_refuse(struct pel_http_connection *connection, unsigned status, const char *text);

#endif
