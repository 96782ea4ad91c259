#include <string.h>
#include "ruby/http/response/response_head.h"

#include "core/base/decimal.h"
#include "core/http1/http1_writer.h"
#include "ruby/http/response/output.h"

/* The application's content-length. It must be a number, or the client could take a part of the body for the next
 * response. */
static void set_given_length(struct pel_http_head *head, struct pel_slice value)
{
    struct pel_http_response_body *body = &head->connection->response.body;

    if (value.length > 18 || body->has_length || pel_decimal(value, UINT64_MAX, &body->left) < 0)
        rb_raise(rb_eArgError, "content-length is malformed, or given twice");
    body->has_length = 1;
}

/* Notes a header that says something of the response or the connection. 1: the header is not sent. */
static int note_header(struct pel_http_head *head, struct pel_slice name, struct pel_slice value)
{
    struct pel_http_response *response = &head->connection->response;

    if (name.length == 4 && pel_http1_equal(name, "date")) {
        head->dated = 1;
    } else if (name.length == 7 && pel_http1_equal(name, "upgrade")) {
        head->upgrade_given = 1;
    } else if (name.length == 10 && pel_http1_equal(name, "connection")) {
        head->connection_given = 1;
        if (pel_http1_has_token(value, "close")) {
            response->keep_alive = 0;
            head->close_given = 1;
        }
    } else if (name.length == 14 && pel_http1_equal(name, "content-length")) {
        if (head->status < 200 || head->status == 204 || head->tunnel)
            return 1;
        set_given_length(head, value);
    } else if (name.length == 17 && pel_http1_equal(name, "transfer-encoding")) {
        if (head->status < 200 || head->status == 204)
            return 1;
        if (head->connection->protocol->frames_bodies)
            rb_raise(rb_eArgError, "HTTP/2 has no transfer-encoding: leave the header out");
        response->body.unframed = 1;
        if (!pel_http1_has_token(value, "chunked")) /* the body ends with the connection */
            response->keep_alive = 0;
    }
    return 0;
}

static void write_header(struct pel_http_head *head, VALUE name, VALUE value)
{
    int code;

    if (FIXNUM_P(value))
        value = rb_fix2str(value, 10);
    else if (SYMBOL_P(value))
        value = rb_sym2str(value);
    if (!RB_TYPE_P(value, T_STRING))
        rb_raise(rb_eTypeError, "the value of the header %" PRIsVALUE " is neither a String nor an Array of Strings",
                 name);
    if (note_header(head, pel_string_slice(name), pel_string_slice(value)))
        return;
    code = pel_http1_write_header(head->output, pel_string_slice(name), pel_string_slice(value));
    if (code == PEL_EARGUMENT)
        rb_raise(rb_eArgError, "the header %" PRIsVALUE " is malformed: it must not hold control characters",
                 rb_str_inspect(name));
    pel_http_check_written(code);
    RB_GC_GUARD(value);
}

/* Whether the server writes the header itself when the application does not. */
static int servers_own_p(struct pel_slice name)
{
    return pel_http1_equal(name, "content-length") || pel_http1_equal(name, "transfer-encoding") ||
           pel_http1_equal(name, "connection") || pel_http1_equal(name, "date");
}

static int write_header_values(VALUE name, VALUE value, VALUE argument)
{
    struct pel_http_head *head = (struct pel_http_head *)argument;

    if (SYMBOL_P(name))
        name = rb_sym2str(name);
    if (!RB_TYPE_P(name, T_STRING))
        rb_raise(rb_eTypeError, "a header's name is not a String");
    if (RSTRING_LEN(name) > 5 && !memcmp(RSTRING_PTR(name), "rack.", 5)) {
        if (RSTRING_LEN(name) == 11 && !memcmp(RSTRING_PTR(name), "rack.hijack", 11))
            head->hijack = value;
        return ST_CONTINUE;
    }
    if (NIL_P(value)) {
        if (servers_own_p(pel_string_slice(name)))
            return ST_CONTINUE;
        value = rb_str_new(NULL, 0); /* an empty field, as Puma sends it */
    }
    if (!RB_TYPE_P(value, T_ARRAY)) {
        write_header(head, name, value);
        return ST_CONTINUE;
    }
    for (long i = 0; i < RARRAY_LEN(value); i++)
        write_header(head, name, RARRAY_AREF(value, i));
    return ST_CONTINUE;
}

VALUE pel_http_checked_headers(VALUE headers)
{
    if (NIL_P(headers))
        return rb_hash_new();
    return rb_convert_type(headers, T_HASH, "Hash", RB_TYPE_P(headers, T_ARRAY) ? "to_h" : "to_hash");
}

static int note_framing(VALUE name, VALUE value, VALUE argument)
{
    int *given = (int *)argument;

    if (SYMBOL_P(name))
        name = rb_sym2str(name);
    if (!NIL_P(value) && RB_TYPE_P(name, T_STRING))
        *given = pel_http1_equal(pel_string_slice(name), "content-length") ||
                 pel_http1_equal(pel_string_slice(name), "transfer-encoding");
    return *given ? ST_STOP : ST_CONTINUE;
}

int pel_http_framing_given_p(VALUE headers)
{
    int given = 0;

    rb_hash_foreach(headers, note_framing, (VALUE)&given);
    return given;
}

static void write_own(struct pel_http_head *head, struct pel_slice name, struct pel_slice value)
{
    pel_http_check_written(pel_http1_write_header(head->output, name, value));
}

