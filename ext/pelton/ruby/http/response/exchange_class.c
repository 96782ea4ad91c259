#include "ruby/http/response/http_response.h"

#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/connection/http_server.h"
#include "ruby/reactor/yield.h"

/*
 * The methods of Pelton::HTTP::Exchange. rack.hijack, async.callback and rack.early_hints are this one object, told
 * apart by the arguments of its call.
 */

/* The connection of an exchange whose response's body may be written. */
static struct pel_http_connection *get_begun(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_get_open(self);

    if (!connection->response.head_sent)
        rb_raise(pel_eError, "the response has no head yet: call the exchange with [status, headers, body] first");
    return connection;
}

/* ---- the response's body ----------------------------------------------------------------------------------------- */

/* A client that does not read is given up here, since the caller may rescue the error and write no more. */
static void wait_until_sent(struct pel_http_connection *connection, VALUE exchange)
{
    if (connection->protocol->await_room(connection, exchange))
        return;
    if ((connection = pel_http_exchange_peek(exchange))) {
        pel_http_close(connection);
        pel_http_end_exchange(connection);
    }
    pel_raise(PEL_ETIMEOUT, 0, "the client does not read the response");
}

/* write(string): waits while more than 64 KB are queued, and for its turn among other bodies. */
static VALUE exchange_write(VALUE self, VALUE string)
{
    struct pel_http_connection *connection;
    VALUE object;

    string = rb_obj_as_string(string); /* may end the exchange */
    connection = get_begun(self);
    object = connection->self;
    pel_http_write_body(connection, string);
    pel_http_send_soon(connection);
    wait_until_sent(connection, self);
    pel_spend(connection->reactor, 1); /* for a client that reads as fast as this writes */
    pel_http_share(connection, (size_t)RSTRING_LEN(string));
    RB_GC_GUARD(self);
    RB_GC_GUARD(object);
    return SIZET2NUM(RSTRING_LEN(string));
}

/* flush: sends the bytes written so far now. */
static VALUE exchange_flush(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_get_open(self);

    connection->protocol->flush(connection);
    return self;
}

/* finish(trailers = nil): the body is complete. No-op when the exchange is over. */
static VALUE exchange_finish(int argc, VALUE *argv, VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);
    VALUE trailers;

    rb_scan_args(argc, argv, "01", &trailers);
    if (!connection)
        return Qnil;
    pel_http_exchange_get(self);
    if (!connection->response.aborted && connection->state != PEL_HTTP_GONE) {
        get_begun(self);
        pel_http_finish_body(connection, trailers);
        pel_http_send_soon(connection);
    }
    pel_http_end_exchange(connection);
    RB_GC_GUARD(self);
    return Qnil;
}

/* abort: the client gets no complete response. No-op when the exchange is over. */
static VALUE exchange_abort(VALUE self)
{
    struct pel_http_connection *connection;

    if (!pel_http_exchange_peek(self))
        return Qnil;
    connection = pel_http_exchange_get(self);
    connection->response.aborted = 1;
    pel_http_end_exchange(connection);
    RB_GC_GUARD(self);
    return Qnil;
}

static VALUE exchange_open_p(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);
    return connection && !connection->response.aborted && connection->state != PEL_HTTP_GONE ? Qtrue : Qfalse;
}

/* server: the server that has received the request. */
static VALUE exchange_server(VALUE self)
{
    return pel_http_exchange_get(self)->server_object;
}

/* tls: the parameters that the connection's handshake has agreed upon; nil without TLS. */
static VALUE exchange_tls(VALUE self)
{
    return pel_upcall(stream_tls, pel_http_exchange_get(self)->stream_object);
}

/* callback { }: the interface of env["async.close"]. The block is called once, when the client has closed its side, or
 * the exchange is over. */
