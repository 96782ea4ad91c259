#include "ruby/http/request/http_request.h"

#include "ruby/base/convert.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/http_response.h"

/* HTTP/1 for the exchanges of a connection: everything goes through the stream's output, in its order. */

#define SEND_AT 65536 /* bytes of output that do not wait for the tick's end */

/* Bytes queued beyond which a write waits, until half is left: the next part is produced when the last is nearly gone.
 * The socket's own buffer keeps a client busy that reads fast. */
#define QUEUED_MOST (64 * 1024)

/* ---- the response ------------------------------------------------------------------------------------------------ */

static struct pel_buffer *lines(struct pel_http_connection *connection)
{
    return &connection->stream->core.output;
}

static int append(struct pel_http_connection *connection, const char *bytes, size_t length)
{
    return pel_stream_append(&connection->stream->core, bytes, length);
}

static int lend(struct pel_http_connection *connection, const char *bytes, size_t length, uintptr_t owner,
                struct pel_lender *lender)
{
    return pel_stream_append_borrowed(&connection->stream->core, bytes, length, owner, lender);
}

static void send_later(struct pel_stream *core)
{
    if (pel_stream_pending(core) && core->writable)
        pel_stream_flush_later(core);
}

static void send_soon(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (pel_stream_pending(core) >= SEND_AT && core->writable)
        pel_stream_flush(core);
    send_later(core);
}

static void flush(struct pel_http_connection *connection)
{
    pel_stream_flush(&connection->stream->core);
    send_later(&connection->stream->core);
}

static size_t unsent(const struct pel_http_connection *connection)
{
    return pel_stream_pending(&connection->stream->core);
}

/* A client that reads has time, however slowly it reads. If the exchange ends meanwhile, nothing but this function
 * keeps the stream. */
static int await_sent(struct pel_http_connection *connection, VALUE exchange)
{
    struct stream *stream = connection->stream;
    VALUE stream_object = connection->stream_object;
    int64_t time = connection->server->write_timeout, since = connection->reactor->loop.now;

    if (pel_stream_pending(&stream->core) <= QUEUED_MOST)
        return 1;
    while (pel_stream_await_below(stream, QUEUED_MOST / 2, time == PEL_FOREVER ? time : since + time)) {
        if (stream->core.active_at <= since)
            return 0;
        since = stream->core.active_at;
    }
    RB_GC_GUARD(stream_object);
    return 1;
}

/* ---- the request's body ------------------------------------------------------------------------------------------ */

/* Takes the next part of the body from the bytes received before. 1: *string is the part, or the body has ended; 0:
 * more bytes are needed. */
static int parse_body(struct pel_http_connection *connection, VALUE *string)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    struct pel_buffer *input = &connection->stream->input;
    struct pel_slice data = {NULL, 0};
    VALUE trailers = Qnil;
    size_t consumed;
    int event =
        pel_http1_parse(&connection->parser, pel_buffer_head(input), pel_buffer_length(input), &consumed, &head, &data);

    if (event == PEL_HTTP1_DATA) {
        *string = pel_slice_string(data);
    } else if (event == PEL_HTTP1_END) {
        connection->request.body.done = 1;
        trailers = pel_http_trailers(&head);
    } else if (event < 0) {
        enum pel_http1_fault fault = pel_http1_parser_fault(&connection->parser);
        connection->response.keep_alive = 0;
        connection->request.body.done = 0;
        connection->request.body.fault = (uint8_t)fault;
        pel_raise(event, 0, pel_http1_fault_text(fault));
    }
    pel_buffer_consume(input, consumed);
    pel_http_env_trailers(connection, trailers);
    return event != PEL_HTTP1_MORE;
}

/* Much of the body is left: receives straight into a string, past the parser. */
static ssize_t receive_in_bulk(struct pel_http_connection *connection, VALUE *string)
{
    uint64_t left = pel_http1_parser_left(&connection->parser);
    ssize_t count;

    *string =
        pel_stream_receive_string(connection->stream, left < PEL_HOT_BUFFER ? (size_t)left : PEL_HOT_BUFFER, &count);
    if (count > 0)
        pel_http1_parser_skip(&connection->parser, (uint64_t)count);
    return count;
}

NORETURN(static void fail_within_body(struct pel_http_connection *connection));
static void fail_within_body(struct pel_http_connection *connection)
{
    static struct pel_http1_head head; /* large, and its trailers are not used */

    connection->response.keep_alive = 0;
    pel_http1_parse_end(&connection->parser, &head);
    connection->request.body.fault = (uint8_t)pel_http1_parser_fault(&connection->parser);
    rb_raise(pel_eClosedError, "the client closed the connection in the middle of the request's body");
}

static int receive_body(struct pel_http_connection *connection, VALUE *part)
{
    while (!parse_body(connection, part)) {
        ssize_t count = pel_http1_parser_left(&connection->parser) ? receive_in_bulk(connection, part)
                                                                   : pel_stream_fill(connection->stream);
        if (count == PEL_EAGAIN)
            return 0;
        if (count <= 0)
            fail_within_body(connection);
        if (!NIL_P(*part))
            return 1;
    }
    return 1;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void end(struct pel_http_connection *connection)
{
    const struct pel_http_response *response = &connection->response;

    if (connection->state != PEL_HTTP_BUSY || connection->stream->core.error ||
        (response->aborted && response->body.unframed)) { /* an orderly end would say that the body is complete */
        pel_http_close(connection);
    } else if (response->aborted || !response->keep_alive) { /* responses to earlier requests are sent first */
        pel_http_close_when_sent(connection);
    } else if (connection->request.body.done) {
        pel_http_become_idle(connection);
    } else {
        pel_http_become(connection, PEL_HTTP_DRAINING);
        connection->unsent_at_start = SIZE_MAX;
        pel_http_set_timeout(connection, connection->server->header_timeout);
    }
}

static void go_on(struct pel_http_connection *connection)
{
    if (connection->state != PEL_HTTP_GONE && connection->state != PEL_HTTP_LINGERING &&
        (connection->state == PEL_HTTP_DRAINING || pel_stream_receivable_p(&connection->stream->core) ||
         pel_buffer_length(&connection->stream->input)))
        pel_http_queue_proceed(connection);
}

static VALUE hand_over(struct pel_http_connection *connection)
{
    VALUE stream = connection->stream_object;

    pel_http_detach_stream(connection);
    return stream;
}

static void timed_out(struct pel_http_connection *connection)
{
    if (pel_http1_parser_within(&connection->parser))
        pel_http_refuse(connection, 408, "the request did not arrive in time");
    else if (connection->list)
        pel_http_close_idle(connection);
    else
        pel_http_close(connection);
}

static void closed(struct pel_http_connection *connection)
{
    pel_http_server_remove(connection->server, connection->reactor);
    pel_stream_finish(connection->stream);
}

const struct pel_http_protocol pel_http1_protocol = {.major = 1,
                                                     .lines = lines,
                                                     .append = append,
                                                     .lend = lend,
                                                     .send_soon = send_soon,
                                                     .flush = flush,
                                                     .unsent = unsent,
                                                     .await_room = await_sent,
                                                     .receive_body = receive_body,
                                                     .end = end,
                                                     .go_on = go_on,
                                                     .hand_over = hand_over,
                                                     .timed_out = timed_out,
                                                     .stop = pel_http_stop_idle,
                                                     .closed = closed};
