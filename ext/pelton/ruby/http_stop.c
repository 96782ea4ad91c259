#include "http.h"

#include <string.h>

/*
 * How a server stops without losing a request. A client whose connection was just in use may be sending its next
 * request on it, so it is told first, by a response's "connection: close", or has a moment in which nothing comes. What
 * has come is always read before a connection is closed.
 */

#define MOMENT ((int64_t)1000 * 1000 * 1000)

int pel_http_close_idle(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (!core->error && pel_socket_unread(core->handle.fd)) { /* its event is about to come, or its job */
        pel_http_last_chance(connection);
        pel_http_queue(connection);
        return 0;
    }
    pel_http_close(connection);
    return 1;
}

void pel_http_last_chance(struct pel_http_connection *connection)
{
    pel_http_limit(connection, pel_now() - connection->reactor->loop.now + MOMENT);
}

void pel_http_decide_end(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;

    /* A body that was announced and not asked for may come, or not: so nothing can follow it. */
    if (!connection->body_done && connection->expects)
        connection->keep_alive = 0;
    if (!server->stopping || !connection->keep_alive)
        return;
    /* Requests that were pipelined are answered, too; but a client that always sends some has no right to the server.
     */
    connection->keep_alive =
        connection->body_done && pel_now() - server->stopping < MOMENT &&
        (pel_buffer_length(&connection->stream->input) || pel_socket_unread(connection->stream->core.handle.fd));
}

/* From now on each response is its connection's last. Connections without one are closed, but for those whose client
 * was busy a moment ago. */
static VALUE server_drain(VALUE self)
{
    struct pel_http_server *server = pel_http_server_get(self);
    struct pel_http_connection *connection, *next;

    server->stopping = pel_now();
    for (connection = server->idle.first; connection; connection = next) {
        next = connection->next;
        if (server->stopping - connection->rested < MOMENT)
            pel_http_last_chance(connection);
        else
            pel_http_close_idle(connection);
    }
    return Qnil;
}

/* ---- event streams --------------------------------------------------------------------------------------------- */

static int content_type(VALUE name, VALUE value, VALUE found)
{
    static const char events[] = "text/event-stream";
    size_t length = sizeof events - 1;

    if (RB_TYPE_P(name, T_STRING) && RB_TYPE_P(value, T_STRING) && (size_t)RSTRING_LEN(value) >= length &&
        pel_http1_equal((struct pel_slice){RSTRING_PTR(name), (size_t)RSTRING_LEN(name)}, "content-type"))
        *(int *)found = !memcmp(RSTRING_PTR(value), events, length);
    return ST_CONTINUE;
}

/* What an EventSource asks for: it connects again by itself. Others send what cannot be asked for twice. */
void pel_http_remember_events(struct pel_http_connection *connection, VALUE headers)
{
    int found = 0;

    if (!connection->get_request || connection->has_length)
        return;
    rb_hash_foreach(headers, content_type, (VALUE)&found);
    if (found)
        pel_http_list_add(&connection->server->events, connection);
}

/* Ends them in good order, as though their clients had left. */
static VALUE server_end_events(VALUE self)
{
    struct pel_http_server *server = pel_http_server_get(self);
    struct pel_http_connection *connection;

    while ((connection = server->events.first)) {
        VALUE object = connection->self;
        pel_http_list_remove(connection);
        connection->keep_alive = 0;
        connection->cut_short = 1;
        if (connection->chunked)
            pel_http_finish_body(connection, Qnil);
        pel_http_end_exchange(connection);
        RB_GC_GUARD(object);
    }
    return Qnil;
}

void pel_init_http_stop(VALUE server)
{
    rb_define_private_method(server, "_end_events", server_end_events, 0);
    rb_define_private_method(server, "_drain", server_drain, 0);
}
