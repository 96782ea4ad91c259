#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * MD5 (RFC 1321), so that keys are mapped to servers as other clients map them. It serves no security purpose.
 */

#define PEL_MD5_LENGTH 16

/* Computes the digest of `length` bytes; `length` may be 0. */
void pel_md5(const void *bytes, size_t length, unsigned char digest[PEL_MD5_LENGTH]);

/* Four bytes of a digest, or of anything else, as a number: the first is the lowest. */
static inline uint32_t pel_md5_word(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}
