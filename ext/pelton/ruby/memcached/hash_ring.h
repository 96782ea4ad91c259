#pragma once

#include <ruby.h>
#include "core/memcached/hash_ring.h"

/* The ring of a Pelton::Memcached::HashRing, which owns it. It has at least one server and never changes. Raises
 * TypeError. */
const struct pel_hash_ring *pel_hash_ring_get(VALUE self);
