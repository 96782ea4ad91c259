#include "http.h"

#include "../core/http1_writer.h"
#include "error.h"

/*
 * Pelton::HTTP::Exchange: one request and its response, as the application has it in hand: rack.hijack, async.callback
 * and rack.early_hints are this one object, told apart by what they are called with. When the exchange is over it
 * refers to nothing, so whoever comes late changes no other answer.
 */

#define HIGH_WATER_HTTP (1024 * 1024) /* bytes queued at which a body waits, until half is left */
#define LENT_FROM 16384               /* bytes of a part that is not copied */

static VALUE cExchange;

static void exchange_mark(void *data)
{
    rb_gc_mark(((struct pel_http_connection *)data)->self);
}

static const rb_data_type_t exchange_type = {.wrap_struct_name = "Pelton::HTTP::Exchange",
                                             .function = {.dmark = exchange_mark},
                                             .flags = RUBY_TYPED_FREE_IMMEDIATELY};

VALUE pel_http_exchange_new(struct pel_http_connection *connection)
{
    return rb_data_typed_object_wrap(cExchange, connection, &exchange_type);
}

void pel_http_exchange_end(VALUE exchange)
{
    if (exchange)
        RTYPEDDATA_DATA(exchange) = NULL;
}

struct pel_http_connection *pel_http_exchange_peek(VALUE self)
{
    return rb_check_typeddata(self, &exchange_type);
}

struct pel_http_connection *pel_http_exchange_get(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);

    if (!connection)
        rb_raise(pel_eClosedError, "this exchange is over: its response was sent, or the client is gone");
    if (pel_loop_inherited(&connection->reactor->loop) || connection->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "an exchange is used on the thread of its server: see Reactor#schedule");
    return connection;
}

static struct pel_http_connection *get_open(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_get(self);

    if (connection->aborted || connection->state == PEL_HTTP_GONE)
        rb_raise(pel_eClosedError, "the client is gone");
    return connection;
}

/* One whose response's body may be written. */
static struct pel_http_connection *get_begun(VALUE self)
{
    struct pel_http_connection *connection = get_open(self);

    if (!connection->head_sent)
        rb_raise(pel_eError, "the response has no head yet: call the exchange with [status, headers, body] first");
    return connection;
}

/* ---- the response's body -------------------------------------------------------------------------------------- */

static void check(int code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code < 0)
        rb_raise(pel_eClosedError, "the client is gone");
}

static void put(struct pel_http_connection *connection, VALUE string, size_t length)
{
    struct pel_stream *core = &connection->stream->core;

    if (length >= LENT_FROM) {
        string = rb_str_new_frozen(string); /* a share: whoever changes the original has it copied first */
        check(pel_stream_lend(core, RSTRING_PTR(string), length, string));
        RB_OBJ_WRITTEN(connection->stream_object, Qundef, string);
    } else {
        check(pel_stream_append(core, RSTRING_PTR(string), length));
    }
    RB_GC_GUARD(string);
}

/* The client sees that it is not complete, and nobody need say so any more. */
static void break_off(struct pel_http_connection *connection, const char *why)
{
    connection->aborted = 1;
    pel_http_end_exchange(connection);
    rb_raise(pel_eError, "%s", why);
}

void pel_http_write(struct pel_http_connection *connection, VALUE string)
{
    struct pel_stream *core = &connection->stream->core;
    size_t length = (size_t)RSTRING_LEN(string);

    if (connection->no_body || !length)
        return;
    if (connection->has_length && length > connection->body_left)
        break_off(connection, "the body is longer than its content-length");
    if (connection->chunked)
        check(pel_http1_write_chunk(&core->output, length));
    put(connection, string, length);
    if (connection->chunked)
        check(pel_http1_write_end(&core->output));
    if (connection->has_length)
        connection->body_left -= length;
    connection->body_sent += length;
}

/* A client that reads has time, however slowly it does. One that does not is given up, whoever may have been told so
 * and says no more. When the exchange ends meanwhile nobody else keeps the stream. */
static void wait_until_sent(struct pel_http_connection *connection, VALUE exchange)
{
    struct stream *stream = connection->stream;
    VALUE stream_object = connection->stream_object;
    int64_t time = connection->server->write_timeout, since = connection->reactor->loop.now;

    if (pel_stream_pending(&stream->core) <= HIGH_WATER_HTTP)
        return;
    while (pel_stream_await_below(stream, HIGH_WATER_HTTP / 2, time == PEL_FOREVER ? time : since + time)) {
        if (stream->core.active_at > since) {
            since = stream->core.active_at;
            continue;
        }
        if ((connection = pel_http_exchange_peek(exchange))) {
            pel_http_close(connection);
            pel_http_end_exchange(connection);
        }
        pel_raise(PEL_ETIMEOUT, 0, "the client does not read");
    }
    RB_GC_GUARD(stream_object);
}

/* write(string): waits while more than 1 MB is queued. */
static VALUE exchange_write(VALUE self, VALUE string)
{
    struct pel_http_connection *connection;
    struct pel_reactor *reactor;

    string = rb_obj_as_string(string); /* may end the exchange */
    connection = get_begun(self);
    reactor = connection->reactor;
    pel_http_write(connection, string);
    pel_http_send_soon(connection);
    wait_until_sent(connection, self);
    pel_spend(reactor, 1 + (int32_t)(RSTRING_LEN(string) >> 12)); /* nor does a client that reads all at once */
    RB_GC_GUARD(self);
    return SIZET2NUM(RSTRING_LEN(string));
}

