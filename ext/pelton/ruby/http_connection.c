#include "http.h"

#include "error.h"

/* A connection: its life, its events, and its end. */

#define LINGER ((int64_t)2 * 1000 * 1000 * 1000)

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void connection_mark(void *data)
{
    struct pel_http_connection *connection = data;

    rb_gc_mark(connection->self); /* pinned: C keeps it */
    rb_gc_mark(connection->stream_object);
    rb_gc_mark(connection->server_object);
    rb_gc_mark(connection->env);
    rb_gc_mark(connection->exchange);
    rb_gc_mark(connection->finished);
    rb_gc_mark(connection->early);
    rb_gc_mark(connection->closers);
    rb_gc_mark(connection->address);
    rb_gc_mark(connection->headers);
    rb_gc_mark(connection->fiber);
}

/* Until it is gone the reactor's list keeps it: so it is freed only together with its reactor, before or after it.
 * After: its timer is inactive; but not in a child after a fork, which leaves it alone. */
static void connection_free(void *data)
{
    struct pel_http_connection *connection = data;

    if (pel_timer_active(&connection->alarm.timer) && connection->fork_generation == pel_fork_generation)
        pel_timer_cancel(&connection->reactor->loop.timers, &connection->alarm.timer);
    xfree(connection);
}

static size_t connection_size(const void *data)
{
    return sizeof(struct pel_http_connection);
}

