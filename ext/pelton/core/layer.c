#include "layer.h"

#include "stream.h"

#define SEALED_AT_ONCE 65536 /* plain bytes that are sealed before the descriptor has taken what they became */
#define KEPT 16384           /* bytes that an idle layer keeps for sealing */

int pel__layer_put_on(struct pel_stream *stream, struct pel_layer *layer)
{
    struct iovec part;
    size_t pending = pel_stream_pending(stream);

    if (pel_buffer_reserve(&layer->sealed, pending) < 0)
        return PEL_EMEMORY;
    while (pel_loan_parts(&stream->loans, &stream->output, &part, 1, SIZE_MAX)) {
        pel_buffer_append(&layer->sealed, part.iov_base, part.iov_len);
        pel_loan_consume(&stream->loans, &stream->output, part.iov_len);
    }
    layer->covers = pending;
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
    layer->covers = 0;
    if (layer->sealed.capacity > KEPT)
        pel_buffer_free(&layer->sealed);
    return 0;
}

/* Seals the next of what is queued. Bytes taken from there, 0 for none, or PEL_ESYSTEM. */
static ssize_t seal_next(struct pel_stream *stream, size_t limit)
{
    struct pel_layer *layer = stream->layer;
    struct iovec part;
    int code;

    if (!pel_loan_parts(&stream->loans, &stream->output, &part, 1, limit < SEALED_AT_ONCE ? limit : SEALED_AT_ONCE))
        return 0;
    if ((code = layer->type->seal(stream, part.iov_base, part.iov_len)) < 0)
        return code;
    pel_loan_consume(&stream->loans, &stream->output, part.iov_len);
    layer->covers += part.iov_len;
    return (ssize_t)part.iov_len;
}

static size_t queued(const struct pel_stream *stream)
{
    return pel_buffer_length(&stream->output) + stream->loans.length;
}

/* All that was written has been sent, and the peer has gone without hearing this side's farewell: no harm. If there is
 * something to read, the next read will find out. */
static int forget_farewell(struct pel_stream *stream)
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
        while (layer->open && left && pel_buffer_length(&layer->sealed) < SEALED_AT_ONCE) {
            ssize_t taken = seal_next(stream, left);
            if (taken < 0)
                return (int)taken;
            if (taken == 0)
                break;
            left -= (size_t)taken;
        }
        if (stream->shut_when_sent && layer->open && !layer->ended && !queued(stream)) {
            layer->ended = 1;
            layer->type->end(stream);
        }
        if ((code = pel__layer_send(stream)) == PEL_ESYSTEM && layer->ended && !layer->covers)
            return forget_farewell(stream);
        if (code < 0)
            return code == PEL_EAGAIN ? 1 : code;
        if (!queued(stream))
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
        size_t piece = length - taken < SEALED_AT_ONCE ? length - taken : SEALED_AT_ONCE;
        int code = layer->type->seal(stream, (const char *)bytes + taken, piece);
        if (code < 0)
            return code;
        layer->covers += piece;
        taken += piece;
        if ((code = pel__layer_send(stream)) == PEL_ESYSTEM)
            return code;
    }
    return (ssize_t)taken;
}
