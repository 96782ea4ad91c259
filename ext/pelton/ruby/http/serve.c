#include "ruby/http/http.h"

#include "ruby/http/connection/http_connection.h"
#include "ruby/http/http2/http2.h"
#include "ruby/http/request/http_request.h"

/* The top of a connection: its stream's events, its jobs, its stop; and how a server takes a stream over. */

/* ---- events: C only ---------------------------------------------------------------------------------------------- */

static void handle_sent(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (connection->response.writer)
        pel_waiter_fire(connection->reactor, connection->response.writer);
    pel_stream_write_ready(connection->stream);
    if (connection->state == PEL_HTTP_IDLE) {
        pel_http_join_idle(connection);
        if (pel_stream_pending(core) < PEL_HTTP_MAX_UNSENT &&
            (pel_stream_receivable_p(core) || pel_buffer_length(&connection->stream->input)))
            pel_http_queue_proceed(connection);
    } else if (connection->state == PEL_HTTP_LINGERING && !pel_stream_unsent_p(core)) {
        pel_http_last_response_sent(connection);
    }
}

/* While a request is answered nothing is received, so a reset must be looked for: the response may be given up. A peer
 * that has only shut its side still wants the response, unless the application sees it otherwise (async.close). */
static void look_for_reset(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    pel_http_notify_client_closed(connection);
    if (!core->error)
        core->error = pel_socket_gone(core->handle.fd);
    if (!core->error)
        return;
    pel_stream_write_ready(connection->stream);
    pel_http_client_left(connection);
}

