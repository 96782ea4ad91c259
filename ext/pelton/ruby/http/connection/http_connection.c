#include "ruby/http/connection/http_connection.h"

#include "core/files/open_files.h"
#include "ruby/http/connection/flight.h"

/* Nanoseconds that the peer has for its end after the last response was sent. */
#define LINGER_TIMEOUT ((int64_t)2 * 1000 * 1000 * 1000)

void pel_http_drop_file(struct pel_http_connection *connection)
{
    struct pel_open_file *file = connection->request.file.open;

    connection->request.file.open = NULL;
    if (file)
        pel_open_file_release(file);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void http_connection_mark(void *data)
{
    struct pel_http_connection *connection = data;
    struct pel_http_request *request = &connection->request;

    rb_gc_mark(connection->self); /* pinned: C keeps it */
    rb_gc_mark(connection->stream_object);
    rb_gc_mark(connection->server_object);
    rb_gc_mark(connection->parent);
    rb_gc_mark(connection->address);
    rb_gc_mark(connection->choice);
    rb_gc_mark(connection->host);
    rb_gc_mark(request->env);
    rb_gc_mark(request->exchange);
    rb_gc_mark(request->finish_callbacks);
    rb_gc_mark(request->close_callbacks);
    rb_gc_mark(request->failure);
    rb_gc_mark(request->fiber);
    rb_gc_mark(request->cache_key);
    rb_gc_mark(connection->response.headers);
    rb_gc_mark(connection->response.callback_response);
    if (connection->http2)
        connection->protocol->mark(connection);
}

/* Until the connection is gone it is one of the reactor's GC roots, so it is freed only together with its reactor,
 * before or after it. If after, its timer is inactive, except in a child after a fork, which leaves the timer alone. */
static void http_connection_free(void *data)
{
    struct pel_http_connection *connection = data;

    PEL_CHECK_NOT(connection->state == PEL_HTTP_GONE && (connection->list || connection->root.next),
                  "an HTTP connection that is gone was freed while a list still refers to it");
    if (pel_timer_active(&connection->timer.entry) && connection->fork_generation == pel_fork_generation)
        pel_timer_cancel(&connection->reactor->loop.timers, &connection->timer.entry);
    pel_http_drop_file(connection);
    if (connection->http2)
        connection->protocol->free(connection);
    PEL_FREE(connection);
}

static size_t http_connection_size(const void *data)
{
    return sizeof(struct pel_http_connection);
}

/* Protected by write barriers (PEL_HTTP_KEEP), or each minor collection would mark all idle connections. */
static const rb_data_type_t http_connection_type = {
    .wrap_struct_name = "Pelton::HTTP::Connection",
    .function = {.dmark = http_connection_mark, .dfree = http_connection_free, .dsize = http_connection_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

struct pel_http_connection *pel_http_connection_new(struct pel_http_server *server, VALUE stream_object)
{
    struct stream *stream = pel_stream_get(stream_object);
    struct pel_http_connection *connection;
    VALUE self = TypedData_Make_Struct(rb_cObject, struct pel_http_connection, &http_connection_type, connection);

    connection->self = self;
    connection->stream = stream;
    PEL_HTTP_KEEP(connection, stream_object, stream_object);
    connection->server = server;
    PEL_HTTP_KEEP(connection, server_object, server->self);
    connection->reactor = stream->reactor;
    connection->fork_generation = pel_fork_generation;
    connection->request.body.done = 1;
    connection->idle_since = pel_now();
    pel_http1_parser_init(&connection->parser, PEL_HTTP1_REQUEST, &server->limits);
    return connection;
}

struct pel_http_connection *pel_http_connection_p(VALUE object)
{
    return rb_typeddata_is_kind_of(object, &http_connection_type) ? RTYPEDDATA_DATA(object) : NULL;
}

/* The waiters refer to the connection no more: what they would find in it may be the next request's. */
void pel_http_wake_waiters(struct pel_http_connection *connection)
{
    struct pel_waiter **reader = &connection->request.body.reader, **writer = &connection->response.writer;

    if (*reader)
        pel_waiter_fire(connection->reactor, *reader);
    if (*writer)
        pel_waiter_fire(connection->reactor, *writer);
    *reader = *writer = NULL;
}

/* ---- between two requests ---------------------------------------------------------------------------------------- */

void pel_http_join_idle(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;

    if (connection->list || pel_stream_pending(&connection->stream->core) ||
        pel_buffer_length(&connection->stream->input) || pel_http1_parser_within(&connection->parser))
        return;
    connection->idle_since = pel_now(); /* the loop's time may be the last handler's beginning */
    if (server->stopping_since)
        pel_http_set_grace_timeout(connection);
    pel_buffer_free(&connection->stream->input);
    pel_buffer_free(&connection->stream->core.output);
    pel_http_list_add(&server->idle, connection);
}

void pel_http_become_idle(struct pel_http_connection *connection)
{
    pel_http_become(connection, PEL_HTTP_IDLE);
    connection->unsent_at_start = SIZE_MAX;
    pel_http_set_timeout(connection, connection->server->idle_timeout);
    pel_http_join_idle(connection);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void pel_http_leave_server(struct pel_http_connection *connection)
{
    pel_http_become(connection, PEL_HTTP_GONE);
    pel_http_list_remove(connection);
    pel_timer_cancel(&connection->reactor->loop.timers, &connection->timer.entry);
    pel_roots_remove(&connection->reactor->roots, &connection->root);
    connection->reactor->references--;
    if (!connection->request.in_application)
        pel_http_release_slot(connection);
    pel_http_drop_file(connection);
    pel_http_flight_leave(connection);
    pel_http_wake_waiters(connection);
}

void pel_http_close(struct pel_http_connection *connection)
{
    VALUE self = connection->self;

    if (connection->state == PEL_HTTP_GONE)
        return;
    connection->response.aborted |= connection->state == PEL_HTTP_BUSY;
    pel_http_leave_server(connection);
    connection->protocol->closed(connection);
    RB_GC_GUARD(self);
}

void pel_http_close_when_sent(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    pel_http_become(connection, PEL_HTTP_LINGERING);
    connection->unsent_at_start = SIZE_MAX;
    connection->lingers = (!connection->request.body.done || pel_buffer_length(&connection->stream->input) ||
                           pel_socket_unread(core->handle.fd)) &&
                          !core->end_of_file;
    pel_http_set_timeout(connection, connection->server->write_timeout);
    if (connection->lingers)
        pel_buffer_free(&connection->stream->input);
    if (connection->lingers || core->layer) /* a layer has its own end to send (TLS: close_notify) */
        pel_stream_close_write(core);
    if (pel_stream_pending(core) && !core->error)
        pel_stream_flush(core);
    if (core->error || (!connection->lingers && !pel_stream_unsent_p(core))) {
        pel_http_close(connection);
        return;
    }
    if (connection->lingers) {
        pel_http_queue_proceed(connection);
        if (!pel_stream_unsent_p(core))
            pel_http_set_timeout(connection, LINGER_TIMEOUT);
    }
    if (pel_stream_unsent_p(core) && core->writable)
        pel_stream_flush_later(core);
}

void pel_http_last_response_sent(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (!connection->lingers && !core->layer && pel_socket_unread(core->handle.fd)) {
        connection->lingers = 1;
        pel_stream_close_write(core);
        pel_http_queue_proceed(connection);
    }
    if (connection->lingers)
        pel_http_set_timeout(connection, LINGER_TIMEOUT);
    else
        pel_http_close(connection);
}

void pel_http_detach_stream(struct pel_http_connection *connection)
{
    struct stream *stream = connection->stream;

    stream->core.on_ready = stream->own_ready;
    stream->protocol = NULL;
    stream->writes.appended = pel_stream_pending(&stream->core);
    if (stream->writes.appended) {
        pel_stream_retain(stream, RETAINED_BY_OUTPUT);
        if (stream->core.writable)
            pel_stream_flush_later(&stream->core);
    }
    pel_http_leave_server(connection);
    pel_http_server_remove(connection->server, connection->reactor);
}
