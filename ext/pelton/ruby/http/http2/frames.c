#include "ruby/http/http2/frames.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

#define OUTPUT_MOST (128 * 1024) /* bytes: more would wait in the output, where nothing can go ahead of it */

/* ---- to the client ----------------------------------------------------------------------------------------------- */

void pel_http2_send_later(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (connection->state != PEL_HTTP_GONE && core->writable)
        pel_stream_flush_later(core);
}

void pel_http2_send_now(struct pel_http_connection *connection)
{
    pel_http2_send_later(connection);
    if (connection->state != PEL_HTTP_GONE)
        pel_stream_flush_scheduled(&connection->stream->core);
}

void pel_http2_fill(struct pel_stream *core)
{
    struct pel_http_connection *connection = ((struct stream *)core)->protocol;
    struct pel_http2_transport *transport = pel_http2_transport(connection);
    int code;

    if (transport->broken || connection->state != PEL_HTTP_IDLE)
        return;
    code = pel_http2_send(transport->session, &core->output, OUTPUT_MOST);
    transport->more = code == 1;
    if (code < 0 || pel_http2_over_p(transport->session)) { /* streams that are left get nothing any more */
        pel_http2_break_off(connection);
        pel_stream_close_write(core);
    }
    pel_http2_notify(connection, NULL);
    if (transport->over && !transport->streams) /* ended in a job: the caller uses the stream */
        pel_http_queue_proceed(connection);
}

void pel_http2_break_off(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (transport->broken)
        return;
    transport->over = transport->broken = 1;
    pel_http2_abandon(transport->session);
    pel_http2_notify(connection, NULL);
}

void pel_http2_name_last(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (transport->ended || transport->broken)
        return;
    transport->ended = 1;
    pel_http2_end(transport->session);
    pel_http2_send_later(connection);
}

/* ---- to the streams ---------------------------------------------------------------------------------------------- */

/* The client has cancelled the stream, or all of it was sent. */
static void end_stream(struct pel_http_connection *stream)
{
    VALUE self = stream->self;

    if (pel_http_answering_p(stream)) {
        stream->server->http2_counts.resets++;
        pel_http_notify_client_closed(stream);
        pel_http_client_left(stream);
    } else {
        pel_http_close(stream);
    }
    RB_GC_GUARD(self);
}

void pel_http2_notify(struct pel_http_connection *connection,
                      void (*begin)(struct pel_http_connection *connection, struct pel_http2_stream *stream))
{
    struct pel_http2_session *session = pel_http2_transport(connection)->session;
    struct pel_http2_stream *core;
    unsigned news;

    while ((core = pel_http2_next(session, &news))) {
        struct pel_http_connection *stream = core->tunnel ? NULL : core->owner;
        if (core->tunnel) {
            pel_http2_transport(connection)->on_tunnel(core, news);
            continue;
        }
        if (!stream) {
            if (core->closed || !begin) {
                pel_http2_release(core);
                continue;
            }
            begin(connection, core);
            if (!(stream = core->owner))
                continue;
        }
        if (news & PEL_HTTP2_BODY && stream->request.body.reader)
            pel_waiter_fire(stream->reactor, stream->request.body.reader);
        if (news & PEL_HTTP2_ROOM && stream->response.writer)
            pel_waiter_fire(stream->reactor, stream->response.writer);
        if (news & PEL_HTTP2_CLOSED)
            end_stream(stream);
    }
}

void pel_http2_stream_left(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    transport->streams--;
    if (connection->state == PEL_HTTP_GONE)
        pel_http2_free_session(transport);
    else if (!transport->streams) /* the connection is idle, or may end */
        pel_http_queue_proceed(connection);
    pel_http2_send_later(connection);
}

void pel_http2_free_session(struct pel_http2_transport *transport)
{
    if (transport->streams || !transport->session)
        return;
    pel_http2_session_free(transport->session);
    transport->session = NULL;
}

#endif
