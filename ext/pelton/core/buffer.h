#ifndef PEL_BUFFER_H
#define PEL_BUFFER_H

#include <assert.h>
#include <stddef.h>

/*
 * Growable bytes: written at the end, consumed at the front.
 *
 * The buffer owns `data`. Pointers into it (head, tail) are valid until the next reserve, append, consume or free.
 * A buffer without bytes may own no memory at all: `data` is then NULL.
 */
struct pel_buffer {
    char *data;
    size_t start;    /* of the bytes not yet consumed */
    size_t end;      /* of the bytes written */
    size_t capacity; /* start <= end <= capacity */
};

/* An empty buffer never keeps more than this, in bytes: one large value must not stay with an idle connection. */
#define PEL_BUFFER_KEEP (256 * 1024)

/* Allocates nothing. A zeroed struct is an initialized buffer too. */
void pel_buffer_init(struct pel_buffer *buffer);

/* Frees the memory; what is left is an empty buffer that can be used again. */
void pel_buffer_free(struct pel_buffer *buffer);

/*
 * Makes room for `more` bytes at pel_buffer_tail(). Moves the bytes to the front, or grows to at least twice the
 * capacity; either costs O(1) for each byte that passes through. Returns 0, or PEL_EMEMORY: then nothing has changed.
 */
int pel_buffer_reserve(struct pel_buffer *buffer, size_t more);

/* Copies `length` bytes to the end; they must not lie in the buffer itself. Returns 0, or PEL_EMEMORY: then nothing has
 * changed. */
int pel_buffer_append(struct pel_buffer *buffer, const void *bytes, size_t length);

/* The bytes that wait to be consumed. */
static inline size_t pel_buffer_length(const struct pel_buffer *buffer)
{
    return buffer->end - buffer->start;
}

/* The first of them. NULL if the buffer owns no memory. */
static inline char *pel_buffer_head(struct pel_buffer *buffer)
{
    return buffer->data ? buffer->data + buffer->start : NULL;
}

/* Where the next byte goes: as many may be written there as were reserved. NULL if the buffer owns no memory. */
static inline char *pel_buffer_tail(struct pel_buffer *buffer)
{
    return buffer->data ? buffer->data + buffer->end : NULL;
}

/* The room at the tail. */
static inline size_t pel_buffer_room(const struct pel_buffer *buffer)
{
    return buffer->capacity - buffer->end;
}

/* `length` bytes have been written at the tail. */
static inline void pel_buffer_commit(struct pel_buffer *buffer, size_t length)
{
    assert(length <= pel_buffer_room(buffer));
    buffer->end += length;
}

/* The first `length` bytes are done with. */
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

#endif
