#include "ruby/http/http2/frames.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "ruby/http/request/http_request.h"

/* What the protocol does for the exchange of a stream. */

#define UNSENT_MOST (64 * 1024) /* bytes that wait for the client's window beyond which a write waits */
#define PART_MOST (64 * 1024)   /* bytes of a request's body that are read at once */

static struct pel_http2_stream *core_of(const struct pel_http_connection *stream)
{
    return stream->http2;
}

/* ---- the response ------------------------------------------------------------------------------------------------ */

static struct pel_buffer *lines(struct pel_http_connection *stream)
{
    return &core_of(stream)->lines;
}

static int append(struct pel_http_connection *stream, const char *bytes, size_t length)
{
    return pel_http2_append(core_of(stream), bytes, length);
}

static int lend(struct pel_http_connection *stream, const char *bytes, size_t length, uintptr_t owner,
                struct pel_lender *lender)
{
    return pel_http2_lend(core_of(stream), bytes, length, owner, lender);
}

static void send_soon(struct pel_http_connection *stream)
{
    if (pel_http2_send_head(core_of(stream), stream->response.body.none) < 0)
        pel_http2_reset(core_of(stream), PEL_HTTP2_INTERNAL_ERROR);
    pel_http2_send_later(pel_http2_connection(stream));
}

static void flush(struct pel_http_connection *stream)
{
    send_soon(stream);
    pel_http2_send_now(pel_http2_connection(stream));
}

static size_t unsent(const struct pel_http_connection *stream)
{
    return pel_http2_unsent(core_of(stream));
}

/* A client that opens its window has time, however slowly it does. */
static int await_window(struct pel_http_connection *stream, VALUE exchange)
{
    size_t before = unsent(stream);

    if (before <= UNSENT_MOST)
        return 1;
    while (unsent(stream) > UNSENT_MOST / 2) {
        core_of(stream)->wants_room = 1;
        if (!pel_http_wait(stream, exchange, &stream->response.writer, stream->server->write_timeout)) {
            if (unsent(stream) >= before)
                return 0;
            before = unsent(stream);
        }
        if (stream->response.aborted)
            rb_raise(pel_eClosedError, "the client is gone");
    }
    core_of(stream)->wants_room = 0;
    return 1;
}

/* ---- the request's body ------------------------------------------------------------------------------------------ */

NORETURN(static void refuse_body(struct pel_http_connection *stream, int code));
static void refuse_body(struct pel_http_connection *stream, int code)
{
    enum pel_http1_fault fault = (enum pel_http1_fault)core_of(stream)->fault;

    stream->request.body.fault = (uint8_t)fault;
    pel_raise(code, 0, pel_http1_fault_text(fault));
}

static void end_body(struct pel_http_connection *stream)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    int code = pel_http2_trailers(core_of(stream), &head);

    if (code < 0)
        refuse_body(stream, code);
    stream->request.body.done = 1;
    pel_http_env_trailers(stream, pel_http_trailers(&head));
}

static int receive_body(struct pel_http_connection *stream, VALUE *part)
{
    struct pel_http2_stream *core = core_of(stream);
    size_t length = pel_buffer_length(&core->input);

    if (length) {
        length = pel_min(length, PART_MOST);
        *part = rb_str_new(pel_buffer_head(&core->input), (long)length);
        pel_http2_take(core, length);
        pel_http2_send_later(pel_http2_connection(stream)); /* what opens the client's window */
        return 1;
    }
    if (core->fault)
        refuse_body(stream, PEL_ELIMIT);
    if (core->ended)
        end_body(stream);
    return core->ended;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* The stream goes on until all is sent, which it is at once if the client's window allows. */
static void end(struct pel_http_connection *stream)
{
    struct pel_http2_stream *core = core_of(stream);

    if (stream->state == PEL_HTTP_GONE)
        return;
    if (stream->state != PEL_HTTP_BUSY || stream->response.aborted || core->closed) {
        pel_http2_reset(core, stream->response.head_sent ? PEL_HTTP2_INTERNAL_ERROR : PEL_HTTP2_CANCEL);
        pel_http_close(stream);
        return;
    }
    pel_http_become(stream, PEL_HTTP_LINGERING);
    stream->unsent_at_start = SIZE_MAX;
    pel_http_set_timeout(stream, stream->server->write_timeout);
    pel_http2_finish(core);
    pel_http2_send_later(pel_http2_connection(stream));
}

static void go_on(struct pel_http_connection *stream)
{
    (void)stream;
}

static void closed(struct pel_http_connection *stream)
{
    struct pel_http2_stream *core = core_of(stream);

    stream->http2 = NULL;
    pel_http2_reset(core, PEL_HTTP2_CANCEL); /* unless it has ended */
    pel_http2_release(core);
    pel_http2_stream_left(pel_http2_connection(stream));
}

/* A program that takes a connection over by itself speaks HTTP/1.1 on it: the client is asked to come back with that.
 */
static VALUE hand_over(struct pel_http_connection *stream)
{
    struct pel_http2_stream *core = core_of(stream);

    if (!core->websocket)
        rb_raise(pel_eError, "a request of HTTP/2 has no connection of its own that could be taken over (rack.hijack)");
    if (stream->response.head_sent)
        return pel_http2_tunnel(stream);
    pel_http2_reset(core, PEL_HTTP2_HTTP_1_1_REQUIRED);
    pel_http2_send_later(pel_http2_connection(stream));
    stream->response.aborted = 1;
    rb_raise(pel_eError, "a WebSocket of HTTP/2 cannot be taken over by rack.hijack: its client was asked to come back "
                         "with HTTP/1.1; set http2_websockets to false if all WebSockets of the application do so");
}

static void mark(const struct pel_http_connection *stream)
{
    for (struct pel_borrowed *borrowed = core_of(stream)->borrowed.first; borrowed; borrowed = borrowed->next)
        if (!borrowed->lender)
            rb_gc_mark((VALUE)borrowed->owner); /* pinned: its bytes are being sent */
}

/* The session owns the rest. */
static void free_stream(struct pel_http_connection *stream)
{
    (void)stream;
}

const struct pel_http_protocol pel_http2_stream_protocol = {.major = 2,
                                                            .frames_bodies = 1,
                                                            .lines = lines,
                                                            .append = append,
                                                            .lend = lend,
                                                            .send_soon = send_soon,
                                                            .flush = flush,
                                                            .unsent = unsent,
                                                            .await_room = await_window,
                                                            .receive_body = receive_body,
                                                            .end = end,
                                                            .go_on = go_on,
                                                            .hand_over = hand_over,
                                                            .timed_out = pel_http_close,
                                                            .stop = pel_http_close,
                                                            .closed = closed,
                                                            .mark = mark,
                                                            .free = free_stream};

#endif