/* Writes date and connection, where the application has not. */
static void write_own_headers(struct pel_http_head *head)
{
    struct pel_http_connection *connection = head->connection;
    const struct pel_http_response *response = &connection->response;

    if (!head->dated)
        write_own(head, PEL_SLICE("date"), (struct pel_slice){pel_http_date(connection->server), PEL_HTTP1_DATE});
    pel_http_decide_keep_alive(connection);
    if (!NIL_P(head->protocol)) {
        if (!head->upgrade_given)
            write_own(head, PEL_SLICE("upgrade"), pel_string_slice(head->protocol));
        if (!head->connection_given)
            write_own(head, PEL_SLICE("connection"), PEL_SLICE("upgrade"));
    }
    if (head->status < 200)
        return;
    if (!response->keep_alive && !head->close_given)
        write_own(head, PEL_SLICE("connection"), PEL_SLICE("close"));
    else if (response->keep_alive && !connection->request.minor_version && !head->connection_given)
        write_own(head, PEL_SLICE("connection"), PEL_SLICE("keep-alive"));
}

static int status_without_body_p(unsigned status)
{
    return status < 200 || status == 204 || status == 304;
}

/* Decides how the client sees the body's end, and writes the header that says so. `length`: of the whole body, or
 * SIZE_MAX. */
static void write_framing(struct pel_http_head *head, size_t length)
{
    const struct pel_http_request *request = &head->connection->request;
    struct pel_http_response *response = &head->connection->response;
    struct pel_http_response_body *body = &response->body;

    body->none = request->method == PEL_HTTP_HEAD || status_without_body_p(head->status);
    if (body->has_length && length != SIZE_MAX && length != body->left && !body->none)
        rb_raise(rb_eArgError, "the body has %" PRIuSIZE " bytes, but content-length says otherwise", length);
    if (body->has_length || body->unframed || status_without_body_p(head->status) || head->tunnel)
        return;
    if (length == SIZE_MAX)
        length = head->file_length;
    if (length != SIZE_MAX) {
        if (length || request->method != PEL_HTTP_HEAD)
            pel_http_check_written(pel_http1_write_number(head->output, PEL_SLICE("content-length"), length));
        body->has_length = 1;
        body->left = length;
    } else if (body->none || head->connection->protocol->frames_bodies) {
        return;
    } else if (request->minor_version) {
        body->chunked = 1;
        write_own(head, PEL_SLICE("transfer-encoding"), PEL_SLICE("chunked"));
    } else {
        body->unframed = 1;
        response->keep_alive = 0;
    }
}

static int offered_p(VALUE protocols, VALUE protocol)
{
    for (long i = 0; i < RARRAY_LEN(protocols); i++)
        if (RB_TYPE_P(RARRAY_AREF(protocols, i), T_STRING) && rb_str_equal(RARRAY_AREF(protocols, i), protocol))
            return 1;
    return 0;
}

/* The protocol to which the application upgrades the connection (rack.protocol), or nil. */
static VALUE chosen_protocol(const struct pel_http_connection *connection, VALUE headers)
{
    VALUE key = rb_str_new_lit("rack.protocol"), protocol = rb_hash_lookup(headers, key);
    VALUE offered = rb_hash_lookup(connection->request.env, key);

    if (NIL_P(protocol))
        return Qnil;
    if (!RB_TYPE_P(protocol, T_STRING) || !RB_TYPE_P(offered, T_ARRAY) || !offered_p(offered, protocol))
        rb_raise(rb_eArgError, "the client has not offered the protocol %" PRIsVALUE " (rack.protocol)",
                 RB_TYPE_P(protocol, T_STRING) ? rb_str_inspect(protocol) : rb_obj_class(protocol));
    return protocol;
}

void pel_http_begin_head(struct pel_http_connection *connection, struct pel_http_head *head, VALUE headers, int status)
{
    VALUE protocol = connection->request.upgrade ? chosen_protocol(connection, headers) : Qnil;
    int tunnel;

    /* Rack names the protocol alone; in HTTP/1.1 the status that accepts it is 101, whichever success is given. */
    if (!NIL_P(protocol) && status >= 200 && status < 300)
        status = 101;
    else if (status != 101)
        protocol = Qnil;
    tunnel = status == 101 && connection->request.websocket;
    if (tunnel)
        status = 200; /* RFC 8441, 5 */
    *head = (struct pel_http_head){.connection = connection,
                                   .output = connection->protocol->lines(connection),
                                   .status = (unsigned)status,
                                   .tunnel = (unsigned)tunnel,
                                   .hijack = Qnil,
                                   .protocol = protocol,
                                   .file_length = SIZE_MAX};
    connection->response.status = (uint16_t)status;
    connection->response.body = (struct pel_http_response_body){.left = 0};
    pel_http_check_written(pel_buffer_reserve(head->output, 512));
}

void pel_http_write_head(struct pel_http_head *head, VALUE headers, size_t length)
{
    struct pel_http_response *response = &head->connection->response;

    /* After any other 1xx the client waits for the final response: it would take the next response for this one's. */
    if ((head->status < 200 && head->status != 101) ||
        pel_http1_write_status_line(head->output, head->status) == PEL_EARGUMENT)
        rb_raise(rb_eArgError, "the status %d is neither 101 nor within 200..999", (int)head->status);
    rb_hash_foreach(headers, write_header_values, (VALUE)head);
    if (response->body.unframed && response->body.has_length)
        rb_raise(rb_eArgError,
                 "content-length and transfer-encoding exclude each other: clients would read different bodies");
    if (!NIL_P(head->hijack) && head->status != 101) { /* the hijacker sends the body, until the connection ends */
        response->body.unframed = !head->connection->protocol->frames_bodies;
        response->keep_alive = 0;
        length = head->file_length = SIZE_MAX;
    }
    write_framing(head, length);
    write_own_headers(head);
    pel_http_check_written(pel_http1_write_end(head->output));
    response->head_sent = 1;
}
