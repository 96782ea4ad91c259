#ifndef PELTON_CORE_GZIP_CRC_H
#define PELTON_CORE_GZIP_CRC_H

#include <stdint.h>
#include "core/base/slice.h"

/*
 * CRC-32 as gzip uses it (RFC 1952, section 8), and the CRC of two texts from the CRCs of each.
 *
 * A CRC is a polynomial over GF(2), modulo gzip's polynomial. A text of n bytes behind another one multiplies the first
 * one's CRC by x^(8n): that power is the text's shift. It depends on the length alone, so it is computed once for a
 * text that is used often.
 */

/* The CRC of a text that begins with bytes whose CRC is `crc` (0: none) and ends with `bytes`. */
uint32_t pel_crc32(uint32_t crc, struct pel_slice bytes);

/* The shift of a text of `length` bytes. */
uint32_t pel_crc32_shift(uint64_t length);

/* The CRC of a text of two parts, from the CRC of each; `shift` is the second one's. */
uint32_t pel_crc32_combine(uint32_t first, uint32_t second, uint32_t shift);

#endif
