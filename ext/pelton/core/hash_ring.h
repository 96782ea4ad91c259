#ifndef PEL_HASH_RING_H
#define PEL_HASH_RING_H

#include "error.h"
#include "key_hash.h"
#include "slice.h"

/*
 * Ketama: which of several servers has a key. Each server has many points on a ring of 32 bits; a key belongs to the
 * first point at its own hash or after it. A server that goes takes only its own keys along. Points and keys fall where
 * libmemcached puts them, so that programs may share a cache.
 */

struct pel_hash_ring_server {
    struct pel_slice name; /* "host", or "host:port" for a port other than 11211; at most PEL_HASH_RING_NAME_LIMIT */
    uint32_t weight;       /* its share; 0 counts as 1 */
};

/* private: */
struct pel_hash_ring_point {
    uint32_t value, server;
};

/* Owned by the caller; zeroed memory is a ring without servers. */
struct pel_hash_ring {
    pel_key_hash *hash;
    struct pel_hash_ring_point *points; /* sorted */
    uint32_t point_count, server_count;
};

#define PEL_HASH_RING_NAME_LIMIT 1024
#define PEL_HASH_RING_SERVER_LIMIT 65536

enum pel_hash_ring_points {
    /* By MD5, four for each digest, 160 for a server of average weight: MEMCACHED_DISTRIBUTION_CONSISTENT_WEIGHTED. */
    PEL_HASH_RING_WEIGHTED,
    /* By the keys' own hash, 100 for each server, whatever its weight: MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA. */
    PEL_HASH_RING_EQUAL
};

/*
 * Builds a ring, which must be without servers. The servers are only read, and not kept: a key's server is told by its
 * place among them.
 *
 *   0              built
 *   PEL_EARGUMENT  no server
 *   PEL_ELIMIT     too many servers, or a name that is too long
 *   PEL_EMEMORY
 */
int pel_hash_ring_build(struct pel_hash_ring *ring, const struct pel_hash_ring_server *servers, size_t count,
                        enum pel_hash_ring_points points, pel_key_hash *hash);

/* The place of the server that has the key. The ring must have servers. */
size_t pel_hash_ring_find(const struct pel_hash_ring *ring, const char *key, size_t length);

/* Afterwards the ring has no servers. */
void pel_hash_ring_free(struct pel_hash_ring *ring);

#endif
