#pragma once

#include "ruby/reactor/reactor.h"

extern VALUE pel_cStream;

/* A new Pelton::Stream that takes over a connected descriptor. Raises; the descriptor is closed then. */
VALUE pel_stream_object(struct pel_reactor *reactor, int fd);

/* A new Pelton::Stream on a carrier, of this type and size, that it makes and zeroes: see pel_stream_open_carried. The
 * type's `free` calls xfree. The object lives until it is closed. Raises. */
VALUE pel_stream_on_carrier(struct pel_reactor *reactor, const struct pel_carrier_type *type, size_t size, int fd);

/* Takes the descriptor of a Pelton::Stream away from it, and its layer (or NULL). Both are the caller's. Raises. */
int pel_stream_give_away(VALUE self, struct pel_layer **layer);
