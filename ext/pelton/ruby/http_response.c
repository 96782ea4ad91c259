#include "http.h"

#include <string.h>
#include "../core/http1_writer.h"
#include "error.h"

/*
 * An answer to bytes: Rack's status, headers and body, or a plain text of our own. The head is checked while it is
 * written, and taken back when something in it is wrong. Bodies that are Arrays are written here; all others by
 * lib/pelton/http/body.rb.
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

/* ---- the head ------------------------------------------------------------------------------------------------- */

/* What the application's headers say of the rest. */
struct head {
    struct pel_http_connection *connection;
    struct pel_buffer *output;
    unsigned status;
    unsigned dated : 1, connection_given : 1, close_given : 1;
    VALUE hijack;
};

static void check(int code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
}

static struct pel_slice slice_of(VALUE string)
{
    return (struct pel_slice){RSTRING_PTR(string), (size_t)RSTRING_LEN(string)};
}

/* Bodies have a length that is a number, or else the client could take a part of them for the next response. */
static void given_length(struct head *head, struct pel_slice value)
{
    struct pel_http_connection *connection = head->connection;
    uint64_t length = 0;

    if (!value.length || value.length > 18 || connection->has_length)
        rb_raise(rb_eArgError, "content-length is malformed, or there twice");
    for (size_t i = 0; i < value.length; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9')
            rb_raise(rb_eArgError, "content-length is malformed");
        length = length * 10 + (uint64_t)(value.bytes[i] - '0');
    }
    connection->has_length = 1;
    connection->body_left = length;
}

/* 1: it is not sent. */
static int known_header(struct head *head, struct pel_slice name, struct pel_slice value)
{
    struct pel_http_connection *connection = head->connection;

    if (name.length == 4 && pel_http1_equal(name, "date")) {
        head->dated = 1;
    } else if (name.length == 10 && pel_http1_equal(name, "connection")) {
        head->connection_given = 1;
        if (pel_http1_has_token(value, "close")) {
            connection->keep_alive = 0;
            head->close_given = 1;
        }
    } else if (name.length == 14 && pel_http1_equal(name, "content-length")) {
        if (head->status < 200 || head->status == 204)
            return 1;
        given_length(head, value);
    } else if (name.length == 17 && pel_http1_equal(name, "transfer-encoding")) {
        if (head->status < 200 || head->status == 204)
            return 1;
        connection->raw = 1;
    }
    return 0;
}

static void put_header(struct head *head, VALUE name, VALUE value)
{
    if (FIXNUM_P(value) || SYMBOL_P(value))
        value = rb_obj_as_string(value);
    if (!RB_TYPE_P(value, T_STRING))
        rb_raise(rb_eTypeError, "the header %" PRIsVALUE " is neither a String nor an Array of them", name);
    if (known_header(head, slice_of(name), slice_of(value)))
        return;
    if (pel_http1_write_header(head->output, slice_of(name), slice_of(value)) == PEL_EARGUMENT)
        rb_raise(rb_eArgError, "the header %" PRIsVALUE " is malformed: it must not hold control characters",
                 rb_inspect(name));
    RB_GC_GUARD(value);
}

static int put_headers(VALUE name, VALUE value, VALUE argument)
{
    struct head *head = (struct head *)argument;

    if (SYMBOL_P(name))
        name = rb_sym2str(name);
    if (!RB_TYPE_P(name, T_STRING))
        rb_raise(rb_eTypeError, "a header's name is no String");
    if (RSTRING_LEN(name) > 5 && !memcmp(RSTRING_PTR(name), "rack.", 5)) {
        if (RSTRING_LEN(name) == 11 && !memcmp(RSTRING_PTR(name), "rack.hijack", 11))
            head->hijack = value;
        return ST_CONTINUE;
    }
    if (NIL_P(value))
        return ST_CONTINUE;
    if (!RB_TYPE_P(value, T_ARRAY)) {
        put_header(head, name, value);
        return ST_CONTINUE;
    }
    for (long i = 0; i < RARRAY_LEN(value); i++)
        put_header(head, name, RARRAY_AREF(value, i));
    return ST_CONTINUE;
}

/* The headers as a Hash. */
VALUE pel_http_checked_headers(VALUE headers)
{
    if (NIL_P(headers))
        return rb_hash_new();
    return rb_convert_type(headers, T_HASH, "Hash", RB_TYPE_P(headers, T_ARRAY) ? "to_h" : "to_hash");
}