static void http_on_ready(struct pel_stream *core, unsigned events)
{
    struct pel_http_connection *connection = ((struct stream *)core)->protocol;
    VALUE self = connection->self, stream_object = connection->stream_object;

    if (pel_http_answering_p(connection)) {
        if (core->error || events & PEL_HANGUP)
            look_for_reset(connection);
    } else if (core->error) {
        pel_http_close(connection);
    }
    if (connection->state != PEL_HTTP_GONE && events & PEL_WRITABLE)
        handle_sent(connection);
    if (connection->state != PEL_HTTP_GONE && events & (PEL_READABLE | PEL_HANGUP)) {
        if (connection->request.body.reader)
            pel_waiter_fire(connection->reactor, connection->request.body.reader);
        pel_http_queue_proceed(connection);
    }
    RB_GC_GUARD(self);
    RB_GC_GUARD(stream_object);
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

static VALUE proceed_protected(VALUE argument)
{
    struct pel_http_connection *connection = (struct pel_http_connection *)argument;

    if (pel_http_answering_p(connection)) {
        if (connection->stream->core.hangup)
            look_for_reset(connection);
        return Qnil;
    }
    if (connection->state == PEL_HTTP_DRAINING)
        pel_http_drain_body(connection);
    if (connection->state == PEL_HTTP_IDLE) /* the dropped body may be followed by another request */
        pel_http_read_requests(connection);
    if (connection->state == PEL_HTTP_LINGERING && connection->lingers)
        pel_http_drain_until_end(connection);
    return Qnil;
}

/* A job of the connection is done. Its response leaves now, so that the client works while the next connection's job
 * runs; but responses to requests that are at hand already share a send. */
static void send_responses(struct pel_http_connection *connection)
{
    if (!pel_buffer_length(&connection->stream->input) && !pel_loop_inherited(&connection->reactor->loop))
        pel_stream_flush_scheduled(&connection->stream->core);
}

static void run_proceed(struct pel_reactor *reactor, void *data)
{
    struct pel_http_connection *connection = data;
    VALUE stream_object = connection->stream_object;
    int state;

    connection->queued = 0;
    pel_protect(proceed_protected, (VALUE)connection, &state);
    if (state) {
        pel_http_close(connection);
        pel_rethrow(state);
    }
    send_responses(connection);
    RB_GC_GUARD(stream_object);
}

static void run_answer(struct pel_reactor *reactor, void *data)
{
    struct pel_http_connection *connection = data;
    VALUE stream_object = connection->stream_object;

    connection->server->held--;
    if (connection->state == PEL_HTTP_WAITING)
        pel_http_answer(connection);
    else
        pel_http_release_slot(connection);
    send_responses(connection);
    pel_http_queue_proceed(connection);
    RB_GC_GUARD(stream_object);
}

static const struct pel_http_jobs connection_jobs = {
    .proceed = run_proceed, .answer = run_answer, .resume = pel_http_resume, .switch_to_http2 = pel_http2_serve};

/* ---- the reactor's stop ------------------------------------------------------------------------------------------ */

/* An application that waits is cancelled by the reactor, and may still answer until the reactor leaves. */
static void stop_http_connection(struct pel_reactor *reactor, struct pel_root *root)
{
    struct pel_http_connection *connection = PEL_LINKED(struct pel_http_connection, root, root);

    connection->response.keep_alive = 0;
    if (connection->request.in_application && reactor->phase != PEL_LEAVING) {
        pel_roots_add(&reactor->roots, root, connection->self);
        return;
    }
    pel_stream_flush(&connection->stream->core);
    connection->response.aborted = 1;
    if (connection->state == PEL_HTTP_BUSY && !connection->request.in_application)
        pel_http_end_exchange(connection);
    pel_http_close(connection);
    pel_http_release_slot(connection); /* the application's fiber, if there is one, never goes on */
}

/* ---- taking a stream over ---------------------------------------------------------------------------------------- */

static void take_over(struct pel_http_connection *connection)
{
    struct stream *stream = connection->stream;

    stream->protocol = connection;
    stream->own_ready = stream->core.on_ready;
    stream->core.on_ready = http_on_ready;
    connection->jobs = &connection_jobs;
    connection->protocol = &pel_http1_protocol;
    connection->timer.on_timeout = pel_http_on_timeout;
    connection->root.stop = stop_http_connection;
    pel_roots_add(&connection->reactor->roots, &connection->root, connection->self);
    connection->reactor->references++;
}

/* Takes over what TLS has chosen for the name that the client asked for. */
static void note_choice(struct pel_http_connection *connection)
{
    VALUE choice, name;

    if (!connection->stream->core.layer)
        return;
    choice = rb_funcall(connection->stream_object, rb_intern("_tls_choice"), 0);
    if (NIL_P(choice))
        return;
    PEL_HTTP_KEEP(connection, choice, choice);
    name = rb_funcall(choice, rb_intern("name"), 0);
    if (NIL_P(name))
        return;
    StringValueCStr(name); /* C compares it up to its NUL */
    PEL_HTTP_KEEP(connection, host, name);
}

/* serve(stream) */
static VALUE server_serve(VALUE self, VALUE stream_object)
{
    struct pel_http_server *server = pel_http_server_get(self);
    struct pel_http_connection *connection;
    struct stream *stream;
    VALUE object;

    if (!server->env_template)
        rb_raise(pel_eError, "this server was never set up: initialize was not called");
    pel_reactor_running("Server#serve");
    stream = pel_stream_get(stream_object);
    if (stream->protocol || stream->reads.under_way || !NIL_P(stream->delivery.on_data))
        rb_raise(pel_eError, "this stream is already being read: hand over a stream that nothing reads");
    if (!pel_http_server_usable_p(server, stream->reactor))
        rb_raise(pel_eError, "this server serves on another thread already: make one server for each thread");
    connection = pel_http_connection_new(server, stream_object);
    object = connection->self;
    note_choice(connection);
    take_over(connection);
    server->reclaimer.close_some = pel_http_close_some_idle;
    pel_http_server_add(server, connection->reactor);
    pel_http_list_add(&server->idle, connection);
    if (server->stopping_since)
        pel_http_set_grace_timeout(connection);
    else
        pel_http_set_timeout(connection, server->header_timeout);
    pel_http_queue_proceed(connection);
    RB_GC_GUARD(object);
    return Qnil;
}

void pel_init_http_serve(VALUE server)
{
    rb_define_method(server, "serve", server_serve, 1);
}
