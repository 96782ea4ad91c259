#ifndef PELTON_CORE_MEMCACHED_KEY_HASH_H
#define PELTON_CORE_MEMCACHED_KEY_HASH_H

#include <stddef.h>
#include <stdint.h>

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

#endif
