#pragma once

#include <stddef.h>

/*
 * MD5 (RFC 1321), so that keys are mapped to servers as other clients map them. It serves no security purpose.
 */

#define PEL_MD5_LENGTH 16

/* Computes the digest of `length` bytes; `length` may be 0. */
void pel_md5(const void *bytes, size_t length, unsigned char digest[PEL_MD5_LENGTH]);
