#ifndef PEL_BASE64_H
#define PEL_BASE64_H

#include "slice.h"

/* Base64 (RFC 4648, section 4), as memcached's binary keys travel. */

/* Bytes that so many bytes become. */
#define PEL_BASE64_LENGTH(length) (((length) + 2) / 3 * 4)

/* Writes PEL_BASE64_LENGTH(bytes.length) bytes to `at`; returns what is behind them. */
char *pel_base64_encode(char *at, struct pel_slice bytes);

/* Writes at most text.length / 4 * 3 bytes to `at`, which may be the text itself, and sets `*length`. 0, or
 * PEL_EPROTOCOL for anything but whole groups of the alphabet, padded at the end with zero bits. */
int pel_base64_decode(char *at, size_t *length, struct pel_slice text);

#endif