/* flush: sends what was written now. */
static VALUE exchange_flush(VALUE self)
{
    struct pel_http_connection *connection = get_open(self);

    pel_stream_flush(&connection->stream->core);
    if (pel_stream_pending(&connection->stream->core) && connection->stream->core.writable)
        pel_stream_flush_later(&connection->stream->core);
    return self;
}

void pel_http_finish_body(struct pel_http_connection *connection, VALUE trailers)
{
    if (connection->no_body)
        return;
    if (connection->has_length && connection->body_left)
        break_off(connection, "the body is shorter than its content-length");
    if (connection->chunked)
        pel_http_write_fields(connection, trailers, 0);
}

/* finish(trailers = nil): the body is complete. Legal when it is over. */
static VALUE exchange_finish(int argc, VALUE *argv, VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);
    VALUE trailers;

    rb_scan_args(argc, argv, "01", &trailers);
    if (!connection)
        return Qnil;
    pel_http_exchange_get(self);
    if (!connection->aborted && connection->state != PEL_HTTP_GONE) {
        get_begun(self);
        pel_http_finish_body(connection, trailers);
        pel_http_send_soon(connection);
    }
    pel_http_end_exchange(connection);
    RB_GC_GUARD(self);
    return Qnil;
}

/* abort: the client gets no complete response. */
static VALUE exchange_abort(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self),
                               *same = connection ? pel_http_exchange_get(self) : NULL;

    if (!same)
        return Qnil;
    connection->aborted = 1;
    pel_http_end_exchange(connection);
    RB_GC_GUARD(self);
    return Qnil;
}

static VALUE exchange_open_p(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);
    return connection && !connection->aborted && connection->state != PEL_HTTP_GONE ? Qtrue : Qfalse;
}

/* server: whose request it is. */
static VALUE exchange_server(VALUE self)
{
    return pel_http_exchange_get(self)->server_object;
}

/* tls: what the connection has agreed upon. */
static VALUE exchange_tls(VALUE self)
{
    return rb_funcall(pel_http_exchange_get(self)->stream_object, rb_intern("tls"), 0);
}

/* callback { }: what env["async.close"] is for. The block is called once, when the client has closed its side, or the
 * response is over. */
static VALUE exchange_callback(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);
    VALUE block = rb_block_proc();

    if (!connection || connection->state == PEL_HTTP_GONE) {
        rb_funcall(pel_mHTTP, rb_intern("_closed"), 1, rb_ary_new_from_args(1, block));
        return self;
    }
    pel_http_exchange_get(self);
    if (!connection->closers)
        PEL_HTTP_KEEP(connection, closers, rb_ary_new());
    rb_ary_push(connection->closers, block);
    if (connection->stream->core.hangup || connection->stream->core.error)
        pel_http_tell_close(connection);
    RB_GC_GUARD(self);
    return self;
}

/* errback { }: a Deferrable has one. This one never fails. */
static VALUE exchange_errback(VALUE self)
{
    return self;
}

/* ---- being called: rack.hijack, async.callback, rack.early_hints ---------------------------------------------------
 */

static void early_hints(struct pel_http_connection *connection, VALUE headers)
{
    if (!connection->minor || connection->head_sent || connection->state != PEL_HTTP_BUSY)
        return;
    pel_http_write_fields(connection, headers, 1);
    pel_http_send_soon(connection);
}

/* hijack: the connection's Pelton::Stream, which is the caller's from now on. */
static VALUE exchange_hijack(VALUE self)
{
    struct pel_http_connection *connection = get_open(self);
    VALUE stream = connection->stream_object;

    pel_http_let_go(connection);
    connection->exchange = Qfalse;
    pel_http_exchange_end(self);
    return stream;
}

static VALUE exchange_call(int argc, VALUE *argv, VALUE self)
{
    struct pel_http_connection *connection;

    rb_check_arity(argc, 0, 1);
    if (argc == 0)
        return rb_funcall(pel_mHTTP, rb_intern("_io_of"), 1, exchange_hijack(self));
    if (pel_http_deferred_p(argv[0])) /* Sinatra passes that on, too */
        return Qnil;
    connection = pel_http_exchange_peek(self);
    if (!connection || connection->head_sent || connection->state == PEL_HTTP_GONE) {
        if (argc && !RB_TYPE_P(argv[0], T_HASH))
            pel_http_drop_response(argv[0]);
        return Qnil;
    }
    pel_http_exchange_get(self);
    if (RB_TYPE_P(argv[0], T_HASH))
        early_hints(connection, argv[0]);
    else if (connection->early)
        pel_http_drop_response(argv[0]);
    else if (connection->in_app)
        PEL_HTTP_KEEP(connection, early, argv[0]);
    else
        pel_http_respond(connection, argv[0]);
    RB_GC_GUARD(self);
    return Qnil;
}

void pel_init_http_exchange(VALUE module)
{
    cExchange = rb_define_class_under(module, "Exchange", rb_cObject);
    rb_undef_alloc_func(cExchange);
    rb_define_method(cExchange, "call", exchange_call, -1);
    rb_define_method(cExchange, "hijack", exchange_hijack, 0);
    rb_define_method(cExchange, "write", exchange_write, 1);
    rb_define_method(cExchange, "flush", exchange_flush, 0);
    rb_define_method(cExchange, "finish", exchange_finish, -1);
    rb_define_method(cExchange, "abort", exchange_abort, 0);
    rb_define_method(cExchange, "open?", exchange_open_p, 0);
    rb_define_method(cExchange, "server", exchange_server, 0);
    rb_define_method(cExchange, "tls", exchange_tls, 0);
    rb_define_method(cExchange, "callback", exchange_callback, 0);
    rb_define_method(cExchange, "errback", exchange_errback, 0);
    pel_init_http_input(cExchange);
    pel_init_http_file(cExchange);
}
