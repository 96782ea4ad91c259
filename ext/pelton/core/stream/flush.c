#include "core/stream/stream.h"

#define MAX_PARTS 16 /* the parts of one writev */

static int flush_plain(struct pel_stream *stream)
{
    struct iovec parts[MAX_PARTS];
    size_t left = PEL_STREAM_BURST;

    while (pel_stream_pending(stream)) {
        ssize_t sent;
        if (!stream->writable || !left)
            return 1;
        sent = pel__stream_send(stream, parts,
                                pel_borrowed_parts(&stream->borrowed, &stream->output, parts, MAX_PARTS, left));
        if (sent == PEL_EAGAIN)
            return 1;
        if (sent < 0)
            return (int)sent;
        pel_borrowed_consume(&stream->borrowed, &stream->output, (size_t)sent);
        left -= (size_t)sent;
    }
    return 0;
}

int pel_stream_flush(struct pel_stream *stream)
{
    int code;

    if (!pel_stream_open_p(stream) || stream->connecting || stream->corked)
        return 1;
    if (stream->error)
        return PEL_ESYSTEM;
    if ((code = stream->layer ? pel__layer_flush(stream) : flush_plain(stream)))
        return code;
    if (stream->shut_when_sent && !stream->write_shut && !pel_stream_securing_p(stream)) {
        stream->write_shut = 1;
        pel__stream_shut(stream);
    }
    return 0;
}

/* ---- together, once a tick ------------------------------------------------------------------------------------ */

void pel_stream_flush_later(struct pel_stream *stream)
{
    if (!stream->flush_link.at)
        pel_link_insert(&stream->flush_link, &stream->loop->flush_list);
}

void pel_stream_flush_cancel(struct pel_stream *stream)
{
    pel_link_remove(&stream->flush_link);
}

int pel__stream_flush_or_reschedule(struct pel_stream *stream)
{
    int code = pel_stream_flush(stream);

    if (code == 1 && stream->writable && !stream->corked && !pel_stream_securing_p(stream))
        pel_stream_flush_later(stream);
    return code;
}

void pel_stream_flush_scheduled(struct pel_stream *stream)
{
    size_t before;
    int unsent, code;

    if (!stream->flush_link.at)
        return;
    pel_stream_flush_cancel(stream);
    if (stream->on_flush)
        stream->on_flush(stream);
    before = pel_stream_pending(stream);
    unsent = pel_stream_unsent_p(stream);
    code = pel__stream_flush_or_reschedule(stream);
    if (code < 0)
        stream->on_ready(stream, PEL_READABLE | PEL_WRITABLE | PEL_HANGUP);
    else if (stream->notify_sent && (pel_stream_pending(stream) < before || unsent > pel_stream_unsent_p(stream)))
        stream->on_ready(stream, PEL_WRITABLE);
}

void pel_streams_flush(struct pel_loop *loop)
{
    /* Two lists, because streams with more output than a burst are scheduled again, and any stream may be closed
     * meanwhile. If an exception ended the last call, its remaining streams come first. */
    if (!loop->flush_now)
        pel_link_move(&loop->flush_list, &loop->flush_now);
    while (loop->flush_now)
        pel_stream_flush_scheduled(PEL_LINKED(struct pel_stream, flush_link, loop->flush_now));
}
