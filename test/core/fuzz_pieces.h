#pragma once

#include <stdint.h>
#include <string.h>

#include "core/base/buffer.h"

/* For fuzz targets that feed their input in pieces. The input determines the pieces, so a crash can be repeated. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t seed_of(const uint8_t *data, size_t size)
{
    uint32_t seed = (uint32_t)size;

    for (size_t i = 0; i < size && i < 64; i++)
        seed = seed * 31 + data[i];
    return seed;
}

/* The next piece's length: 1 to `longest` bytes, at most `left`. With longest 0: all of them. */
static size_t next_piece(uint32_t *seed, uint32_t longest, size_t left)
{
    size_t piece;

    *seed = *seed * 1664525 + 1013904223;
    piece = longest == 0 ? left : (*seed >> 8) % longest + 1;
    return piece < left ? piece : left;
}

static inline int buffers_equal(struct pel_buffer *one, struct pel_buffer *other)
{
    size_t length = pel_buffer_length(one);

    return length == pel_buffer_length(other) &&
           (length == 0 || !memcmp(pel_buffer_head(one), pel_buffer_head(other), length));
}
