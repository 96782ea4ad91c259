#include "flush.h"

#include "stream.h"

static void link_at(struct pel_stream *stream, struct pel_stream **list)
{
    if ((stream->next_flush = *list))
        stream->next_flush->flush_link = &stream->next_flush;
    stream->flush_link = list;
    *list = stream;
}

void pel_stream_flush_later(struct pel_stream *stream)
{
    if (!stream->flush_link)
        link_at(stream, &stream->loop->flush_list);
}

void pel_stream_flush_forget(struct pel_stream *stream)
{
    if (!stream->flush_link)
        return;
    if ((*stream->flush_link = stream->next_flush))
        stream->next_flush->flush_link = stream->flush_link;
    stream->flush_link = NULL;
}

int pel__stream_flush_on(struct pel_stream *stream)
{
    int code = pel_stream_flush(stream);

    if (code == 1 && stream->writable && !stream->corked && !pel_stream_securing_p(stream))
        pel_stream_flush_later(stream);
    return code;
}

void pel_streams_flush(struct pel_loop *loop)
{
    struct pel_stream *stream;

    /* Two lists, because those with more to send than a burst come back, and any may be closed meanwhile. If the last
     * run was left by an exception, its rest comes first. */
    if (!loop->flush_now && (loop->flush_now = loop->flush_list)) {
        loop->flush_now->flush_link = &loop->flush_now;
        loop->flush_list = NULL;
    }
    while ((stream = loop->flush_now)) {
        size_t before = pel_stream_pending(stream);
        int unsent = pel_stream_unsent_p(stream), code;
        pel_stream_flush_forget(stream);
        code = pel__stream_flush_on(stream);
        if (code < 0)
            stream->on_ready(stream, PEL_READABLE | PEL_WRITABLE | PEL_HANGUP);
        else if (stream->tell_sent && (pel_stream_pending(stream) < before || unsent > pel_stream_unsent_p(stream)))
            stream->on_ready(stream, PEL_WRITABLE);
    }
}

void pel_streams_forget(struct pel_loop *loop)
{
    while (loop->flush_list)
        pel_stream_flush_forget(loop->flush_list);
    while (loop->flush_now)
        pel_stream_flush_forget(loop->flush_now);
}