static void put_own_headers(struct head *head)
{
    struct pel_http_connection *connection = head->connection;

    if (!head->dated)
        check(pel_http1_write_header(head->output, PEL_SLICE("date"),
                                     (struct pel_slice){pel_http_date(connection->server), PEL_HTTP1_DATE}));
    pel_http_decide_end(connection);
    if (head->status < 200)
        return;
    if (!connection->keep_alive && !head->close_given)
        check(pel_http1_write_header(head->output, PEL_SLICE("connection"), PEL_SLICE("close")));
    else if (connection->keep_alive && !connection->minor && !head->connection_given)
        check(pel_http1_write_header(head->output, PEL_SLICE("connection"), PEL_SLICE("keep-alive")));
}

/* How the body's end is told. `length`: of all of it, or SIZE_MAX. */
static void put_framing(struct head *head, size_t length)
{
    struct pel_http_connection *connection = head->connection;

    connection->no_body = connection->head_request || head->status < 200 || head->status == 204 || head->status == 304;
    if (connection->has_length && length != SIZE_MAX && length != connection->body_left && !connection->no_body)
        rb_raise(rb_eArgError, "the body has %" PRIuSIZE " bytes, but content-length says otherwise", length);
    if (connection->has_length || connection->raw || head->status < 200 || head->status == 204 || head->status == 304)
        return;
    if (length != SIZE_MAX) {
        if (length || !connection->head_request)
            check(pel_http1_write_number(head->output, PEL_SLICE("content-length"), length));
        connection->has_length = 1;
        connection->body_left = length;
    } else if (connection->no_body) {
        return;
    } else if (connection->minor) {
        connection->chunked = 1;
        check(pel_http1_write_header(head->output, PEL_SLICE("transfer-encoding"), PEL_SLICE("chunked")));
    } else {
        connection->raw = 1;
        connection->keep_alive = 0;
    }
}

static void begin_head(struct pel_http_connection *connection, struct head *head, int status)
{
    *head = (struct head){.connection = connection,
                          .output = &connection->stream->core.output,
                          .status = (unsigned)status,
                          .hijack = Qnil};
    connection->status = (uint16_t)status;
    connection->chunked = connection->has_length = connection->raw = 0;
    check(pel_buffer_reserve(head->output, 512));
}

static void write_head(struct head *head, VALUE headers, VALUE body, size_t length)
{
    /* After 1xx the client waits for more: it would take the next response for this one's. */
    if ((head->status < 200 && head->status != 101) ||
        pel_http1_write_status_line(head->output, head->status) == PEL_EARGUMENT)
        rb_raise(rb_eArgError, "the status %d is neither 101 nor within 200..999", (int)head->status);
    rb_hash_foreach(headers, put_headers, (VALUE)head);
    if (head->connection->raw && head->connection->has_length)
        rb_raise(rb_eArgError,
                 "content-length and transfer-encoding exclude each other: clients would read different bodies");
    if (!rb_respond_to(NIL_P(head->hijack) ? body : head->hijack, id_call) &&
        (head->status == 101 || !NIL_P(head->hijack)))
        rb_raise(rb_eTypeError, "what is to have the connection does not respond to call");
    if (!NIL_P(head->hijack) && head->status != 101) { /* it ends with the connection */
        head->connection->raw = 1;
        head->connection->keep_alive = 0;
    }
    put_framing(head, length);
    put_own_headers(head);
    check(pel_http1_write_end(head->output));
    head->connection->head_sent = 1;
}

/* ---- Rack's answer -------------------------------------------------------------------------------------------- */

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

    return connection->exchange == response->exchange && (response->begun || !connection->head_sent);
}

static VALUE respond(VALUE argument)
{
    struct response *response = (struct response *)argument;
    struct pel_http_connection *connection = response->connection;
    VALUE triple = rb_check_array_type(response->triple), parts, headers, receiver;
    struct head head;
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
    connection->headers = headers;
    begin_head(connection, &head, status);
    response->mark = pel_buffer_length(head.output);
    response->begun = 1;
    write_head(&head, headers, response->body, NIL_P(parts) ? SIZE_MAX : length_of(parts));
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
        if (still_ours(&response) || connection->state == PEL_HTTP_GONE)
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
