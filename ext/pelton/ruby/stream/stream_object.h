#pragma once

#include "ruby/reactor/reactor.h"

extern VALUE pel_cStream;

/* A new Pelton::Stream that takes over a connected descriptor. Raises; the descriptor is closed then. */
VALUE pel_stream_object(struct pel_reactor *reactor, int fd);

/* Takes the descriptor of a Pelton::Stream away from it, and its layer (or NULL). Both are the caller's. Raises. */
int pel_stream_give_away(VALUE self, struct pel_layer **layer);
