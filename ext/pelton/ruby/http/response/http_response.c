#include "ruby/http/response/http_response.h"

#include <sys/stat.h>
#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/connection/http_server.h"

/*
 * Rack's status, headers and body to bytes. The head is checked while it is written; if something in it is wrong, the
 * bytes written are taken back. Bodies that are Arrays are written here; all others by lib/pelton/http/body.rb.
 */

static ID id_to_path, id_to_ary, id_close, id_call;

static size_t parts_length(VALUE parts)
{
    size_t length = 0;

    for (long i = 0; i < RARRAY_LEN(parts); i++) {
        VALUE part = RARRAY_AREF(parts, i);
        if (!RB_TYPE_P(part, T_STRING))
            rb_raise(rb_eTypeError, "a part of the body is not a String but %" PRIsVALUE, rb_obj_class(part));
        length += (size_t)RSTRING_LEN(part);
    }
    return length;
}

static void write_body_parts(struct pel_http_connection *connection, VALUE parts)
{
    for (long i = 0; i < RARRAY_LEN(parts); i++) {
        Check_Type(RARRAY_AREF(parts, i), T_STRING);
        pel_http_write_body(connection, RARRAY_AREF(parts, i));
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

/* The Array that the body is, or converts to; nil if it must be sent in another way. A body is converted only where its
 * length must be found out, as Puma does: Rails' bodies answer to_ary also where what they wrap has nothing but `each`,
 * and then to_ary calls it without a block. A file's part fails at that; an Enumerator is returned. */
static VALUE body_parts(VALUE body, VALUE headers)
{
    VALUE parts;

    if (RB_TYPE_P(body, T_ARRAY))
        return body;
    if (rb_respond_to(body, id_to_path) || !rb_respond_to(body, id_to_ary) || pel_http_framing_given_p(headers))
        return Qnil;
    parts = rb_funcallv(body, id_to_ary, 0, NULL);
    return RB_TYPE_P(parts, T_ARRAY) ? parts : Qnil;
}

/* The bytes of the file that the body names, or SIZE_MAX. */
static size_t file_body_length(VALUE body)
{
    struct stat facts;
    VALUE path;
    int status;

    if (!rb_respond_to(body, id_to_path))
        return SIZE_MAX;
    path = rb_get_path(rb_funcallv(body, id_to_path, 0, NULL)); /* Rails gives a Pathname */
    status = stat(RSTRING_PTR(path), &facts);
    RB_GC_GUARD(path);
    return status == 0 && S_ISREG(facts.st_mode) ? (size_t)facts.st_size : SIZE_MAX;
}

static VALUE call_hijacker(VALUE argument)
{
    const VALUE *pair = (const VALUE *)argument;
    return rb_funcall(pair[0], id_call, 1, pair[1]);
}

/* Gives the connection to the application: after an upgrade (101), or because of the header rack.hijack. */
static void hand_to_hijacker(struct pel_http_connection *connection, VALUE hijacker)
{
    VALUE stream;
    int state;

    pel_http_notify_finished(connection);
    stream = pel_http_hijack(connection);
    pel_protect(call_hijacker, (VALUE)(VALUE[]){hijacker, stream}, &state);
    if (state) { /* nothing else would close it */
        rb_funcall(stream, rb_intern("abort"), 0);
        pel_rethrow(state);
    }
    RB_GC_GUARD(stream);
}

struct response_attempt {
    struct pel_http_connection *connection;
    VALUE exchange, env, triple, body;
    size_t mark, end;    /* bytes of the output before the head; and after it, once it is complete */
    unsigned begun : 1;  /* the head was begun by this attempt */
    unsigned stands : 1; /* it is complete, and what follows it was found to be in order */
};

/* The body is the caller's from now on: what fails later does not close it again. */
static VALUE take_body(struct response_attempt *attempt)
{
    VALUE body = attempt->body;

    attempt->body = Qnil;
    return body;
}

/* Whether this attempt may still answer the exchange: Ruby code that was called meanwhile may have waited. */
static int still_answering_p(const struct response_attempt *attempt)
{
    const struct pel_http_connection *connection = attempt->connection;

    return connection->request.exchange == attempt->exchange && connection->state == PEL_HTTP_BUSY &&
           (attempt->begun || !connection->response.head_sent);
}

/* Calls Ruby. The head is complete by then, so whatever is written or sent meanwhile comes after it. */
static void check_rest(struct response_attempt *attempt, VALUE hijacker, VALUE parts)
{
    if (NIL_P(hijacker) && NIL_P(parts) && !attempt->connection->response.body.none)
        pel_upcall(check_body, attempt->body);
    if (!NIL_P(hijacker) && !rb_respond_to(hijacker, id_call))
        rb_raise(rb_eTypeError,
                 "the receiver of the connection (rack.hijack, or the body of a 101) does not respond to call");
}

/* Takes back a head that something is wrong with, unless some of it has been sent. */
static void take_back(struct response_attempt *attempt)
{
    struct pel_buffer *output;
    size_t length;

    if (!attempt->begun || attempt->stands || !still_answering_p(attempt))
        return;
    output = attempt->connection->protocol->lines(attempt->connection);
    length = pel_buffer_length(output);
    if (length <= attempt->mark || (attempt->end && length != attempt->end))
        return;
    output->end -= length - attempt->mark;
    attempt->connection->response.head_sent = 0;
}

/* How a response is delivered, once its head is in order. */
enum delivery { BY_HIJACKER, BY_PARTS, WITHOUT_BODY, BY_BODY };

static enum delivery choose_delivery(const struct pel_http_connection *connection, VALUE hijacker, VALUE parts)
{
    if (!NIL_P(hijacker))
        return BY_HIJACKER;
    if (!NIL_P(parts))
        return BY_PARTS;
    return connection->response.body.none ? WITHOUT_BODY : BY_BODY;
}

static void deliver_parts(struct response_attempt *attempt, const struct pel_http_head *head, VALUE parts)
{
    struct pel_http_connection *connection = attempt->connection;
    VALUE body = take_body(attempt);

    if (connection->request.cache_key && !head->dated) /* a date of its own: an old response, from elsewhere */
        pel_http_cache_keep(connection, attempt->mark, parts, parts_length(parts));
    pel_http_cache_pass(connection);
    write_body_parts(connection, parts);
    if (body != parts) /* from Rack 3 on to_ary closes the body; before, it stays open */
        close_body(body);
}

static void deliver_without_body(struct response_attempt *attempt)
{
    VALUE body = take_body(attempt);

    pel_http_cache_pass(attempt->connection);
    pel_http_send_soon(attempt->connection);
    pel_http_end_exchange(attempt->connection);
    close_body(body);
}

/* A body that goes on by itself, perhaps for hours, begins when it is its turn. While it waits for that, the exchange
 * may end, and the connection be gone: so it is on the list of event streams before, from which its end takes it. */
static void deliver_body(struct response_attempt *attempt, VALUE headers)
{
    struct pel_http_connection *connection = attempt->connection;
    VALUE body = attempt->body;

    pel_http_cache_pass(connection);
    pel_http_send_soon(connection);
    pel_http_track_event_stream(connection, headers);
    pel_leave_request(connection->reactor);
    pel_http_share(connection, 0);
    attempt->body = Qnil; /* it is closed here, or by send_body */
    if (still_answering_p(attempt))
        pel_upcall(send_body, attempt->exchange, body, attempt->env);
    else
        close_body(body);
}

static void deliver(struct response_attempt *attempt, const struct pel_http_head *head, VALUE headers, VALUE hijacker,
                    VALUE parts)
{
    switch (choose_delivery(attempt->connection, hijacker, parts)) {
    case BY_HIJACKER:
        pel_http_cache_pass(attempt->connection);
        pel_http_send_soon(attempt->connection);
        hand_to_hijacker(attempt->connection, hijacker);
        break;
    case BY_PARTS:
        deliver_parts(attempt, head, parts);
        break;
    case WITHOUT_BODY:
        deliver_without_body(attempt);
        break;
    case BY_BODY:
        deliver_body(attempt, headers);
        break;
    }
}

/* Who receives the connection after the head, or nil. HTTP/2 hands none over but a WebSocket's tunnel: there the
 * receiver is the body, and gets the stream of a streaming body. */
static VALUE receiver_of(struct response_attempt *attempt, const struct pel_http_head *head)
{
    VALUE hijacker = NIL_P(head->hijack) && (head->status == 101 || head->tunnel) ? attempt->body : head->hijack;

    if (NIL_P(hijacker) || head->tunnel || !attempt->connection->protocol->frames_bodies)
        return hijacker;
    attempt->body = hijacker;
    return Qnil;
}

static VALUE send_response(VALUE argument)
{
    struct response_attempt *attempt = (struct response_attempt *)argument;
    struct pel_http_connection *connection = attempt->connection;
    VALUE triple = rb_check_array_type(attempt->triple), parts, headers, hijacker;
    struct pel_http_head head;
    size_t file_length = SIZE_MAX;
    int status;

    if (NIL_P(triple) || RARRAY_LEN(triple) < 3)
        rb_raise(rb_eTypeError, "the application returned %" PRIsVALUE " instead of [status, headers, body]",
                 rb_obj_class(attempt->triple));
    attempt->body = RARRAY_AREF(triple, 2);
    headers = pel_http_checked_headers(RARRAY_AREF(triple, 1));
    status = NUM2INT(rb_Integer(rb_ary_entry(triple, 0)));
    parts = body_parts(attempt->body, headers);
    if (NIL_P(parts))
        file_length = file_body_length(attempt->body);
    if (!still_answering_p(attempt)) {
        close_body(attempt->body);
        return Qnil;
    }
    if (status >= 500 && status <= 504 && pel_http_cache_rescue(connection)) {
        close_body(take_body(attempt));
        return Qnil;
    }
    PEL_HTTP_KEEP(connection, response.headers, headers);
    pel_http_begin_head(connection, &head, headers, status);
    head.file_length = file_length;
    attempt->mark = pel_buffer_length(head.output);
    attempt->begun = 1;
    pel_http_write_head(&head, headers, NIL_P(parts) ? SIZE_MAX : parts_length(parts));
    attempt->end = pel_buffer_length(head.output);
    hijacker = receiver_of(attempt, &head);
    if (attempt->body != RARRAY_AREF(triple, 2))
        parts = Qnil;
    if (connection->protocol->discards && NIL_P(parts)) /* nothing is kept, and nobody receives it */
        connection->response.body.none = 1;
    check_rest(attempt, hijacker, parts);
    if (!still_answering_p(attempt)) {
        close_body(attempt->body);
        return Qnil;
    }
    attempt->stands = 1;
    deliver(attempt, &head, headers, hijacker, parts);
    RB_GC_GUARD(headers);
    RB_GC_GUARD(triple);
    RB_GC_GUARD(parts);
    return Qnil;
}

static VALUE close_body_protected(VALUE body)
{
    close_body(body);
    return Qnil;
}

void pel_http_respond(struct pel_http_connection *connection, VALUE triple)
{
    struct response_attempt attempt = {.connection = connection,
                                       .exchange = connection->request.exchange,
                                       .env = connection->request.env,
                                       .triple = triple,
                                       .body = Qnil};
    VALUE self = connection->self;
    int state;

    pel_protect(send_response, (VALUE)&attempt, &state);
    if (state) {
        VALUE error = pel_take_error(state), body = attempt.body;
        take_back(&attempt);
        if (NIL_P(error)) {
            pel_http_close(connection);
            pel_rethrow(state);
        }
        if (still_answering_p(&attempt) || connection->state == PEL_HTTP_GONE || connection->response.ended_by_server)
            pel_http_application_failed(connection, error);
        else
            pel_http_report_error(connection, error, attempt.env);
        if (!NIL_P(body)) {
            pel_protect(close_body_protected, body, &state);
            if (state && !NIL_P(error = pel_take_error(state)))
                pel_http_report_error(connection, error, attempt.env);
        }
    }
    RB_GC_GUARD(attempt.exchange);
    RB_GC_GUARD(attempt.env);
    RB_GC_GUARD(triple);
    RB_GC_GUARD(self);
}

/* [-1, {}, []], as Thin has it. */
int pel_http_deferred_p(VALUE response)
{
    return RB_TYPE_P(response, T_ARRAY) && RARRAY_LEN(response) > 0 && RARRAY_AREF(response, 0) == INT2FIX(-1);
}

void pel_http_discard_response(VALUE triple)
{
    int state;

    if (!RB_TYPE_P(triple, T_ARRAY) || RARRAY_LEN(triple) < 3 || NIL_P(RARRAY_AREF(triple, 2)))
        return;
    /* The body of a 101 has the connection, which it has hijacked: Action Cable does so. */
    if (RARRAY_AREF(triple, 0) == INT2FIX(101))
        return;
    pel_protect(close_body_protected, RARRAY_AREF(triple, 2), &state);
    if (state && NIL_P(pel_take_error(state)))
        pel_rethrow(state);
}

void pel_init_http_response(void)
{
    id_to_path = rb_intern("to_path");
    id_to_ary = rb_intern("to_ary");
    id_close = rb_intern("close");
    id_call = rb_intern("call");
}
