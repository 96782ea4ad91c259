#include "ruby/http/http2/frames.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "ruby/http/request/http_request.h"
#include "ruby/http/response/http_response.h"

/* A stream's request begins: its head becomes the env, and a job calls the application, or it waits for a slot. */

/* ---- jobs: each stream has its own, since the application may wait ---------------------------------------------- */

/* When the last of a connection's streams that were ready is answered, their responses leave together. The stream's
 * object keeps that of its connection. */
static void run_stream(struct pel_http_connection *stream)
{
    VALUE self = stream->self;
    struct pel_http_connection *connection = pel_http2_connection(stream);

    if (stream->state == PEL_HTTP_WAITING)
        pel_http_answer(stream);
    else
        pel_http_release_slot(stream);
    if (!pel_http2_transport(connection)->queued && !pel_loop_inherited(&connection->reactor->loop))
        pel_http2_send_now(connection);
    RB_GC_GUARD(self);
}

static void run_answer(struct pel_reactor *reactor, void *data)
{
    struct pel_http_connection *stream = data;

    stream->server->held--;
    run_stream(stream);
}

/* The first job of a stream, which counts among those queued. */
static void leave_queue(void *data)
{
    struct pel_http_connection *stream = data;

    pel_http2_transport(pel_http2_connection(stream))->queued--;
    stream->server->held--;
}

static void run_first_answer(struct pel_reactor *reactor, void *data)
{
    leave_queue(data);
    run_stream(data);
}

/* The same of an urgent one, which needs no slot. */
static void leave_queue_urgently(void *data)
{
    pel_http2_transport(pel_http2_connection(data))->queued--;
}

static void run_urgent_answer(struct pel_reactor *reactor, void *data)
{
    leave_queue_urgently(data);
    run_stream(data);
}

static void proceed(struct pel_reactor *reactor, void *data)
{
    ((struct pel_http_connection *)data)->queued = 0; /* nothing but the connection receives */
}

static int refuse_http2(struct pel_http_connection *stream, const char *bytes, size_t length)
{
    return 0;
}

static const struct pel_http_jobs stream_jobs = {
    .proceed = proceed, .answer = run_answer, .resume = pel_http_resume, .switch_to_http2 = refuse_http2};

static void queue_answer(struct pel_http_connection *stream)
{
    struct pel_job job = {
        .run = run_urgent_answer, .drop = leave_queue_urgently, .data = stream, .object = stream->self};

    pel_http_become(stream, PEL_HTTP_WAITING);
    pel_http2_transport(pel_http2_connection(stream))->queued++;
    if (stream->request.holds_slot) {
        stream->server->held++;
        job.run = run_first_answer;
        job.drop = leave_queue;
        job.rank.arrived = stream->request.began;
    }
    pel_enqueue(stream->reactor, job);
}

static void dispatch(struct pel_http_connection *stream)
{
    struct pel_http_server *server = stream->server;
    int urgent = stream->request.for_file || pel_http_urgent_p(stream);

    pel_http_set_timeout(stream, server->request_timeout);
    if (urgent)
        pel_http_list_remove(stream);
    if (stream->list) { /* of a flight */
        pel_http_become(stream, PEL_HTTP_WAITING);
    } else if (urgent || pel_http_take_slot(stream)) {
        queue_answer(stream);
    } else if (server->waiting.count < server->queue_limit) {
        pel_http_become(stream, PEL_HTTP_WAITING);
        pel_http_list_add(&server->waiting, stream);
    } else {
        pel_http_refuse_overload(stream);
    }
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static struct pel_http_connection *make_stream(struct pel_http_connection *connection, struct pel_http2_stream *core)
{
    VALUE address = pel_http_remote_address(connection);
    struct pel_http_connection *stream = pel_http_connection_new(connection->server, connection->stream_object);
    VALUE self = stream->self; /* no GC root yet */

    PEL_HTTP_KEEP(stream, parent, connection->self);
    PEL_HTTP_KEEP(stream, address, address);
    PEL_HTTP_KEEP(stream, choice, connection->choice);
    PEL_HTTP_KEEP(stream, host, connection->host);
    stream->protocol = &pel_http2_stream_protocol;
    stream->jobs = &stream_jobs;
    stream->timer.on_timeout = connection->timer.on_timeout;
    stream->root.stop = pel_http2_transport(connection)->stop_stream;
    stream->deadline = PEL_FOREVER;
    stream->http2 = core;
    core->owner = stream;
    pel_roots_add(&stream->reactor->roots, &stream->root, stream->self);
    stream->reactor->references++;
    pel_http2_transport(connection)->streams++;
    RB_GC_GUARD(self);
    return stream;
}

/* What is too long or too much gets a response that says so; what is malformed gets none (RFC 9113, 8.1.1). */
static void refuse(struct pel_http_connection *stream, struct pel_http2_stream *core)
{
    enum pel_http1_fault fault = (enum pel_http1_fault)core->fault;
    unsigned status = pel_http1_fault_status(fault);

    if (status != 400) {
        pel_http_refuse(stream, status, pel_http1_fault_text(fault));
        return;
    }
    pel_http_report_refusal(stream, Qnil, pel_http1_fault_text(fault));
    pel_http2_reset(core, PEL_HTTP2_PROTOCOL_ERROR);
    pel_http_close(stream);
}

void pel_http2_begin(struct pel_http_connection *connection, struct pel_http2_stream *core)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    struct pel_http_server *server = connection->server;
    struct pel_http_connection *stream = make_stream(connection, core);
    struct pel_http_cached cached = {.item = NULL};
    VALUE self = stream->self;

    connection->requests++;
    server->http2_counts.streams++;
    if (pel_http2_head(core, &head) < 0) {
        refuse(stream, core);
    } else {
        pel_http_begin_request(stream, &head,
                               head.framing == PEL_HTTP1_NO_BODY || (head.framing == PEL_HTTP1_LENGTH && !head.length));
        stream->request.websocket = core->websocket;
        if (!pel_http_begin_file(stream, &head)) {
            if (server->cache && !stream->request.host_unchecked)
                cached = pel_http_cache_find(stream, &head);
            if (cached.revalidate)
                pel_http_revalidate(stream, &head);
            if (!cached.item)
                pel_http_env(stream, &head);
        }
        pel_http2_free_head(core);
        if (stream->request.for_file && !stream->request.host_unchecked && pel_http_file_at_hand_p(stream))
            pel_http_answer_file_at_hand(stream);
        else if (cached.item)
            pel_http_cache_answer(stream, cached);
        else
            dispatch(stream);
    }
    RB_GC_GUARD(self);
}

#endif
