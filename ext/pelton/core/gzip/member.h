#pragma once

#include <stddef.h>
#include <stdint.h>
#include "core/base/slice.h"

/*
 * CRC-32 as gzip uses it (RFC 1952, section 8), and the CRC of two texts from the CRCs of each.
 *
 * A CRC is a polynomial over GF(2), modulo gzip's polynomial. A text of n bytes after another one multiplies the first
 * one's CRC by x^(8n): that power is the text's shift. It depends on the length alone, so it is computed once for a
 * text that is used often.
 */

/* The CRC of a text that begins with bytes whose CRC is `crc` (0: none) and ends with `bytes`. */
uint32_t pel_crc32(uint32_t crc, struct pel_slice bytes);

/* The shift of a text of `length` bytes. */
uint32_t pel_crc32_shift(uint64_t length);

/* The CRC of a text of two parts, from the CRC of each; `shift` is the second one's. */
uint32_t pel_crc32_combine(uint32_t first, uint32_t second, uint32_t shift);

/*
 * Writes a gzip member (RFC 1952) from fragments that were deflated before, and from text between them, which is stored
 * and not compressed. Nothing is compressed here: that needs no zlib, and costs little more than copying.
 *
 * A deflated fragment is whole blocks (RFC 1951) that end on a byte boundary, none of them marked as the last, and
 * refer to nothing outside of the fragment: what zlib writes up to Z_SYNC_FLUSH or Z_FULL_FLUSH.
 *
 * The caller provides the space: PEL_GZIP_FRAME bytes, each fragment's deflated length, and pel_gzip_stored_length of
 * each text. Nothing is allocated.
 */

#define PEL_GZIP_FRAME 20 /* the bytes of the header, the last block and the trailer */

struct pel_gzip_fragment {
    struct pel_slice deflated;
    uint32_t crc;   /* of the text */
    uint32_t shift; /* pel_crc32_shift of the text's length */
    size_t length;  /* of the text */
};

struct pel_gzip_member {
    char *at; /* the end of what was written */
    uint32_t crc;
    uint32_t length; /* of the text, modulo 2^32 as the trailer has it */
};

/* The length of `length` bytes as stored blocks. */
size_t pel_gzip_stored_length(size_t length);

/* Writes stored blocks to `at`; returns the end of the written bytes. */
char *pel_gzip_store(char *at, struct pel_slice text);

/* Writes the header to `at`. */
void pel_gzip_begin(struct pel_gzip_member *member, char *at);

void pel_gzip_add_fragment(struct pel_gzip_member *member, const struct pel_gzip_fragment *fragment);
void pel_gzip_add_text(struct pel_gzip_member *member, struct pel_slice text);

/* Writes the last block and the trailer; returns the end of the member. */
char *pel_gzip_end(struct pel_gzip_member *member);
