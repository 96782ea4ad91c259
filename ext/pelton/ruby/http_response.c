#include "http_response_head.h"

/*
 * Rack's status, headers and body to bytes. The head is checked while it is written, and taken back when something in
 * it is wrong. Bodies that are Arrays are written here; all others by lib/pelton/http/body.rb.
 */

#define SEND_AT 65536 /* bytes of output that do not wait for the tick's end */

static ID id_to_path, id_to_ary, id_close, id_call, id_send_body;

void pel_http_send_soon(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (pel_stream_pending(core) >= SEND_AT && core->writable)
        pel_stream_flush(core);
    if (pel_stream_pending(core) && core->writable)
        pel_stream_flush_later(core);
}

static size_t length_of(VALUE parts)
{
    size_t length = 0;

    for (long i = 0; i < RARRAY_LEN(parts); i++) {
        VALUE part = RARRAY_AREF(parts, i);
        if (!RB_TYPE_P(part, T_STRING))
            rb_raise(rb_eTypeError, "a part of the body is no String but %" PRIsVALUE, rb_obj_class(part));
        length += (size_t)RSTRING_LEN(part);
    }
    return length;
}

static void write_parts(struct pel_http_connection *connection, VALUE parts)
{
    for (long i = 0; i < RARRAY_LEN(parts); i++) {
        Check_Type(RARRAY_AREF(parts, i), T_STRING);
        pel_http_write(connection, RARRAY_AREF(parts, i));
    }
    pel_http_finish_body(connection, Qnil);
    pel_http_send_soon(connection);
    pel_http_end_exchange(connection);
}

static void close_body(VALUE body)
{
    if (rb_respond_to(body, id_close))
        rb_funcallv(body, id_close, 0, NULL);
}

/* The Array that the body is, or stands for; nil. */
static VALUE parts_of(VALUE body)
{
    if (RB_TYPE_P(body, T_ARRAY) || rb_respond_to(body, id_to_path) || !rb_respond_to(body, id_to_ary))
        return rb_check_array_type(RB_TYPE_P(body, T_ARRAY) ? body : Qnil);
    return rb_check_array_type(body);
}

static VALUE call_receiver(VALUE argument)
{
    const VALUE *pair = (const VALUE *)argument;
    return rb_funcall(pair[0], id_call, 1, pair[1]);
}

/* The connection becomes the application's: after an upgrade, or because it wants it so. */
static void give_away(struct pel_http_connection *connection, VALUE receiver)
{
    VALUE exchange = connection->exchange, stream = connection->stream_object;
    int state;

    pel_http_tell_end(connection);
    pel_http_let_go(connection);
    connection->exchange = Qfalse;
    pel_http_exchange_end(exchange);
    pel_protect(call_receiver, (VALUE)(VALUE[]){receiver, stream}, &state);
    if (state) { /* nobody else would close it */
        rb_funcall(stream, rb_intern("abort"), 0);
        pel_rethrow(state);
    }
    RB_GC_GUARD(stream);
}

struct response {
    struct pel_http_connection *connection;
    VALUE exchange, triple, body;
    size_t mark;        /* bytes of the output before it */
    unsigned begun : 1; /* it is this one that is being sent */
};

/* Whether the exchange is still to be answered by this one: Ruby code that was called meanwhile may have waited. */
static int still_ours(const struct response *response)
{
    const struct pel_http_connection *connection = response->connection;

    return connection->exchange == response->exchange && connection->state == PEL_HTTP_BUSY &&
           (response->begun || !connection->head_sent);
}

