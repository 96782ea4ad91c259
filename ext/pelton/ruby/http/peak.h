#ifndef PELTON_RUBY_HTTP_PEAK_H
#define PELTON_RUBY_HTTP_PEAK_H

#include "ruby/http/server.h"

/* The memory of a peak, which Ruby and malloc keep until it is asked back: lib/pelton/http/idle_memory.rb. */

#define PEL_HTTP_PEAK 64 /* busy connections, from which on the memory is worth asking for */

/* So many connections are busy: has IdleMemory wait for the peak's end, unless it does already. C only. */
void pel_http_peak_reached(struct pel_http_server *server);

void pel_init_http_peak(VALUE server);

#endif
