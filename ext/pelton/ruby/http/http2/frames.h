#pragma once

#include "core/http2/http2_session.h"
#include "ruby/http/connection/http_connection.h"

/*
 * HTTP/2 for a server's connections. The connection keeps its state (idle, lingering, gone), its timer and its place
 * among the reactor's roots. Each request is a struct pel_http_connection as well, a *stream*, which shares the
 * connection's descriptor and has its own request, response, exchange, deadline and slot: so everything above the
 * protocol is the code of HTTP/1.
 *
 * From the bottom: frames.c, tunnel.c (WebSockets), stream_protocol.c (what the protocol does for an exchange),
 * stream_begin.c (a stream's request begins), transport.c (the connection's events), http2.c.
 */

enum pel_http2_wait {
    PEL_HTTP2_FOR_PREFACE, /* the deadline is still that of the connection's beginning */
    PEL_HTTP2_FOR_NOTHING, /* there are streams, and each has its own deadline */
    PEL_HTTP2_FOR_HEAD,    /* a head has begun to arrive */
    PEL_HTTP2_FOR_STREAM   /* there is none */
};

/* What connection->http2 of a connection refers to; that of a stream refers to its struct pel_http2_stream. */
struct pel_http2_transport {
    struct pel_http2_session *session; /* NULL once the connection is closed and no stream is left */
    uint32_t streams;                  /* that are not gone, and tunnels */
    uint32_t queued;                   /* streams whose job that answers them is queued */
    void (*stop_stream)(struct pel_reactor *reactor, struct pel_root *root); /* pel_root.stop of a stream */
    void (*on_tunnel)(struct pel_http2_stream *tunnel, unsigned news);
    uint8_t waits;         /* enum pel_http2_wait: what the connection's deadline is for */
    unsigned more : 1;     /* the session has more to send than the output should have at once */
    unsigned over : 1;     /* nothing more is received: ends when its streams are gone */
    unsigned broken : 1;   /* nothing more can be sent */
    unsigned stopping : 1; /* the client was told that no new stream should come */
    unsigned ended : 1;    /* the last stream was named */
};

/* The transport of a connection of HTTP/2. */
static inline struct pel_http2_transport *pel_http2_transport(const struct pel_http_connection *connection)
{
    return connection->http2;
}

/* The connection of a stream. */
static inline struct pel_http_connection *pel_http2_connection(const struct pel_http_connection *stream)
{
    return stream->stream->protocol;
}

/* Has what the session has to say sent at the tick's end. */
void pel_http2_send_later(struct pel_http_connection *connection);

/* Sends it now. */
void pel_http2_send_now(struct pel_http_connection *connection);

/* Takes the session's frames into the output, and notifies the streams: pel_stream.on_flush. */
void pel_http2_fill(struct pel_stream *core);

/* Notifies the streams of what has come, or was sent. Those that begin are passed to `begin`, unless it is NULL. */
void pel_http2_notify(struct pel_http_connection *connection,
                      void (*begin)(struct pel_http_connection *connection, struct pel_http2_stream *stream));

/* A stream is gone, or a tunnel: the connection may be idle now, or over. */
void pel_http2_stream_left(struct pel_http_connection *connection);

/* Frees the session, if the connection is closed and no stream is left. */
void pel_http2_free_session(struct pel_http2_transport *transport);

/* Nothing can be sent or received any more: what is answered has no receiver. An application that runs goes on. */
void pel_http2_break_off(struct pel_http_connection *connection);

/* The last streams are those that have begun. */
void pel_http2_name_last(struct pel_http_connection *connection);

/* ---- tunnel.c --------------------------------------------------------------------------------------------------- */

/* Makes a tunnel of a stream whose response has accepted the WebSocket: a Pelton::Stream, which is the application's.
 * Raises NoMemoryError. */
VALUE pel_http2_tunnel(struct pel_http_connection *stream);

/* What a tunnel's stream has: a set of enum pel_http2_news. C only. */
void pel_http2_tunnel_news(struct pel_http2_stream *core, unsigned news);

/* The session is about to be freed, with tunnels that nothing has closed: their process ends. */
void pel_http2_forget_tunnels(struct pel_http2_session *session);

/* ---- stream_protocol.c, stream_begin.c, transport.c ------------------------------------------------------------- */

extern const struct pel_http_protocol pel_http2_stream_protocol;

/* A request's head has come: begins it, or refuses it. Raises NoMemoryError. */
void pel_http2_begin(struct pel_http_connection *connection, struct pel_http2_stream *stream);

/* The connection is one of HTTP/2 from now on. Raises NoMemoryError. */
void pel_http2_take_over(struct pel_http_connection *connection);

/* Takes bytes that the client has sent. 0: the connection is over. Raises NoMemoryError. */
int pel_http2_take_bytes(struct pel_http_connection *connection, const char *bytes, size_t length);
