#ifndef PEL_KEY_HASH_H
#define PEL_KEY_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The hash functions by which clients of memcached place keys, with libmemcached's results. Its own constants for them
 * are MEMCACHED_HASH_MD5, _FNV1_32, _FNV1A_32 and _DEFAULT.
 *
 *   X(NAME, name)
 */
#define PEL_KEY_HASHES(X)                                                                                              \
    X(MD5, md5)                                                                                                        \
    X(FNV1_32, fnv1_32)                                                                                                \
    X(FNV1A_32, fnv1a_32)                                                                                              \
    X(ONE_AT_A_TIME, one_at_a_time)

/* Any bytes, 0 of them allowed. */
typedef uint32_t pel_key_hash(const char *key, size_t length);

#define PEL_KEY_HASH(NAME, name) pel_key_hash pel_key_hash_##name;
PEL_KEY_HASHES(PEL_KEY_HASH)
#undef PEL_KEY_HASH

#endif
