#include "core/gzip/member.h"

#include <string.h>

#define LONGEST 65535 /* bytes of a stored block */
#define BLOCK_HEAD 5

static char *append(char *at, const void *bytes, size_t length)
{
    if (length)
        memcpy(at, bytes, length);
    return at + length;
}

static char *append_little_endian(char *at, uint32_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (char)(number >> 8 * i & 0xff);
    return at;
}

size_t pel_gzip_stored_length(size_t length)
{
    return length + (length + LONGEST - 1) / LONGEST * BLOCK_HEAD;
}

char *pel_gzip_store(char *at, struct pel_slice text)
{
    while (text.length) {
        uint32_t length = text.length < LONGEST ? (uint32_t)text.length : LONGEST;
        *at++ = 0; /* stored, not the last block */
        at = append_little_endian(at, length, 2);
        at = append_little_endian(at, ~length, 2);
        at = append(at, text.bytes, length);
        text = (struct pel_slice){text.bytes + length, text.length - length};
    }
    return at;
}

void pel_gzip_begin(struct pel_gzip_member *member, char *at)
{
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}; /* deflate, no time, unknown system */

    *member = (struct pel_gzip_member){.at = append(at, header, sizeof header)};
}

void pel_gzip_add_fragment(struct pel_gzip_member *member, const struct pel_gzip_fragment *fragment)
{
    member->at = append(member->at, fragment->deflated.bytes, fragment->deflated.length);
    member->crc = pel_crc32_combine(member->crc, fragment->crc, fragment->shift);
    member->length += (uint32_t)fragment->length;
}

void pel_gzip_add_text(struct pel_gzip_member *member, struct pel_slice text)
{
    member->at = pel_gzip_store(member->at, text);
    member->crc = pel_crc32(member->crc, text);
    member->length += (uint32_t)text.length;
}

char *pel_gzip_end(struct pel_gzip_member *member)
{
    static const unsigned char last[] = {3, 0}; /* an empty block of fixed codes, marked as the last */

    member->at = append(member->at, last, sizeof last);
    member->at = append_little_endian(member->at, member->crc, 4);
    member->at = append_little_endian(member->at, member->length, 4);
    return member->at;
}
