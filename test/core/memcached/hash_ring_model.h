#pragma once

#include "core/memcached/hash_ring.h"

/* Finds the server of a hash by comparing every point of the ring. */
static inline size_t model_find(const struct pel_hash_ring *ring, uint32_t hash)
{
    const struct pel_hash_ring_point *best = NULL;

    for (const struct pel_hash_ring_point *point = ring->points; point < ring->points + ring->point_count; point++) {
        /* The distance from the hash; the subtraction wraps around like the ring. */
        if (!best || point->value - hash < best->value - hash ||
            (point->value == best->value && point->server < best->server))
            best = point;
    }
    return best->server;
}
