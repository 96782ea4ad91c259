#ifndef PEL_RUBY_STREAM_H
#define PEL_RUBY_STREAM_H

#include "reactor.h"

/* A new Pelton::Stream on a connected descriptor, which it takes over. Raises; then the descriptor is closed. */
VALUE pel_stream_object(struct pel_reactor *reactor, int fd);

/* The descriptor of a Pelton::Stream, which is the caller's from now on, and its layer or NULL. Raises. */
int pel_stream_give_away(VALUE self, struct pel_layer **layer);

void pel_init_stream(void);
void pel_init_listener(void);

#endif
