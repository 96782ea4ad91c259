#include "core/stream/layer.h"

#include "core/stream/stream_io.h"

#define SEAL_AHEAD 65536    /* the plain bytes that are sealed before the descriptor has taken their sealed form */
#define KEPT_CAPACITY 16384 /* the capacity, in bytes, that an idle layer keeps for sealing */

int pel__layer_put_on(struct pel_stream *stream, struct pel_layer *layer)
{
    struct iovec part;
    size_t pending = pel_stream_pending(stream);

    if (pel_buffer_reserve(&layer->sealed, pending) < 0)
        return PEL_EMEMORY;
    while (pel_borrowed_parts(&stream->borrowed, &stream->output, &part, 1, SIZE_MAX)) {
        pel_buffer_append(&layer->sealed, part.iov_base, part.iov_len);
        pel_borrowed_consume(&stream->borrowed, &stream->output, part.iov_len);
    }
    layer->plain_pending = pending;
    stream->layer = layer;
    return 0;
}

void pel_layer_drop(struct pel_layer *layer)
{
    if (!layer)
        return;
    pel_buffer_free(&layer->sealed);
    layer->type->free(layer);
}

int pel__layer_send(struct pel_stream *stream)
{
    struct pel_layer *layer = stream->layer;

    while (pel_buffer_length(&layer->sealed)) {
        struct iovec part = {.iov_base = pel_buffer_head(&layer->sealed), .iov_len = pel_buffer_length(&layer->sealed)};
        ssize_t sent = stream->writable ? pel__stream_send(stream, &part, 1) : PEL_EAGAIN;
        if (sent < 0)
            return (int)sent;
        pel_buffer_consume(&layer->sealed, (size_t)sent);
    }
    layer->plain_pending = 0;
    if (layer->sealed.capacity > KEPT_CAPACITY)
        pel_buffer_free(&layer->sealed);
    return 0;
}

/* Seals the next queued bytes. Returns the number of bytes taken from the queue, which may be 0, or PEL_ESYSTEM. */
static ssize_t seal_next(struct pel_stream *stream, size_t limit)
{
    struct pel_layer *layer = stream->layer;
    struct iovec part;
    int code;

    if (!pel_borrowed_parts(&stream->borrowed, &stream->output, &part, 1, limit < SEAL_AHEAD ? limit : SEAL_AHEAD))
        return 0;
    if ((code = layer->type->seal(stream, part.iov_base, part.iov_len)) < 0)
        return code;
    pel_borrowed_consume(&stream->borrowed, &stream->output, part.iov_len);
    layer->plain_pending += part.iov_len;
    return (ssize_t)part.iov_len;
}

static size_t queued_length(const struct pel_stream *stream)
{
    return pel_buffer_length(&stream->output) + stream->borrowed.length;
}

/* The peer closed the connection after it got all output and before it got this side's close_notify: no bytes are lost,
 * so this is no error. If there is something to read, the next read will find it. */
static int drop_close_notify(struct pel_stream *stream)
{
    pel_buffer_free(&stream->layer->sealed);
    stream->error = 0;
    return 0;
}

int pel__layer_flush(struct pel_stream *stream)
{
    struct pel_layer *layer = stream->layer;
    size_t left = PEL_STREAM_BURST;
    int code;

    for (;;) {
        while (layer->open && left && pel_buffer_length(&layer->sealed) < SEAL_AHEAD) {
            ssize_t taken = seal_next(stream, left);
            if (taken < 0)
                return (int)taken;
            if (taken == 0)
                break;
            left -= (size_t)taken;
        }
        if (stream->shut_when_sent && layer->open && !layer->ended && !queued_length(stream)) {
            layer->ended = 1;
            layer->type->end(stream);
        }
        if ((code = pel__layer_send(stream)) == PEL_ESYSTEM && layer->ended && !layer->plain_pending)
            return drop_close_notify(stream);
        if (code < 0)
            return code == PEL_EAGAIN ? 1 : code;
        if (!queued_length(stream))
            return 0;
        if (!left || !layer->open)
            return 1;
    }
}

ssize_t pel__layer_send_now(struct pel_stream *stream, const void *bytes, size_t length)
{
    struct pel_layer *layer = stream->layer;
    size_t taken = 0;

    while (taken < length && layer->open && !pel_stream_unsent_p(stream)) {
        size_t piece = length - taken < SEAL_AHEAD ? length - taken : SEAL_AHEAD;
        int code = layer->type->seal(stream, (const char *)bytes + taken, piece);
        if (code < 0)
            return code;
        layer->plain_pending += piece;
        taken += piece;
        if ((code = pel__layer_send(stream)) == PEL_ESYSTEM)
            return code;
    }
    return (ssize_t)taken;
}
