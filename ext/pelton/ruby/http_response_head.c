#include "http_response_head.h"

#include <string.h>
#include "../core/http1_writer.h"
#include "error.h"

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
static void given_length(struct pel_http_head *head, struct pel_slice value)
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
static int known_header(struct pel_http_head *head, struct pel_slice name, struct pel_slice value)
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
        if (!pel_http1_has_token(value, "chunked")) /* its end is the connection's */
            connection->keep_alive = 0;
    }
    return 0;
}

static void put_header(struct pel_http_head *head, VALUE name, VALUE value)
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
    struct pel_http_head *head = (struct pel_http_head *)argument;

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

VALUE pel_http_checked_headers(VALUE headers)
{
    if (NIL_P(headers))
        return rb_hash_new();
    return rb_convert_type(headers, T_HASH, "Hash", RB_TYPE_P(headers, T_ARRAY) ? "to_h" : "to_hash");
}

static void put_own_headers(struct pel_http_head *head)
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
static void put_framing(struct pel_http_head *head, size_t length)
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

void pel_http_begin_head(struct pel_http_connection *connection, struct pel_http_head *head, int status)
{
    *head = (struct pel_http_head){.connection = connection,
                                   .output = &connection->stream->core.output,
                                   .status = (unsigned)status,
                                   .hijack = Qnil};
    connection->status = (uint16_t)status;
    connection->chunked = connection->has_length = connection->raw = 0;
    check(pel_buffer_reserve(head->output, 512));
}

void pel_http_write_head(struct pel_http_head *head, VALUE headers, VALUE body, size_t length)
{
    /* After 1xx the client waits for more: it would take the next response for this one's. */
    if ((head->status < 200 && head->status != 101) ||
        pel_http1_write_status_line(head->output, head->status) == PEL_EARGUMENT)
        rb_raise(rb_eArgError, "the status %d is neither 101 nor within 200..999", (int)head->status);
    rb_hash_foreach(headers, put_headers, (VALUE)head);
    if (head->connection->raw && head->connection->has_length)
        rb_raise(rb_eArgError,
                 "content-length and transfer-encoding exclude each other: clients would read different bodies");
    if ((head->status == 101 || !NIL_P(head->hijack)) &&
        !rb_respond_to(NIL_P(head->hijack) ? body : head->hijack, rb_intern("call")))
        rb_raise(rb_eTypeError, "what is to have the connection does not respond to call");
    if (!NIL_P(head->hijack) && head->status != 101) { /* it ends with the connection, and is not this body */
        head->connection->raw = 1;
        head->connection->keep_alive = 0;
        length = SIZE_MAX;
    }
    put_framing(head, length);
    put_own_headers(head);
    check(pel_http1_write_end(head->output));
    head->connection->head_sent = 1;
}
