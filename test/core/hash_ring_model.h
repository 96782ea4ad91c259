#ifndef PEL_HASH_RING_MODEL_H
#define PEL_HASH_RING_MODEL_H

#include "hash_ring.h"

/* The owner of a hash by looking at every point of the ring. */
static inline size_t model_owner(const struct pel_hash_ring *ring, uint32_t hash)
{
    const struct pel_hash_ring_point *best = NULL;

    for (const struct pel_hash_ring_point *point = ring->points; point < ring->points + ring->point_count; point++) {
        /* Clockwise from the hash; the subtraction wraps round, as the ring does. */
        if (!best || point->value - hash < best->value - hash ||
            (point->value == best->value && point->server < best->server))
            best = point;
    }
    return best->server;
}

#endif
