#ifndef PEL_RUBY_HASH_RING_H
#define PEL_RUBY_HASH_RING_H

#include <ruby.h>
#include "../core/hash_ring.h"

/* Of a Pelton::Memcached::HashRing, which owns it; it has servers and never changes. Raises TypeError. */
const struct pel_hash_ring *pel_hash_ring_get(VALUE self);

void pel_init_hash_ring(void);

#endif