static VALUE exchange_callback(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);
    const struct pel_stream *client;
    VALUE block = rb_block_proc();

    if (!connection || connection->state == PEL_HTTP_GONE) {
        pel_upcall(client_closed, rb_ary_new_from_args(1, block));
        return self;
    }
    pel_http_exchange_get(self);
    if (!connection->request.close_callbacks)
        PEL_HTTP_KEEP(connection, request.close_callbacks, rb_ary_new());
    rb_ary_push(connection->request.close_callbacks, block);
    client = pel_http_client(connection);
    if ((client && (client->hangup || client->error)) || connection->response.aborted)
        pel_http_notify_client_closed(connection);
    RB_GC_GUARD(self);
    return self;
}

/* errback { }: async.close is a Deferrable, which has one; but it never fails. */
static VALUE exchange_errback(VALUE self)
{
    return self;
}

/* ---- the call: rack.hijack, async.callback, rack.early_hints ----------------------------------------------------- */

static void send_early_hints(struct pel_http_connection *connection, VALUE headers)
{
    if (!connection->request.minor_version || connection->response.head_sent || connection->state != PEL_HTTP_BUSY)
        return;
    pel_http_write_fields(connection, headers, 1);
    pel_http_send_soon(connection);
}

/* hijack: the connection's Pelton::Stream, which belongs to the caller from now on. */
static VALUE exchange_hijack(VALUE self)
{
    return pel_http_hijack(pel_http_exchange_get_open(self));
}

/* accept(headers): accepts the WebSocket that a client of HTTP/2 asks for. Returns its Pelton::Stream, as hijack. */
static VALUE exchange_accept(VALUE self, VALUE headers)
{
    struct pel_http_connection *connection = pel_http_exchange_get_open(self);
    struct pel_http_head head;

    Check_Type(headers, T_HASH);
    if (!connection->request.websocket || connection->response.head_sent || connection->state != PEL_HTTP_BUSY)
        rb_raise(pel_eError, "this exchange has no WebSocket of HTTP/2 to accept");
    pel_http_begin_head(connection, &head, headers, 101);
    pel_http_write_head(&head, headers, SIZE_MAX);
    pel_http_send_soon(connection);
    RB_GC_GUARD(self);
    return pel_http_hijack(connection);
}

/* call: hijacks; call(headers): sends early hints; call([status, headers, body]): answers. */
static VALUE exchange_call(int argc, VALUE *argv, VALUE self)
{
    struct pel_http_connection *connection;

    rb_check_arity(argc, 0, 1);
    if (argc == 0)
        return pel_upcall(take_io, exchange_hijack(self));
    if (pel_http_deferred_p(argv[0])) /* Sinatra passes the application's "later" on, too */
        return Qnil;
    connection = pel_http_exchange_peek(self);
    if (!connection || connection->response.head_sent || connection->state == PEL_HTTP_GONE) {
        if (!RB_TYPE_P(argv[0], T_HASH))
            pel_http_discard_response(argv[0]);
        return Qnil;
    }
    pel_http_exchange_get(self);
    if (RB_TYPE_P(argv[0], T_HASH))
        send_early_hints(connection, argv[0]);
    else if (connection->response.callback_response)
        pel_http_discard_response(argv[0]);
    else if (connection->request.in_application)
        PEL_HTTP_KEEP(connection, response.callback_response, argv[0]);
    else
        pel_http_respond(connection, argv[0]);
    RB_GC_GUARD(self);
    return Qnil;
}

void pel_init_http_exchange_class(VALUE exchange)
{
    rb_define_method(exchange, "open?", exchange_open_p, 0);
    rb_define_method(exchange, "write", exchange_write, 1);
    rb_define_method(exchange, "flush", exchange_flush, 0);
    rb_define_method(exchange, "finish", exchange_finish, -1);
    rb_define_method(exchange, "call", exchange_call, -1);
    rb_define_method(exchange, "hijack", exchange_hijack, 0);
    rb_define_method(exchange, "accept", exchange_accept, 1);
    rb_define_method(exchange, "abort", exchange_abort, 0);
    rb_define_method(exchange, "server", exchange_server, 0);
    rb_define_method(exchange, "tls", exchange_tls, 0);
    rb_define_method(exchange, "callback", exchange_callback, 0);
    rb_define_method(exchange, "errback", exchange_errback, 0);
}
