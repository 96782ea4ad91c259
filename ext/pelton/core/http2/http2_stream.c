#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "core/base/alloc.h"
#include "core/http2/http2_private.h"

/* A stream in its session's lists: of those that have news, and of all. */

void pel__http2_tell(struct pel_http2_stream *stream, enum pel_http2_news news)
{
    struct pel_http2_session *session = stream->session;

    if (stream->released)
        return;
    if (!stream->news) {
        stream->next_news = NULL;
        *session->last_news = stream;
        session->last_news = &stream->next_news;
    }
    stream->news |= (uint8_t)news;
}

struct pel_http2_stream *pel_http2_next(struct pel_http2_session *session, unsigned *news)
{
    struct pel_http2_stream *stream = session->news;

    if (!stream)
        return NULL;
    if (!(session->news = stream->next_news))
        session->last_news = &session->news;
    *news = stream->news;
    stream->news = 0;
    return stream;
}

static void forget_news(struct pel_http2_stream *stream)
{
    struct pel_http2_session *session = stream->session;
    struct pel_http2_stream **at = &session->news;

    if (!stream->news)
        return;
    while (*at != stream)
        at = &(*at)->next_news;
    *at = stream->next_news;
    if (!*at)
        session->last_news = at;
    stream->news = 0;
}

void pel__http2_free_fields(struct pel_http2_session *session)
{
    pel_free(session->fields);
    session->fields = NULL;
    session->fields_capacity = 0;
}

void pel__http2_stream_free(struct pel_http2_stream *stream)
{
    forget_news(stream);
    *(stream->previous ? &stream->previous->next : &stream->session->first) = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    if (!--stream->session->count)
        pel__http2_free_fields(stream->session);
    pel_borrowed_drop(&stream->borrowed);
    pel_buffer_free(&stream->lines);
    pel_buffer_free(&stream->input);
    pel_buffer_free(&stream->head);
    pel_buffer_free(&stream->trailers);
    pel_buffer_free(&stream->pseudo);
    pel_buffer_free(&stream->output);
    pel_free(stream);
}

#else

extern int pel__http2_is_missing; /* an empty file is no C */

#endif
