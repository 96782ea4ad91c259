#include <stdlib.h>
#include <string.h>
#include "core/gzip/member.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

/*
 * For any text, cut into any parts, of which some are fragments (stored ones: zlib is not known here): the member fills
 * the space that was computed for it, its CRC is that of the whole text, and its stored blocks hold the text.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the stored blocks up to the last one. */
static void check_blocks(const char *at, const char *text, size_t length)
{
    while (*at != 3) {
        size_t block = (unsigned char)at[1] | (size_t)(unsigned char)at[2] << 8;
        CHECK(*at == 0 && block <= length && (at[1] ^ at[3]) == -1 && (at[2] ^ at[4]) == -1);
        CHECK(!memcmp(at + 5, text, block));
        at += 5 + block;
        text += block;
        length -= block;
    }
    CHECK(length == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct pel_gzip_member member;
    size_t space = PEL_GZIP_FRAME, at;
    char *bytes, *end, *stored;
    uint32_t crc = pel_crc32(0, (struct pel_slice){text, size});

    for (at = 0; at < size; at += 1 + (data[at] & 63) < size - at ? 1 + (data[at] & 63) : size - at)
        space += pel_gzip_stored_length(1 + (data[at] & 63) < size - at ? 1 + (data[at] & 63) : size - at);
    bytes = malloc(space);
    stored = malloc(pel_gzip_stored_length(64));
    CHECK(bytes && stored);
    pel_gzip_begin(&member, bytes);
    for (at = 0; at < size;) {
        struct pel_slice part = {text + at, 1 + (data[at] & 63) < size - at ? 1 + (data[at] & 63) : size - at};
        if (data[at] & 64) {
            struct pel_gzip_fragment fragment = {
                .deflated = {stored, (size_t)(pel_gzip_store(stored, part) - stored)},
                .crc = pel_crc32(0, part),
                .shift = pel_crc32_shift(part.length),
                .length = part.length,
            };
            pel_gzip_add_fragment(&member, &fragment);
        } else {
            pel_gzip_add_text(&member, part);
        }
        at += part.length;
    }
    CHECK(member.crc == crc && member.length == size);
    end = pel_gzip_end(&member);
    CHECK((size_t)(end - bytes) == space);
    check_blocks(bytes + 10, text, size);
    free(stored);
    free(bytes);
    return 0;
}
