#include "ruby/http/http2/frames.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include <string.h>

/*
 * The tunnel of a WebSocket (RFC 8441) as a Pelton::Stream: the carrier of its bytes is a stream of HTTP/2. Its end is
 * END_STREAM, its reset RST_STREAM.
 */

#define AHEAD (64 * 1024) /* bytes that wait for the client's window beyond which the rest stays in Pelton::Stream */

struct tunnel {
    struct pel_carrier carrier;     /* first */
    struct pel_http2_stream *core;  /* NULL: it has ended, or the connection has */
    struct pel_http_connection *of; /* its connection, which is a root as long as core is not NULL */
    struct pel_stream *stream;      /* the one that is carried */
    struct pel_buffer input;        /* what has come and was not received when core ended */
    unsigned ended : 1;             /* the client sends no more */
};

static struct tunnel *tunnel_of(const struct pel_stream *stream)
{
    return (struct tunnel *)stream->carrier;
}

/* The stream, which was released, has no part in the connection any more. */
static void leave(struct tunnel *tunnel)
{
    struct pel_http_connection *connection = tunnel->of;

    tunnel->core = NULL;
    tunnel->of = NULL;
    pel_http2_stream_left(connection);
}

/* ---- the carrier ------------------------------------------------------------------------------------------------- */

static ssize_t receive(struct pel_stream *stream, void *bytes, size_t length)
{
    struct tunnel *tunnel = tunnel_of(stream);
    struct pel_buffer *input = tunnel->core ? &tunnel->core->input : &tunnel->input;
    size_t count = pel_min(pel_buffer_length(input), length);

    if (!count && stream->error)
        return PEL_ESYSTEM;
    if (!count && tunnel->ended)
        return 0;
    if (count)
        memcpy(bytes, pel_buffer_head(input), count);
    stream->readable = pel_buffer_length(input) > count || tunnel->ended || stream->error;
    if (!count)
        return PEL_EAGAIN;
    stream->active_at = stream->loop->now;
    if (tunnel->core) {
        pel_http2_take(tunnel->core, count);
        pel_http2_send_later(tunnel->of); /* what opens the client's window */
    } else {
        pel_buffer_consume(input, count);
    }
    return (ssize_t)count;
}

static ssize_t send_parts(struct pel_stream *stream, struct iovec *parts, int count)
{
    struct tunnel *tunnel = tunnel_of(stream);
    size_t unsent, sent = 0;

    if (!tunnel->core)
        return pel__stream_fail(stream, EPIPE);
    unsent = pel_http2_unsent(tunnel->core);
    for (int i = 0; i < count && unsent + sent < AHEAD; i++) {
        size_t length = pel_min(parts[i].iov_len, AHEAD - unsent - sent);
        if (pel_http2_append(tunnel->core, parts[i].iov_base, length) < 0)
            return pel__stream_fail(stream, ENOMEM);
        sent += length;
    }
    if (!sent) {
        stream->writable = 0;
        tunnel->core->wants_room = 1;
        return PEL_EAGAIN;
    }
    stream->active_at = stream->loop->now;
    pel_http2_send_later(tunnel->of);
    return (ssize_t)sent;
}

static void shut(struct pel_stream *stream)
{
    struct tunnel *tunnel = tunnel_of(stream);

    if (!tunnel->core)
        return;
    pel_http2_finish(tunnel->core);
    pel_http2_send_later(tunnel->of);
}

/* As the system does it for a socket: what nobody has received makes a reset of the end. */
static void close_tunnel(struct pel_stream *stream, int unsent)
{
    struct tunnel *tunnel = tunnel_of(stream);
    struct pel_http2_stream *core = tunnel->core;

    if (!core)
        return;
    if (unsent || pel_buffer_length(&core->input)) {
        pel_http2_reset(core, PEL_HTTP2_CANCEL);
        pel_http2_release(core);
    } else {
        pel_http2_hang_up(core);
    }
    leave(tunnel);
}

static void free_tunnel(struct pel_carrier *carrier)
{
    struct tunnel *tunnel = (struct tunnel *)carrier;

    if (tunnel->core)
        tunnel->core->owner = NULL;
    pel_buffer_free(&tunnel->input);
    xfree(tunnel);
}

static const struct pel_carrier_type carrier_type = {
    .receive = receive, .send = send_parts, .shut = shut, .close = close_tunnel, .free = free_tunnel};

/* ---- what comes -------------------------------------------------------------------------------------------------- */

/* Both sides have ended, or one of them by a reset, or the connection has. */
static void lose(struct tunnel *tunnel)
{
    struct pel_http2_stream *core = tunnel->core;

    tunnel->input = core->input;
    core->input = (struct pel_buffer){.capacity = 0};
    if (!core->ended || !core->end_sent)
        pel__stream_fail(tunnel->stream, ECONNRESET);
    pel_http2_release(core);
    leave(tunnel);
}

void pel_http2_tunnel_news(struct pel_http2_stream *core, unsigned news)
{
    struct tunnel *tunnel = core->owner;
    unsigned events = news & PEL_HTTP2_BODY ? PEL_READABLE : 0;

    if (!tunnel)
        return;
    if (core->ended) {
        tunnel->ended = 1;
        events |= PEL_READABLE | PEL_HANGUP;
    }
    if (news & PEL_HTTP2_ROOM) {
        core->wants_room = 0;
        events |= PEL_WRITABLE;
    }
    if (news & PEL_HTTP2_CLOSED) {
        events |= PEL_READABLE | PEL_WRITABLE | PEL_HANGUP;
        lose(tunnel);
    }
    pel_stream_carried(tunnel->stream, events);
}

void pel_http2_forget_tunnels(struct pel_http2_session *session)
{
    for (struct pel_http2_stream *core = pel_http2_first(session); core; core = core->next)
        if (core->tunnel && core->owner)
            ((struct tunnel *)core->owner)->core = NULL;
}

/* ---- its beginning ----------------------------------------------------------------------------------------------- */

VALUE pel_http2_tunnel(struct pel_http_connection *stream)
{
    struct pel_http_connection *connection = pel_http2_connection(stream);
    struct pel_http2_stream *core = stream->http2;
    VALUE object = pel_stream_on_carrier(stream->reactor, &carrier_type, sizeof(struct tunnel),
                                         connection->stream->core.handle.fd);
    struct pel_stream *carried = &pel_stream_any(object)->core;
    struct tunnel *tunnel = tunnel_of(carried);

    tunnel->core = core;
    tunnel->of = connection;
    tunnel->stream = carried;
    tunnel->ended = core->ended;
    core->owner = tunnel;
    core->tunnel = 1;
    stream->http2 = NULL;
    pel_http_leave_server(stream);
    if (core->closed)
        pel_http2_tunnel_news(core, PEL_HTTP2_CLOSED);
    return object;
}

#endif
