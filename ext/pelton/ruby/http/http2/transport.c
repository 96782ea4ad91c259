#include "ruby/http/http2/frames.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "ruby/http/request/http_request.h"

/* The connection of HTTP/2: its stream's events, its deadline, its end. */

#define FAREWELL 512        /* bytes that are sent yet when the connection closes: GOAWAY */
#define RECEIVED_AT_ONCE 16 /* times the hot buffer: then it is the turn of other connections */

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void lose_client(struct pel_http_connection *connection)
{
    pel_http2_break_off(connection);
    pel_http_queue_proceed(connection);
}

/* Ends the connection if nothing is to come any more, and no application works for it. */
static void end_when_over(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (transport->streams || connection->state != PEL_HTTP_IDLE)
        return;
    if (transport->broken && connection->stream->core.error)
        pel_http_close(connection);
    else if (transport->over) {
        connection->request.body.done = 0; /* more of the client's bytes may come: lingers for them */
        pel_http_list_remove(connection);
        pel_http_close_when_sent(connection);
    }
}

/* ---- the deadline ------------------------------------------------------------------------------------------------ */

static void wait_for(struct pel_http_connection *connection, enum pel_http2_wait what, int64_t time)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (transport->waits == what)
        return;
    transport->waits = (uint8_t)what;
    if (!transport->stopping)
        pel_http_set_timeout(connection, time);
}

/* Called after whatever may have changed it. */
static void decide_deadline(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);
    struct pel_http_server *server = connection->server;

    if (connection->state != PEL_HTTP_IDLE)
        return;
    if (pel_http2_within_head_p(transport->session))
        wait_for(connection, PEL_HTTP2_FOR_HEAD, server->header_timeout);
    else if (transport->streams)
        wait_for(connection, PEL_HTTP2_FOR_NOTHING, PEL_FOREVER);
    else
        wait_for(connection, PEL_HTTP2_FOR_STREAM, server->idle_timeout);
    if (transport->waits != PEL_HTTP2_FOR_STREAM) {
        if (connection->list != &server->http2)
            pel_http_list_add(&server->http2, connection);
    } else if (connection->list != &server->idle && !pel_stream_pending(&connection->stream->core)) {
        connection->idle_since = pel_now();
        pel_buffer_free(&connection->stream->core.output);
        pel_http_list_add(&server->idle, connection);
    }
}

/* The client knows that the server stops: the streams that it has begun by now are the last. Or it has had the grace
 * time to learn it. */
static void name_last_when_known(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (transport->stopping && pel_http2_end_known_p(transport->session))
        pel_http2_name_last(connection);
}

static void timed_out(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (!transport->streams && (transport->ended || pel_stream_pending(&connection->stream->core))) {
        pel_http_close(connection); /* the client does not read */
        return;
    }
    pel_http_set_timeout(connection, connection->server->write_timeout);
    pel_http2_name_last(connection);
    if (transport->waits == PEL_HTTP2_FOR_HEAD) { /* streams that are answered are served yet */
        pel_http_report_refusal(connection, Qnil, "the request did not arrive in time");
        transport->over = 1;
    }
    pel_http2_send_now(connection);
    pel_http_queue_proceed(connection);
}

static void stop(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (transport->stopping || transport->broken)
        return;
    transport->stopping = 1;
    pel_http2_announce_end(transport->session);
    pel_http_set_grace_timeout(connection);
    pel_http2_send_later(connection);
}

/* The reactor stops. Applications that wait are cancelled by the reactor, and may still answer until it leaves. */
static void stop_root(struct pel_reactor *reactor, struct pel_root *root)
{
    struct pel_http_connection *connection = PEL_LINKED(struct pel_http_connection, root, root);

    if (connection->state == PEL_HTTP_IDLE && pel_http2_transport(connection)->streams &&
        reactor->phase != PEL_LEAVING) {
        pel_http2_name_last(connection);
        pel_roots_add(&reactor->roots, root, connection->self);
        return;
    }
    pel_http2_send_now(connection);
    pel_http_close(connection);
}

/* ---- receiving --------------------------------------------------------------------------------------------------- */

/* The session is told why by nghttp2, or by what has counted a flood. */
static void end_session(struct pel_http_connection *connection, int code)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    transport->over = 1;
    if (code == PEL_ELIMIT) {
        connection->server->http2_counts.floods++;
        pel_http_report_refusal(connection, Qnil, "the client sends too much of what only costs work");
    } else if (code == PEL_EPROTOCOL) {
        pel_http_report_refusal(connection, Qnil, "this is not HTTP/2");
    }
    pel_http2_fill(&connection->stream->core);
    pel_http2_break_off(connection);
    pel_stream_close_write(&connection->stream->core);
    if (code == PEL_EMEMORY)
        rb_memerror();
}

int pel_http2_take_bytes(struct pel_http_connection *connection, const char *bytes, size_t length)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);
    int code = pel_http2_receive(transport->session, bytes, length, connection->reactor->loop.now);

    pel_http2_notify(connection, pel_http2_begin);
    if (code < 0)
        end_session(connection, code);
    return code == 0;
}

/* 0: nothing more can be received at present. */
static int receive(struct pel_http_connection *connection)
{
    struct pel_reactor *reactor = connection->reactor;
    ssize_t count = pel_stream_receive(&connection->stream->core, pel_hot_buffer(reactor), PEL_HOT_BUFFER);

    if (count == PEL_EAGAIN)
        return 0;
    if (count <= 0) {
        lose_client(connection);
        return 0;
    }
    return pel_http2_take_bytes(connection, reactor->tick.hot_buffer, (size_t)count);
}

