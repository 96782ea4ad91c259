#ifndef PELTON_RUBY_HTTP_REQUESTS_H
#define PELTON_RUBY_HTTP_REQUESTS_H

#include "ruby/http/connection.h"

void pel_init_http_requests(VALUE class);

#endif
