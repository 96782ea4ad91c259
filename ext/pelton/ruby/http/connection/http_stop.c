#include "ruby/http/connection/http_connection.h"

#include "core/files/open_files.h"

/*
 * How a server stops without losing a request. A client whose connection was just in use may be sending its next
 * request on it, so the client is notified first, by a response's "connection: close", or the connection stays open
 * until nothing has arrived for the grace time. Whatever has arrived is read before a connection is closed.
 */

#define RECLAIMED_AT_ONCE 8 /* connections closed when descriptors have run out */

int pel_http_close_idle(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (!core->error && pel_socket_unread(core->handle.fd)) { /* its event, or its job, is about to come */
        pel_http_set_grace_timeout(connection);
        pel_http_queue_proceed(connection);
        return 0;
    }
    pel_http_close(connection);
    return 1;
}

unsigned pel_http_close_some_idle(struct pel_reclaimer *reclaimer)
{
    struct pel_open_files *files = ((struct pel_http_server *)reclaimer)->files;
    struct pel_http_connection *connection, *next;
    unsigned count = 0;

    if (files && (count = pel_open_files_drop(files)))
        return count; /* files are opened again at no client's cost */

    for (connection = ((struct pel_http_server *)reclaimer)->idle.first; connection && count < RECLAIMED_AT_ONCE;
         connection = next) {
        next = connection->next;
        count += (unsigned)pel_http_close_idle(connection);
    }
    return count;
}

void pel_http_decide_keep_alive(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;
    struct pel_http_response *response = &connection->response;

    /* A body that was announced by Expect and not asked for may come, or not: so nothing can follow it. */
    if (!connection->request.body.done && connection->request.expects_continue)
        response->keep_alive = 0;
    if (!server->stopping_since || !response->keep_alive)
        return;
    /* Pipelined requests are answered, too, but only for the grace time: a client that always sends more must not keep
     * the server from stopping. */
    response->keep_alive =
        connection->request.body.done && pel_now() - server->stopping_since < PEL_HTTP_GRACE &&
        (pel_buffer_length(&connection->stream->input) || pel_socket_unread(connection->stream->core.handle.fd));
}

/* A client that was busy within the grace time may be sending its next request. */
void pel_http_stop_idle(struct pel_http_connection *connection)
{
    if (connection->server->stopping_since - connection->idle_since < PEL_HTTP_GRACE)
        pel_http_set_grace_timeout(connection);
    else
        pel_http_close_idle(connection);
}

static void stop_all(struct pel_http_list *list)
{
    struct pel_http_connection *connection, *next;

    for (connection = list->first; connection; connection = next) {
        next = connection->next;
        connection->protocol->stop(connection);
    }
}

/* _drain(on_change): from now on each response is its connection's last. Connections without a request are closed, but
 * for those whose client was busy within the grace time. */
static VALUE server_drain(VALUE self, VALUE on_change)
{
    struct pel_http_server *server = pel_http_server_get(self);

    server->on_change = on_change;
    server->stopping_since = pel_now();
    stop_all(&server->http2);
    stop_all(&server->idle);
    return Qnil;
}

void pel_init_http_stop(VALUE server)
{
    rb_define_private_method(server, "_drain", server_drain, 1);
}
