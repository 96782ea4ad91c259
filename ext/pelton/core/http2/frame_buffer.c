#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include <string.h>
#include "core/base/alloc.h"
#include "core/http2/http2_private.h"

/*
 * The memory in which nghttp2 makes a frame. Each session would have 16 KB of its own for it, of which an idle one
 * touches a page; but a frame is taken out as soon as it is made, and none is made while another waits
 * (pel__http2_on_send_data). So all sessions share one, which is asked for while a session is made, and known by its
 * size: what a longer head needs beyond it comes later, and is the session's own.
 */

#define FRAME_BUFFER (9 + 1 + 16384) /* bytes: a frame's head, the length of its padding, and the most payload */

static char frame_buffer[FRAME_BUFFER];

static void *allocate(size_t size, void *data)
{
    const struct pel_http2_session *session = data;

    return session->making && size == FRAME_BUFFER ? frame_buffer : pel_malloc(size);
}

static void *allocate_zeroed(size_t count, size_t size, void *data)
{
    (void)data;
    return pel_calloc(count, size);
}

static void release(void *memory, void *data)
{
    (void)data;
    if (memory != frame_buffer)
        pel_free(memory);
}

static void *reallocate(void *memory, size_t size, void *data)
{
    void *copy;

    if (!memory)
        return allocate(size, data);
    if (memory != frame_buffer)
        return pel_realloc(memory, size);
    if ((copy = pel_malloc(size)))
        memcpy(copy, memory, size < FRAME_BUFFER ? size : FRAME_BUFFER);
    return copy;
}

nghttp2_mem pel__http2_memory(struct pel_http2_session *session)
{
    return (nghttp2_mem){.mem_user_data = session,
                         .malloc = allocate,
                         .free = release,
                         .calloc = allocate_zeroed,
                         .realloc = reallocate};
}

#else

extern int pel__http2_is_missing; /* an empty file is no C */

#endif
