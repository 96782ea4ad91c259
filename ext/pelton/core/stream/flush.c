#include "core/stream/stream.h"

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