static VALUE respond(VALUE argument)
{
    struct response *response = (struct response *)argument;
    struct pel_http_connection *connection = response->connection;
    VALUE triple = rb_check_array_type(response->triple), parts, headers, receiver;
    struct pel_http_head head;
    int status;

    if (NIL_P(triple) || RARRAY_LEN(triple) < 3)
        rb_raise(rb_eTypeError, "the application returned no [status, headers, body] but %" PRIsVALUE,
                 rb_obj_class(response->triple));
    response->body = RARRAY_AREF(triple, 2);
    headers = pel_http_checked_headers(RARRAY_AREF(triple, 1));
    status = NUM2INT(rb_Integer(RARRAY_AREF(triple, 0)));
    parts = parts_of(response->body);
    if (!still_ours(response)) {
        close_body(response->body);
        return Qnil;
    }
    PEL_HTTP_KEEP(connection, headers, headers);
    pel_http_begin_head(connection, &head, status);
    response->mark = pel_buffer_length(head.output);
    response->begun = 1;
    pel_http_write_head(&head, headers, response->body, NIL_P(parts) ? SIZE_MAX : length_of(parts));
    receiver = NIL_P(head.hijack) && head.status == 101 ? response->body : head.hijack;
    if (!NIL_P(receiver)) {
        pel_http_send_soon(connection);
        give_away(connection, receiver);
    } else if (!NIL_P(parts)) {
        response->body = Qnil;
        write_parts(connection, parts);
    } else if (connection->no_body) {
        VALUE body = response->body;
        response->body = Qnil;
        pel_http_send_soon(connection);
        pel_http_end_exchange(connection);
        close_body(body);
    } else {
        VALUE body = response->body;
        response->body = Qnil; /* it closes it */
        pel_http_send_soon(connection);
        pel_http_remember_events(connection, headers);
        rb_funcall(pel_mHTTP, id_send_body, 3, connection->exchange, body, connection->env);
    }
    RB_GC_GUARD(headers);
    RB_GC_GUARD(triple);
    RB_GC_GUARD(parts);
    return Qnil;
}

static VALUE close_protected(VALUE body)
{
    close_body(body);
    return Qnil;
}

void pel_http_respond(struct pel_http_connection *connection, VALUE triple)
{
    struct response response = {
        .connection = connection, .exchange = connection->exchange, .triple = triple, .body = Qnil};
    VALUE self = connection->self;
    int state;

    pel_protect(respond, (VALUE)&response, &state);
    if (state) {
        VALUE error = pel_take_error(state), body = response.body;
        struct pel_buffer *output = &connection->stream->core.output;
        if (response.begun && !connection->head_sent && pel_buffer_length(output) > response.mark)
            output->end -= pel_buffer_length(output) - response.mark; /* what was written of it */
        if (NIL_P(error)) {
            pel_http_close(connection);
            pel_rethrow(state);
        }
        if (still_ours(&response) || connection->state == PEL_HTTP_GONE || connection->cut_short)
            pel_http_fail(connection, error);
        else
            pel_http_report(connection, error);
        if (!NIL_P(body)) {
            pel_protect(close_protected, body, &state);
            if (state && !NIL_P(error = pel_take_error(state)))
                pel_http_report(connection, error);
        }
    }
    RB_GC_GUARD(response.exchange);
    RB_GC_GUARD(triple);
    RB_GC_GUARD(self);
}

void pel_http_drop_response(VALUE triple)
{
    int state;

    if (!RB_TYPE_P(triple, T_ARRAY) || RARRAY_LEN(triple) < 3 || NIL_P(RARRAY_AREF(triple, 2)))
        return;
    if (RARRAY_AREF(triple, 0) ==
        INT2FIX(101)) /* its body has the connection, which it has hijacked: so does Action Cable */
        return;
    pel_protect(close_protected, RARRAY_AREF(triple, 2), &state);
    if (state && NIL_P(pel_take_error(state)))
        pel_rethrow(state);
}

void pel_init_http_response(void)
{
    id_to_path = rb_intern("to_path");
    id_to_ary = rb_intern("to_ary");
    id_close = rb_intern("close");
    id_call = rb_intern("call");
    id_send_body = rb_intern("_send_body");
}
