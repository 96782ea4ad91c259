#include "ruby/http/request/http_request.h"

#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/http_response.h"
#include "ruby/reactor/yield.h"

static void send_continue(struct pel_http_connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

    connection->request.expects_continue = 0;
    if (connection->response.head_sent)
        return;
    pel_http_check_written(pel_buffer_append(connection->protocol->lines(connection), text, sizeof text - 1));
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

/* Parks until more of the body may be there. Raises. */
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
        if (connection->response.aborted || connection->state == PEL_HTTP_GONE)
            rb_raise(pel_eClosedError, "the client is gone");
        if (connection->protocol->receive_body(connection, &part)) {
            connection->request.expects_continue = 0;
            if (!NIL_P(part))
                return count_received(connection, part);
            continue;
        }
        if (connection->request.expects_continue)
            send_continue(connection);
        wait_for_body(connection, exchange);
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
    rb_define_private_method(exchange, "_read", exchange_read, 0);
}
