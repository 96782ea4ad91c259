#include "http.h"

#include "error.h"
#include "slice_string.h"

/* A request's body, as its reader asks for it: nothing is received before. */

static VALUE key_trailers;

static VALUE trailers_of(const struct pel_http1_head *head)
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

/* From what was received before. 1: data or the end; 0: more is needed. */
static int parse_body(struct pel_http_connection *connection, VALUE *string)
{
    static struct pel_http1_head head; /* as in http_connection.c */
    struct pel_buffer *input = &connection->stream->input;
    struct pel_slice data = {NULL, 0};
    VALUE trailers = Qnil;
    size_t consumed;
    int event =
        pel_http1_parse(&connection->parser, pel_buffer_head(input), pel_buffer_length(input), &consumed, &head, &data);

    if (event == PEL_HTTP1_DATA) {
        *string = pel_slice_string(data);
    } else if (event == PEL_HTTP1_END) {
        connection->body_done = 1;
        if (head.header_count)
            trailers = trailers_of(&head);
    } else if (event < 0) {
        connection->keep_alive = 0;
        connection->body_done = 0;
        pel_raise(event, 0, pel_http1_fault_text(pel_http1_parser_fault(&connection->parser)));
    }
    pel_buffer_consume(input, consumed);
    if (!NIL_P(trailers))
        rb_hash_aset(connection->env, key_trailers, trailers);
    return event != PEL_HTTP1_MORE;
}

static void say_continue(struct pel_http_connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

    connection->expects = 0;
    if (connection->head_sent)
        return;
    if (pel_stream_append(&connection->stream->core, text, sizeof text - 1) == PEL_EMEMORY)
        rb_memerror();
    pel_http_send_soon(connection);
}

/* Nanoseconds that it may still be waited for in all: a body that trickles would hold its connection for ever. Only
 * waiting counts, since an application that reads slowly is not the client's fault. Nor does a body that is read while
 * it is answered: the two may be having a conversation. */
static int64_t credit(const struct pel_http_connection *connection)
{
    const struct pel_http_server *server = connection->server;
    double earned;

    if (!server->body_rate || server->header_timeout == PEL_FOREVER || connection->head_sent)
        return PEL_FOREVER;
    earned = (double)connection->body_received * 1e9 / server->body_rate;
    if (earned > 1e17)
        return PEL_FOREVER;
    return server->header_timeout + (int64_t)earned - connection->body_waited;
}

/* When the exchange ends meanwhile nobody else keeps the connection. */
static void wait_for_body(struct pel_http_connection *connection, VALUE exchange)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    int64_t time = connection->server->header_timeout, left = credit(connection), began = connection->reactor->loop.now;
    VALUE self = connection->self;
    int state;

    if (connection->reader)
        rb_raise(pel_eError, "another fiber reads this body");
    if (left < time)
        time = left < 0 ? 0 : left;
    connection->reader = &waiter;
    state = pel_park_protected(connection->reactor, &waiter, time == PEL_FOREVER ? time : began + time);
    if (connection->reader == &waiter)
        connection->reader = NULL;
    RB_GC_GUARD(self);
    if (state)
        pel_rethrow(state);
    pel_http_exchange_get(exchange); /* what comes now may be the next request's */
    connection->body_waited += connection->reactor->loop.now - began;
    if (waiter.timed_out) {
        connection->keep_alive = 0;
        connection->late = 1;
        pel_raise(PEL_ETIMEOUT, 0, "the request's body did not come in time");
    }
}

/* Much is left: straight into a string, past the parser. */
static ssize_t receive_bulk(struct pel_http_connection *connection, VALUE *string)
{
    uint64_t left = pel_http1_parser_left(&connection->parser);
    ssize_t count;

    *string =
        pel_stream_receive_string(connection->stream, left < PEL_HOT_BUFFER ? (size_t)left : PEL_HOT_BUFFER, &count);
    if (count > 0)
        pel_http1_parser_skip(&connection->parser, (uint64_t)count);
    return count;
}

static VALUE received(struct pel_http_connection *connection, VALUE string)
{
    connection->body_received += (uint64_t)RSTRING_LEN(string);
    return string;
}

/* The next part of the body, for which it waits; nil at the end. */
static VALUE read_part(VALUE exchange)
{
    struct pel_http_connection *connection = pel_http_exchange_get(exchange);
    VALUE string = Qnil;

    while (!connection->body_done) {
        ssize_t count;
        if (connection->aborted || connection->state == PEL_HTTP_GONE)
            rb_raise(pel_eClosedError, "the client is gone");
        if (parse_body(connection, &string)) {
            if (NIL_P(string))
                continue;
            return received(connection, string);
        }
        if (connection->expects)
            say_continue(connection);
        count = pel_http1_parser_left(&connection->parser) ? receive_bulk(connection, &string)
                                                           : pel_stream_fill(connection->stream);
        if (count > 0 && !NIL_P(string))
            return received(connection, string);
        if (count == PEL_EAGAIN) {
            wait_for_body(connection, exchange);
        } else if (count <= 0) {
            static struct pel_http1_head head;
            connection->keep_alive = 0;
            pel_http1_parse_end(&connection->parser, &head);
            rb_raise(pel_eClosedError, "the client closed the connection within the request's body");
        }
    }
    return Qnil;
}

/* _read: a part of the body, nil at its end. */
static VALUE exchange_read(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);

    if (connection && connection->reactor == pel_reactor_existing())
        pel_spend(connection->reactor, 1); /* a client that always has more must not starve the others */
    return pel_http_exchange_peek(self) ? read_part(self) : Qnil; /* nil: whoever reads after the answer */
}

void pel_init_http_input(VALUE exchange)
{
    key_trailers = rb_interned_str_cstr("pelton.trailers");
    rb_gc_register_mark_object(key_trailers);
    rb_define_private_method(exchange, "_read", exchange_read, 0);
}
