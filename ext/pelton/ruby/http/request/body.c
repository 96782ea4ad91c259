#include "ruby/http/request/request.h"

#include "ruby/base/convert.h"
#include "ruby/http/connection/connection.h"
#include "ruby/http/response/response.h"

static VALUE key_trailers;

static VALUE trailers_hash(const struct pel_http1_head *head)
{
    VALUE trailers = rb_hash_new();

    for (unsigned i = 0; i < head->header_count; i++) {
        VALUE name = pel_slice_string(head->headers[i].name);
        for (char *byte = RSTRING_PTR(name); byte < RSTRING_END(name); byte++)
            *byte = *byte >= 'A' && *byte <= 'Z' ? (char)(*byte | 32) : *byte;
        rb_hash_aset(trailers, name, pel_slice_string(head->headers[i].value));
    }
    return trailers;
}

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
        if (head.header_count)
            trailers = trailers_hash(&head);
    } else if (event < 0) {
        connection->response.keep_alive = 0;
        connection->request.body.done = 0;
        pel_raise(event, 0, pel_http1_fault_text(pel_http1_parser_fault(&connection->parser)));
    }
    pel_buffer_consume(input, consumed);
    if (!NIL_P(trailers))
        rb_hash_aset(connection->request.env, key_trailers, trailers);
    return event != PEL_HTTP1_MORE;
}

static void send_continue(struct pel_http_connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

    connection->request.expects_continue = 0;
    if (connection->response.head_sent)
        return;
    if (pel_stream_append(&connection->stream->core, text, sizeof text - 1) == PEL_EMEMORY)
        rb_memerror();
    pel_http_send_soon(connection);
}

/* Nanoseconds that the body may still be waited for in all: a body that trickles would hold its connection for ever.
 * Only waiting counts, since an application that reads slowly is not the client's fault. There is no limit for a body
 * that is read while it is answered: client and application may be having a conversation. */
static int64_t remaining_wait(const struct pel_http_connection *connection)
{
    const struct pel_http_server *server = connection->server;
    const struct pel_http_request_body *body = &connection->request.body;
    double earned;

    if (!server->body_rate || server->header_timeout == PEL_FOREVER || connection->response.head_sent)
        return PEL_FOREVER;
    earned = (double)body->received * 1e9 / server->body_rate;
    if (earned > 1e17)
        return PEL_FOREVER;
    return server->header_timeout + (int64_t)earned - body->waited;
}

/* Parks until the descriptor is readable. Raises. */
static void wait_for_body(struct pel_http_connection *connection, VALUE exchange)
{
    struct pel_http_request_body *body = &connection->request.body;
    int64_t time = connection->server->header_timeout, remaining = remaining_wait(connection);
    int64_t began = connection->reactor->loop.now;
    int woken;

    if (body->reader)
        rb_raise(pel_eError, "another fiber is already reading this body");
    if (remaining < time)
        time = remaining < 0 ? 0 : remaining;
    woken = pel_http_wait(connection, exchange, &body->reader, time);
    body->waited += connection->reactor->loop.now - began;
    if (!woken) {
        connection->response.keep_alive = 0;
        body->timed_out = 1;
        pel_raise(PEL_ETIMEOUT, 0, "the request's body did not arrive in time");
    }
}

/* Much of the body is left: receives straight into a string, past the parser. */
static ssize_t receive_body_bulk(struct pel_http_connection *connection, VALUE *string)
{
    uint64_t left = pel_http1_parser_left(&connection->parser);
    ssize_t count;

    *string =
        pel_stream_receive_string(connection->stream, left < PEL_HOT_BUFFER ? (size_t)left : PEL_HOT_BUFFER, &count);
    if (count > 0)
        pel_http1_parser_skip(&connection->parser, (uint64_t)count);
    return count;
}

static VALUE count_received(struct pel_http_connection *connection, VALUE part)
{
    connection->request.body.received += (uint64_t)RSTRING_LEN(part);
    return part;
}

/* The next part of the body, for which the fiber waits; nil at the end. */
static VALUE read_body_part(VALUE exchange)
{
    struct pel_http_connection *connection = pel_http_exchange_get(exchange);
    VALUE part = Qnil;

    while (!connection->request.body.done) {
        ssize_t count;
        if (connection->response.aborted || connection->state == PEL_HTTP_GONE)
            rb_raise(pel_eClosedError, "the client is gone");
        if (parse_body(connection, &part)) {
            if (NIL_P(part))
                continue;
            return count_received(connection, part);
        }
        if (connection->request.expects_continue)
            send_continue(connection);
        count = pel_http1_parser_left(&connection->parser) ? receive_body_bulk(connection, &part)
                                                           : pel_stream_fill(connection->stream);
        if (count > 0 && !NIL_P(part))
            return count_received(connection, part);
        if (count == PEL_EAGAIN) {
            wait_for_body(connection, exchange);
        } else if (count <= 0) {
            static struct pel_http1_head head; /* large, and its trailers are not used */
            connection->response.keep_alive = 0;
            pel_http1_parse_end(&connection->parser, &head);
            rb_raise(pel_eClosedError, "the client closed the connection in the middle of the request's body");
        }
    }
    return Qnil;
}

/* _read: a part of the body, nil at its end, and after the exchange's end. */
static VALUE exchange_read(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);

    if (connection && connection->reactor == pel_reactor_existing())
        pel_spend(connection->reactor, 1); /* a client that always has more must not starve the others */
    return pel_http_exchange_peek(self) ? read_body_part(self) : Qnil;
}

void pel_init_http_request_body(VALUE exchange)
{
    key_trailers = rb_interned_str_cstr("pelton.trailers");
    rb_gc_register_mark_object(key_trailers);
    rb_define_private_method(exchange, "_read", exchange_read, 0);
}
