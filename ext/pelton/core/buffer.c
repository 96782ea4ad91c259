#include "buffer.h"

#include <stdint.h>
#include <string.h>

#include "alloc.h"
#include "error.h"

#define SMALLEST 512

void pel_buffer_init(struct pel_buffer *buffer)
{
    memset(buffer, 0, sizeof *buffer);
}

void pel_buffer_free(struct pel_buffer *buffer)
{
    pel_free(buffer->data);
    pel_buffer_init(buffer);
}

/* Not realloc: it would copy the consumed bytes as well. */
static int grow(struct pel_buffer *buffer, size_t needed)
{
    size_t length = pel_buffer_length(buffer);
    size_t capacity = buffer->capacity > SIZE_MAX / 2 ? SIZE_MAX : buffer->capacity * 2;
    char *data;

    if (capacity < SMALLEST)
        capacity = SMALLEST;
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

    if (more <= pel_buffer_room(buffer))
        return 0;
    if (more > SIZE_MAX - length)
        return PEL_EMEMORY;
    /* Moving is only worth it when at least as much was consumed as must be moved: else a nearly full buffer, consumed
     * in sips, would be moved again and again. */
    if (length + more > buffer->capacity || length > buffer->start)
        return grow(buffer, length + more);
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
