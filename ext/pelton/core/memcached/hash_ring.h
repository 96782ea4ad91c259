#pragma once

#include <stddef.h>
#include <stdint.h>
#include "core/base/error.h"
#include "core/base/slice.h"

/*
 * The hash functions by which memcached clients map keys to servers. The results equal libmemcached's, whose constants
 * are MEMCACHED_HASH_MD5, _FNV1_32, _FNV1A_32 and _DEFAULT.
 *
 *   X(NAME, name)
 */
#define PEL_KEY_HASHES(X)                                                                                              \
    X(MD5, md5)                                                                                                        \
    X(FNV1_32, fnv1_32)                                                                                                \
    X(FNV1A_32, fnv1a_32)                                                                                              \
    X(ONE_AT_A_TIME, one_at_a_time)

/* Hashes any bytes; `length` may be 0. */
typedef uint32_t pel_key_hash(const char *key, size_t length);

#define PEL_KEY_HASH(NAME, name) pel_key_hash pel_key_hash_##name;
PEL_KEY_HASHES(PEL_KEY_HASH)
#undef PEL_KEY_HASH

/*
 * Consistent hashing as in ketama: maps a key to one of several servers. Each server has many points on a ring of 32
 * bits; a key belongs to the first point at its own hash or after it. When a server is removed, only its own keys move.
 * Points and keys are hashed as libmemcached hashes them, so that programs using either can share a cache.
 */

struct pel_hash_ring_server {
    struct pel_slice name; /* "host", or "host:port" for a port other than 11211; at most PEL_HASH_RING_NAME_LIMIT */
    uint32_t weight;       /* its share of the keys; 0 counts as 1 */
};

/* private: */
struct pel_hash_ring_point {
    uint32_t value, server;
};

/* Owned by the caller. A zeroed ring has no servers. */
struct pel_hash_ring {
    pel_key_hash *hash;
    struct pel_hash_ring_point *points; /* sorted */
    uint32_t point_count, server_count;
};

#define PEL_HASH_RING_NAME_LIMIT 1024
#define PEL_HASH_RING_SERVER_LIMIT 65536

enum pel_hash_ring_points {
    /* Points by MD5, four per digest, 160 on average by weight: MEMCACHED_DISTRIBUTION_CONSISTENT_WEIGHTED. */
    PEL_HASH_RING_WEIGHTED,
    /* Points by the keys' hash, 100 per server regardless of its weight: MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA. */
    PEL_HASH_RING_EQUAL
};

/*
 * Builds a ring, which must have no servers yet. The ring does not retain the array of servers: it identifies a server
 * by its index in the array.
 *
 *   0              the ring is built
 *   PEL_EARGUMENT  no server
 *   PEL_ELIMIT     too many servers, or a name that is too long
 *   PEL_EMEMORY
 */
int pel_hash_ring_build(struct pel_hash_ring *ring, const struct pel_hash_ring_server *servers, size_t count,
                        enum pel_hash_ring_points points, pel_key_hash *hash);

/* The index of the key's server. The ring must have servers. */
size_t pel_hash_ring_find(const struct pel_hash_ring *ring, const char *key, size_t length);

/* Frees the points. The ring has no servers afterwards. */
void pel_hash_ring_free(struct pel_hash_ring *ring);
