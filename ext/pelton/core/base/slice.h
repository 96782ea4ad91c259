#pragma once

#include <stddef.h>
#include <string.h>

/* Bytes that the slice does not own and that are never freed through it. Each function that returns a slice documents
 * how long the bytes stay valid. */
struct pel_slice {
    const char *bytes;
    size_t length;
};

/* A literal as a slice. */
#define PEL_SLICE(literal) ((struct pel_slice){literal, sizeof(literal) - 1})

static inline int pel_slice_equals(struct pel_slice slice, const char *text)
{
    return slice.length == strlen(text) && !memcmp(slice.bytes, text, slice.length);
}

static inline size_t pel_min(size_t one, size_t other)
{
    return one < other ? one : other;
}
