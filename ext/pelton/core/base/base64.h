#pragma once

#include "core/base/slice.h"

/* Base64 (RFC 4648, section 4): the encoding of memcached's binary keys. */

/* The encoded length of `length` bytes. */
#define PEL_BASE64_LENGTH(length) (((length) + 2) / 3 * 4)

/* Writes PEL_BASE64_LENGTH(bytes.length) bytes to `at`; returns the end of the written bytes. */
char *pel_base64_encode(char *at, struct pel_slice bytes);

/* Writes at most text.length / 4 * 3 bytes to `at`, which may be the text itself, and sets `*length`. Returns 0, or
 * PEL_EPROTOCOL unless the text is whole groups of four digits, padded at the end with zero bits. */
int pel_base64_decode(char *at, size_t *length, struct pel_slice text);
