#include "core/memcached/hash_ring.h"

#include "core/base/md5.h"

/* libmemcached hashes `char`s, which are signed on most of its platforms, so bytes above 127 count as negative numbers.
 * This function makes them negative on every platform. */
static uint32_t sign_extend(char byte)
{
    return (uint32_t)(int32_t)(int8_t)byte;
}

/* The digest's first four bytes, little-endian, as in ketama. */
uint32_t pel_key_hash_md5(const char *key, size_t length)
{
    unsigned char digest[PEL_MD5_LENGTH];

    pel_md5(key, length, digest);
    return pel_md5_word(digest);
}

#define FNV_START UINT32_C(2166136261)
#define FNV_PRIME UINT32_C(16777619)

uint32_t pel_key_hash_fnv1_32(const char *key, size_t length)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; i < length; i++)
        hash = hash * FNV_PRIME ^ sign_extend(key[i]);
    return hash;
}

uint32_t pel_key_hash_fnv1a_32(const char *key, size_t length)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ sign_extend(key[i])) * FNV_PRIME;
    return hash;
}

/* Bob Jenkins's. */
uint32_t pel_key_hash_one_at_a_time(const char *key, size_t length)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < length; i++) {
        hash += sign_extend(key[i]);
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    return hash;
}
