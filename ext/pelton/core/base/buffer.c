#include "core/base/buffer.h"

#include <stdint.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

#define SMALLEST_CAPACITY 512

void pel_buffer_init(struct pel_buffer *buffer)
{
    memset(buffer, 0, sizeof *buffer);
}

void pel_buffer_free(struct pel_buffer *buffer)
{
    pel_free(buffer->data);
    pel_buffer_init(buffer);
}

/* Does not use realloc, which would copy the consumed bytes as well. */
static int grow_buffer(struct pel_buffer *buffer, size_t needed)
{
    size_t length = pel_buffer_length(buffer);
    size_t capacity = buffer->capacity > SIZE_MAX / 2 ? SIZE_MAX : buffer->capacity * 2;
    char *data;

    if (capacity < SMALLEST_CAPACITY)
        capacity = SMALLEST_CAPACITY;
    if (capacity < needed)
        capacity = needed;
    data = pel_malloc(capacity);
    if (!data)
        return PEL_EMEMORY;
    if (length)
        memcpy(data, buffer->data + buffer->start, length);
    pel_free(buffer->data);
    *buffer = (struct pel_buffer){.data = data, .start = 0, .end = length, .capacity = capacity};
    return 0;
}

int pel_buffer_reserve(struct pel_buffer *buffer, size_t more)
{
    size_t length = pel_buffer_length(buffer);

    if (more <= pel_buffer_space(buffer))
        return 0;
    if (more > SIZE_MAX - length)
        return PEL_EMEMORY;
    /* The bytes are moved only when at least as many were consumed as must be moved: otherwise a nearly full buffer
     * that is consumed a few bytes at a time would be moved again and again. */
    if (length + more > buffer->capacity || length > buffer->start)
        return grow_buffer(buffer, length + more);
    memcpy(buffer->data, buffer->data + buffer->start, length);
    buffer->start = 0;
    buffer->end = length;
    return 0;
}

int pel_buffer_append(struct pel_buffer *buffer, const void *bytes, size_t length)
{
    int result = pel_buffer_reserve(buffer, length);

    if (result < 0 || length == 0)
        return result;
    memcpy(pel_buffer_tail(buffer), bytes, length);
    pel_buffer_commit(buffer, length);
    return 0;
}
