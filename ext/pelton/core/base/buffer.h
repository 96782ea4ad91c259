#pragma once

#include <assert.h>
#include <stddef.h>

/*
 * A growable byte queue: bytes are written at the end and consumed at the front.
 *
 * The buffer owns `data`. Pointers into it (head, tail) are valid until the next reserve, append, consume or free.
 * An empty buffer may own no memory at all: `data` is then NULL.
 */
struct pel_buffer {
    char *data;
    size_t start;    /* offset of the first byte not yet consumed */
    size_t end;      /* offset after the last byte written */
    size_t capacity; /* start <= end <= capacity */
};

/* The largest capacity, in bytes, that an emptied buffer keeps: an idle connection must not retain the memory that one
 * large value needed. */
#define PEL_BUFFER_KEEP (256 * 1024)

/* Allocates nothing. A zeroed struct is an initialized buffer too. */
void pel_buffer_init(struct pel_buffer *buffer);

/* Frees the memory. The buffer is empty afterwards and can be used again. */
void pel_buffer_free(struct pel_buffer *buffer);

/*
 * Provides free space for `more` bytes at pel_buffer_tail(). It moves the bytes to the front, or grows the buffer to at
 * least twice its capacity; either costs O(1) amortized per byte. Returns 0, or PEL_EMEMORY: then nothing has changed.
 */
int pel_buffer_reserve(struct pel_buffer *buffer, size_t more);

/* Copies `length` bytes to the end; they must not lie in the buffer itself. Returns 0, or PEL_EMEMORY: then nothing has
 * changed. */
int pel_buffer_append(struct pel_buffer *buffer, const void *bytes, size_t length);

/* The number of bytes not yet consumed. */
static inline size_t pel_buffer_length(const struct pel_buffer *buffer)
{
    return buffer->end - buffer->start;
}

/* The first byte not yet consumed. NULL if the buffer owns no memory. */
static inline char *pel_buffer_head(struct pel_buffer *buffer)
{
    return buffer->data ? buffer->data + buffer->start : NULL;
}

/* The position of the next byte to write: the caller may write as many bytes there as it reserved. NULL if the buffer
 * owns no memory. */
static inline char *pel_buffer_tail(struct pel_buffer *buffer)
{
    return buffer->data ? buffer->data + buffer->end : NULL;
}

/* The free space at the tail, in bytes. */
static inline size_t pel_buffer_space(const struct pel_buffer *buffer)
{
    return buffer->capacity - buffer->end;
}

/* Adds `length` bytes that the caller has written at the tail. */
static inline void pel_buffer_commit(struct pel_buffer *buffer, size_t length)
{
    assert(length <= pel_buffer_space(buffer));
    buffer->end += length;
}

/* Removes the first `length` bytes. */
static inline void pel_buffer_consume(struct pel_buffer *buffer, size_t length)
{
    assert(length <= pel_buffer_length(buffer));
    buffer->start += length;
    if (buffer->start < buffer->end)
        return;
    if (buffer->capacity > PEL_BUFFER_KEEP)
        pel_buffer_free(buffer);
    else
        buffer->start = buffer->end = 0;
}