/* Protected by write barriers (PEL_HTTP_KEEP), or each minor collection would mark all that are idle. */
static const rb_data_type_t connection_type = {
    .wrap_struct_name = "Pelton::HTTP::Connection",
    .function = {.dmark = connection_mark, .dfree = connection_free, .dsize = connection_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

/* ---- the end -------------------------------------------------------------------------------------------------- */

/* It has no request any more, or none that counts. */
void pel_http_uncount(struct pel_http_connection *connection)
{
    if (!connection->counted)
        return;
    connection->counted = 0;
    connection->server->running--;
    pel_http_grant(connection->server);
}

/* They refer to it no more: what they find then may be the next request's. */
static void wake(struct pel_http_connection *connection)
{
    if (connection->reader)
        pel_waiter_fire(connection->reactor, connection->reader);
    if (connection->writer)
        pel_waiter_fire(connection->reactor, connection->writer);
    connection->reader = connection->writer = NULL;
}

/* Everything but the stream. */
static void leave(struct pel_http_connection *connection)
{
    connection->state = PEL_HTTP_GONE;
    pel_http_list_remove(connection);
    pel_timer_cancel(&connection->reactor->loop.timers, &connection->alarm.timer);
    pel_list_remove(&connection->reactor->list, &connection->listed);
    connection->reactor->references--;
    pel_http_server_remove(connection->server, connection->reactor);
    if (!connection->in_app)
        pel_http_uncount(connection);
    wake(connection);
}

void pel_http_close(struct pel_http_connection *connection)
{
    VALUE self = connection->self;

    if (connection->state == PEL_HTTP_GONE)
        return;
    connection->aborted |= connection->state == PEL_HTTP_BUSY;
    leave(connection);
    pel_stream_finish(connection->stream);
    RB_GC_GUARD(self);
}

/* The reactor stops: an application that waits is cancelled by it, and may still answer until the reactor leaves. */
static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    struct pel_http_connection *connection =
        (struct pel_http_connection *)((char *)listed - offsetof(struct pel_http_connection, listed));

    connection->keep_alive = 0;
    if (connection->in_app && reactor->phase != PEL_LEAVING) {
        pel_list_add(&reactor->list, listed, connection->self);
        return;
    }
    pel_stream_flush(&connection->stream->core);
    connection->aborted = 1;
    if (connection->state == PEL_HTTP_BUSY && !connection->in_app)
        pel_http_end_exchange(connection);
    pel_http_close(connection);
    pel_http_uncount(connection); /* its fiber, if it has one, never goes on */
}

/* After the last response. Whoever closes while bytes of the peer are on their way destroys what the peer has not read
 * yet: so then only our side is shut, and the rest is dropped. */
void pel_http_close_when_sent(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    connection->state = PEL_HTTP_LINGERING;
    connection->unsent = UINT64_MAX;
    connection->lingers = (!connection->body_done || pel_buffer_length(&connection->stream->input) ||
                           pel_socket_unread(core->handle.fd)) &&
                          !core->end_of_file;
    pel_http_limit(connection, connection->server->write_timeout);
    if (connection->lingers)
        pel_buffer_free(&connection->stream->input);
    if (connection->lingers || core->layer) /* a layer has a last word of its own */
        pel_stream_close_write(core);
    if (pel_stream_pending(core) && !core->error)
        pel_stream_flush(core);
    if (core->error || (!connection->lingers && !pel_stream_unsent_p(core))) {
        pel_http_close(connection);
        return;
    }
    if (connection->lingers) {
        pel_http_queue(connection);
        if (!pel_stream_unsent_p(core))
            pel_http_limit(connection, LINGER);
    }
    if (pel_stream_unsent_p(core) && core->writable)
        pel_stream_flush_later(core);
}

/* Everything was sent, and nothing was begun. */
static void rest(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;

    if (connection->list || pel_buffer_length(&connection->stream->input) ||
        pel_http1_parser_within(&connection->parser))
        return;
    connection->rested = pel_now(); /* the loop's time may be the last handler's beginning */
    if (server->stopping)
        pel_http_last_chance(connection);
    pel_buffer_free(&connection->stream->input);
    pel_buffer_free(&connection->stream->core.output);
    pel_http_list_add(&server->idle, connection);
}

/* ---- events: C only ------------------------------------------------------------------------------------------- */

static void on_sent(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;
    size_t pending = pel_stream_pending(core);

    if (connection->writer)
        pel_waiter_fire(connection->reactor, connection->writer);
    pel_stream_write_ready(connection->stream);
    if (connection->state == PEL_HTTP_IDLE && !pending)
        rest(connection);
    if (connection->state == PEL_HTTP_IDLE && pending < PEL_HTTP_OUTPUT_LIMIT &&
        (pel_stream_receivable_p(core) || pel_buffer_length(&connection->stream->input)))
        pel_http_queue(connection);
    if (connection->state == PEL_HTTP_LINGERING && !pel_stream_unsent_p(core)) {
        if (!connection->lingers && !core->layer && pel_socket_unread(core->handle.fd)) {
            connection->lingers = 1;
            pel_stream_close_write(core);
            pel_http_queue(connection);
        }
        if (!connection->lingers)
            pel_http_close(connection);
        else
            pel_http_limit(connection, LINGER);
    }
}

static int answering_p(const struct pel_http_connection *connection)
{
    return connection->state == PEL_HTTP_BUSY || connection->state == PEL_HTTP_WAITING;
}

/* While a request is answered nothing is received, so a reset is looked for: the answer may be given up. A peer that
 * has only shut its side still wants it, unless the application sees it otherwise (async.close). */
static void look_for_reset(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    pel_http_tell_close(connection);
    if (!core->error)
        core->error = pel_socket_gone(core->handle.fd);
    if (!core->error)
        return;
    connection->aborted = 1;
    wake(connection);
    pel_stream_write_ready(connection->stream);
    if (connection->state == PEL_HTTP_WAITING)
        pel_http_close(connection);
    else if (!connection->in_app)
        pel_http_end_exchange(connection);
}

static void on_ready(struct pel_stream *core, unsigned events)
{
    struct pel_http_connection *connection = ((struct stream *)core)->protocol;
    VALUE self = connection->self, stream_object = connection->stream_object;

    if (answering_p(connection)) {
        if (core->error || events & PEL_HANGUP)
            look_for_reset(connection);
    } else if (core->error) {
        pel_http_close(connection);
    }
    if (connection->state != PEL_HTTP_GONE && events & PEL_WRITABLE)
        on_sent(connection);
    if (connection->state != PEL_HTTP_GONE && events & (PEL_READABLE | PEL_HANGUP)) {
        if (connection->reader)
            pel_waiter_fire(connection->reactor, connection->reader);
        pel_http_queue(connection);
    }
    RB_GC_GUARD(self);
    RB_GC_GUARD(stream_object);
}

/* ---- the job -------------------------------------------------------------------------------------------------- */

void pel_http_mark_job(void *data)
{
    rb_gc_mark(((struct pel_http_connection *)data)->self);
}

static VALUE run_protected(VALUE argument)
{
    struct pel_http_connection *connection = (struct pel_http_connection *)argument;

    if (answering_p(connection)) {
        if (connection->stream->core.hangup)
            look_for_reset(connection);
        return Qnil;
    }
    if (connection->state == PEL_HTTP_DRAINING)
        pel_http_drain(connection);
    if (connection->state == PEL_HTTP_IDLE) /* behind what was dropped there may be another request */
        pel_http_read_requests(connection);
    if (connection->state == PEL_HTTP_LINGERING && connection->lingers)
        pel_http_drop_input(connection);
    return Qnil;
}

static void run(struct pel_reactor *reactor, void *data)
{
    struct pel_http_connection *connection = data;
    VALUE self = connection->self, stream_object = connection->stream_object;
    int state;

    connection->queued = 0;
    pel_protect(run_protected, (VALUE)connection, &state);
    if (state) {
        pel_http_close(connection);
        pel_rethrow(state);
    }
    RB_GC_GUARD(self);
    RB_GC_GUARD(stream_object);
}

static void drop_job(void *data)
{
    ((struct pel_http_connection *)data)->queued = 0;
}

void pel_http_queue(struct pel_http_connection *connection)
{
    if (connection->queued || answering_p(connection) || connection->state == PEL_HTTP_GONE)
        return;
    connection->queued = 1;
    pel_enqueue(connection->reactor,
                (struct pel_job){.run = run, .mark = pel_http_mark_job, .drop = drop_job, .data = connection});
}

/* ---- after a response ----------------------------------------------------------------------------------------- */

void pel_http_idle(struct pel_http_connection *connection)
{
    connection->state = PEL_HTTP_IDLE;
    connection->unsent = UINT64_MAX;
    pel_http_limit(connection, connection->server->idle_timeout);
    if (!pel_stream_pending(&connection->stream->core))
        rest(connection);
}

void pel_http_end_exchange(struct pel_http_connection *connection)
{
    pel_http_exchange_end(connection->exchange);
    connection->exchange = Qfalse;
    pel_http_list_remove(connection);
    wake(connection);
    if (connection->state != PEL_HTTP_BUSY || connection->stream->core.error ||
        (connection->aborted && connection->raw)) { /* an orderly end would say that it is complete */
        pel_http_close(connection);
    } else if (connection->aborted || !connection->keep_alive) { /* what was said before, to other requests, is sent */
        pel_http_close_when_sent(connection);
    } else if (connection->body_done) {
        pel_http_idle(connection);
    } else {
        connection->state = PEL_HTTP_DRAINING;
        connection->unsent = UINT64_MAX;
        pel_http_limit(connection, connection->server->header_timeout);
    }
    pel_http_uncount(connection);
    pel_http_tell_end(connection);
    if (connection->state != PEL_HTTP_GONE && connection->state != PEL_HTTP_LINGERING &&
        (connection->state == PEL_HTTP_DRAINING || pel_stream_receivable_p(&connection->stream->core) ||
         pel_buffer_length(&connection->stream->input)))
        pel_http_queue(connection);
}

/* ---- taking a stream over, giving it away ----------------------------------------------------------------------- */

void pel_http_serve(struct pel_http_server *server, VALUE stream_object)
{
    struct stream *stream = pel_stream_get(stream_object);
    struct pel_http_connection *connection;
    VALUE self;

    if (stream->protocol || stream->reading || !NIL_P(stream->on_data))
        rb_raise(pel_eError, "this stream is read by somebody else: hand over one that nobody uses");
    if (!pel_http_server_fits(server, stream->reactor))
        rb_raise(pel_eError, "this server serves on another thread: make one for each");
    self = TypedData_Make_Struct(rb_cObject, struct pel_http_connection, &connection_type, connection);
    connection->self = self;
    connection->stream = stream;
    PEL_HTTP_KEEP(connection, stream_object, stream_object);
    connection->server = server;
    PEL_HTTP_KEEP(connection, server_object, server->self);
    connection->reactor = stream->reactor;
    connection->fork_generation = pel_fork_generation;
    connection->body_done = 1;
    connection->began = connection->reactor->loop.now;
    connection->rested = pel_now();
    connection->alarm.ring = pel_http_ring;
    connection->listed.stop = stop;
    pel_http1_parser_init(&connection->parser, PEL_HTTP1_REQUEST, &server->limits);
    stream->protocol = connection;
    stream->own_ready = stream->core.on_ready;
    stream->core.on_ready = on_ready;
    pel_list_add(&connection->reactor->list, &connection->listed, self);
    connection->reactor->references++;
    pel_http_server_add(server, connection->reactor);
    pel_http_list_add(&server->idle, connection);
    if (server->stopping)
        pel_http_last_chance(connection);
    else
        pel_http_limit(connection, server->header_timeout);
    pel_http_queue(connection);
    RB_GC_GUARD(self);
}

void pel_http_let_go(struct pel_http_connection *connection)
{
    struct stream *stream = connection->stream;

    stream->core.on_ready = stream->own_ready;
    stream->protocol = NULL;
    stream->appended = pel_stream_pending(&stream->core);
    if (stream->appended) {
        pel_stream_hold(stream, HELD_BY_OUTPUT);
        if (stream->core.writable)
            pel_stream_flush_later(&stream->core);
    }
    leave(connection);
}
