#ifndef PEL_MD5_H
#define PEL_MD5_H

#include <stddef.h>

/*
 * MD5 (RFC 1321), for placing keys as others place them. It protects nothing.
 */

#define PEL_MD5_LENGTH 16

/* The digest of `length` bytes, 0 allowed. */
void pel_md5(const void *bytes, size_t length, unsigned char digest[PEL_MD5_LENGTH]);

#endif
