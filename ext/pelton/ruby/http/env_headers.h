#ifndef PELTON_RUBY_HTTP_ENV_HEADERS_H
#define PELTON_RUBY_HTTP_ENV_HEADERS_H

#include <ruby.h>
#include "core/http1/head.h"

/* Sets a key for each header. The values of a header that was sent more than once are joined. `impersonal`: without
 * those that say who asks; the User-Agent is this server then. Runs no Ruby code. */
void pel_http_env_headers(VALUE env, const struct pel_http1_head *head, int impersonal);

void pel_init_http_env_headers(void);

#endif
