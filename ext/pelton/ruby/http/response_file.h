#ifndef PELTON_RUBY_HTTP_RESPONSE_FILE_H
#define PELTON_RUBY_HTTP_RESPONSE_FILE_H

#include <ruby.h>

/* Adds the sending of files to Pelton::HTTP::Exchange. */
void pel_init_http_response_file(VALUE exchange);

#endif
