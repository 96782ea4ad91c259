#ifndef PEL_RUBY_STREAM_H
#define PEL_RUBY_STREAM_H

#include "reactor.h"

/* A new Pelton::Stream on a connected descriptor, which it takes over. Raises; then the descriptor is closed. */
VALUE pel_stream_object(struct pel_reactor *reactor, int fd);

void pel_init_stream(void);
void pel_init_listener(void);

#endif
