#ifndef PELTON_RUBY_HTTP_EXCHANGE_CLASS_H
#define PELTON_RUBY_HTTP_EXCHANGE_CLASS_H

#include <ruby.h>

/* Adds the public methods to Pelton::HTTP::Exchange. */
void pel_init_http_exchange_class(VALUE exchange);

#endif
