#ifndef PELTON_RUBY_HTTP_SERVE_H
#define PELTON_RUBY_HTTP_SERVE_H

#include <ruby.h>

/* Adds Pelton::HTTP::Server#serve. */
void pel_init_http_serve(VALUE server);

#endif