static VALUE proceed_protected(VALUE argument)
{
    struct pel_http_connection *connection = (struct pel_http_connection *)argument;
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (connection->state == PEL_HTTP_LINGERING && connection->lingers)
        pel_http_drain_until_end(connection);
    for (int count = 0; connection->state == PEL_HTTP_IDLE && !transport->over; count++) {
        if (pel_stream_pending(&connection->stream->core) > PEL_HTTP_MAX_UNSENT)
            break; /* the client does not read the answers to what it sends */
        if (count == RECEIVED_AT_ONCE) {
            pel_http_queue_proceed(connection);
            break;
        }
        if (!receive(connection))
            break;
    }
    if (connection->state != PEL_HTTP_IDLE)
        return Qnil;
    if (connection->requests >= connection->server->requests_limit)
        stop(connection);
    if (!transport->broken)
        name_last_when_known(connection);
    pel_http2_send_later(connection);
    if (!transport->queued)
        pel_stream_flush_scheduled(&connection->stream->core);
    end_when_over(connection);
    if (connection->state == PEL_HTTP_IDLE && !transport->broken)
        decide_deadline(connection);
    return Qnil;
}

static void run_proceed(struct pel_reactor *reactor, void *data)
{
    struct pel_http_connection *connection = data;
    VALUE self = connection->self, stream_object = connection->stream_object;
    int state;

    connection->queued = 0;
    if (connection->state == PEL_HTTP_GONE)
        return;
    pel_protect(proceed_protected, (VALUE)connection, &state);
    if (state) {
        pel_http_close(connection);
        pel_rethrow(state);
    }
    RB_GC_GUARD(self);
    RB_GC_GUARD(stream_object);
}

/* ---- events: C only ---------------------------------------------------------------------------------------------- */

static void on_ready(struct pel_stream *core, unsigned events)
{
    struct pel_http_connection *connection = ((struct stream *)core)->protocol;
    VALUE self = connection->self, stream_object = connection->stream_object;

    if (core->error) {
        if (connection->state == PEL_HTTP_IDLE)
            lose_client(connection);
        else
            pel_http_close(connection);
    }
    if (connection->state == PEL_HTTP_LINGERING && events & PEL_WRITABLE && !pel_stream_unsent_p(core))
        pel_http_last_response_sent(connection);
    if (connection->state == PEL_HTTP_IDLE && events & PEL_WRITABLE) {
        struct pel_http2_transport *transport = pel_http2_transport(connection);
        if (transport->more || !pel_stream_pending(core))
            pel_http2_send_later(connection);
        if (!transport->streams || pel_stream_receivable_p(core))
            pel_http_queue_proceed(connection);
    }
    if (connection->state != PEL_HTTP_GONE && events & (PEL_READABLE | PEL_HANGUP))
        pel_http_queue_proceed(connection);
    RB_GC_GUARD(self);
    RB_GC_GUARD(stream_object);
}

/* ---- the connection ---------------------------------------------------------------------------------------------- */

static size_t unsent(const struct pel_http_connection *connection)
{
    return pel_stream_pending(&connection->stream->core);
}

static void closed(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);
    struct pel_stream *core = &connection->stream->core;

    transport->streams++; /* keeps the session until its streams were notified */
    if (!transport->broken) {
        if (!transport->ended)
            pel_http2_end(transport->session);
        pel_http2_send(transport->session, &core->output, pel_buffer_length(&core->output) + FAREWELL);
        pel_stream_flush(core);
        pel_http2_break_off(connection);
    }
    core->on_flush = NULL;
    pel_http_server_remove(connection->server, connection->reactor);
    pel_stream_finish(connection->stream);
    transport->streams--;
    pel_http2_free_session(transport);
}

static void mark(const struct pel_http_connection *connection)
{
    (void)connection;
}

static void free_transport(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = pel_http2_transport(connection);

    if (transport->session) {
        pel_http2_forget_tunnels(transport->session);
        pel_http2_session_free(transport->session);
    }
    xfree(transport);
}

static const struct pel_http_protocol transport_protocol = {.major = 2,
                                                            .frames_bodies = 1,
                                                            .unsent = unsent,
                                                            .timed_out = timed_out,
                                                            .stop = stop,
                                                            .closed = closed,
                                                            .mark = mark,
                                                            .free = free_transport};

static int refuse_http2(struct pel_http_connection *connection, const char *bytes, size_t length)
{
    return 0;
}

static void never_answer(struct pel_reactor *reactor, void *connection)
{
}

static const struct pel_http_jobs transport_jobs = {
    .proceed = run_proceed, .answer = never_answer, .switch_to_http2 = refuse_http2};

void pel_http2_take_over(struct pel_http_connection *connection)
{
    struct pel_http2_transport *transport = ZALLOC(struct pel_http2_transport);
    struct pel_stream *core = &connection->stream->core;

    if (!(transport->session = pel_http2_session_new(&connection->server->http2_limits))) {
        xfree(transport);
        rb_memerror();
    }
    transport->on_tunnel = pel_http2_tunnel_news;
    transport->stop_stream = connection->root.stop;
    connection->root.stop = stop_root;
    connection->http2 = transport;
    connection->protocol = &transport_protocol;
    connection->jobs = &transport_jobs;
    core->on_ready = on_ready;
    core->on_flush = pel_http2_fill;
    core->notify_sent = 1;
    connection->server->http2_counts.connections++;
    if (connection->server->stopping_since)
        stop(connection);
}

#endif
