#include "http.h"

#include <string.h>
#include "error.h"
#include "locals.h"

/* The way from bytes to the application: heads are parsed, requests get a place to run, the application is called. */

#define PIPELINED 16 /* requests that one connection may have in one turn */

/* ---- calling the application ---------------------------------------------------------------------------------- */

static VALUE sym_async;
static ID id_call;

struct application {
    struct pel_http_connection *connection;
    int returned;
};

static VALUE call_within_catch(VALUE tag, VALUE argument, int argc, const VALUE *argv, VALUE block)
{
    struct application *application = (struct application *)argument;
    struct pel_http_connection *connection = application->connection;
    VALUE response;

    pel_http_env_input(connection);
    response = rb_funcallv(connection->server->app, id_call, 1, &connection->env);

    application->returned = 1;
    return response;
}

static VALUE call_application(VALUE argument)
{
    return rb_catch_obj(sym_async, call_within_catch, argument);
}

static VALUE call_with_fresh_locals(VALUE argument)
{
    struct application *application = (struct application *)argument;

    return pel_locals_fresh(application->connection->reactor, call_application, argument);
}

/* [-1, {}, []], as Thin has it. */
int pel_http_deferred_p(VALUE response)
{
    return RB_TYPE_P(response, T_ARRAY) && RARRAY_LEN(response) > 0 && RARRAY_AREF(response, 0) == INT2FIX(-1);
}

static void fail(struct pel_http_connection *connection, int state)
{
    VALUE error = pel_take_error(state);

    if (NIL_P(error)) {
        pel_http_close(connection);
        pel_rethrow(state);
    }
    pel_http_fail(connection, error);
}

/* Runs on the turning fiber, or on whatever fiber it has become meanwhile. */
static void answer(struct pel_http_connection *connection)
{
    struct application application = {.connection = connection};
    VALUE response, early;
    int state;

    connection->state = PEL_HTTP_BUSY;
    connection->in_app = 1;
    PEL_HTTP_KEEP(connection, fiber, rb_fiber_current());
    response = pel_protect(call_with_fresh_locals, (VALUE)&application, &state);
    if (pel_loop_inherited(&connection->reactor->loop)) { /* a child came back from fork: its parent answers */
        if (state)
            pel_rethrow(state);
        return;
    }
    connection->in_app = 0;
    connection->fiber = Qfalse;
    early = connection->early;
    connection->early = Qfalse;
    if (state) {
        fail(connection, state);
    } else if (connection->state != PEL_HTTP_BUSY) { /* hijacked, aborted, or the reactor stops */
        pel_http_drop_response(application.returned ? response : Qnil);
    } else if (application.returned && !pel_http_deferred_p(response)) {
        pel_http_respond(connection, response);
    } else if (early) {
        response = early;
        early = Qfalse;
        pel_http_respond(connection, response);
    }
    if (connection->state == PEL_HTTP_BUSY && connection->aborted) /* nobody waits for what would come later */
        pel_http_end_exchange(connection);
    if (connection->state == PEL_HTTP_GONE)
        pel_http_uncount(connection);
    if (early)
        pel_http_drop_response(early);
    RB_GC_GUARD(response);
}

/* ---- a place to run ------------------------------------------------------------------------------------------- */

static void run_granted(struct pel_reactor *reactor, void *data)
{
    struct pel_http_connection *connection = data;
    VALUE self = connection->self;

    if (connection->state == PEL_HTTP_WAITING)
        answer(connection);
    else
        pel_http_uncount(connection);
    pel_http_queue(connection);
    RB_GC_GUARD(self);
}

void pel_http_grant(struct pel_http_server *server)
{
    while (server->running < server->concurrency && server->waiting.first) {
        struct pel_http_connection *connection = server->waiting.first;
        pel_http_list_remove(connection);
        server->running++;
        connection->counted = 1;
        pel_enqueue(connection->reactor,
                    (struct pel_job){.run = run_granted, .mark = pel_http_mark_job, .data = connection});
    }
}

/* ---- requests ------------------------------------------------------------------------------------------------- */

static int same(struct pel_slice slice, const char *word)
{
    return slice.length == strlen(word) && !memcmp(slice.bytes, word, slice.length);
}

static void begin(struct pel_http_connection *connection, struct pel_http1_head *head)
{
    struct pel_http_server *server = connection->server;
    struct pel_slice data;
    size_t consumed;

    pel_http_list_remove(connection);
    server->requests++;
    connection->served++;
    connection->began = connection->reactor->loop.now;
    connection->minor = head->minor & 1;
    /* What follows CONNECT is a tunnel's, never a request: somebody in between may take any 2xx for leave to pass it
     * on. */
    connection->keep_alive =
        head->keep_alive && head->target_form != PEL_HTTP1_AUTHORITY && connection->served < server->requests_limit;
    connection->head_request = same(head->method, "HEAD");
    connection->get_request = same(head->method, "GET");
    connection->expects = head->expects_continue && head->minor == 1;
    connection->body_done = head->framing == PEL_HTTP1_NO_BODY || (head->framing == PEL_HTTP1_LENGTH && !head->length);
    if (connection->body_done) { /* its END is due; the headers stay */
        unsigned count = head->header_count;
        pel_http1_parse(&connection->parser, NULL, 0, &consumed, head, &data);
        head->header_count = count;
    }
    connection->head_sent = connection->aborted = connection->timed_out = connection->late = 0;
    connection->body_sent = connection->drained = connection->body_received = 0;
    connection->body_waited = 0;
    connection->status = 0;
    connection->early = Qfalse;
}

/* Begins to answer, or has the request wait for a place, or refuses it. */
static void dispatch(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;

    /* The end may have come with the request: nobody will tell of it again, so it is looked for in the next turn. */
    if (connection->stream->core.hangup)
        pel_http_queue(connection);
    pel_http_limit(connection, server->request_timeout);
    if (server->running < server->concurrency) {
        server->running++;
        connection->counted = 1;
        answer(connection);
    } else if (server->waiting.count < server->queue_limit) {
        connection->state = PEL_HTTP_WAITING;
        pel_http_list_add(&server->waiting, connection);
    } else {
        server->overloads++;
        connection->state = PEL_HTTP_BUSY;
        pel_http_respond_plainly(connection, 503, "too many requests are under way", 0);
    }
}

/* Bytes that cannot be understood. No later byte can be, either. */
static void refuse(struct pel_http_connection *connection)
{
    enum pel_http1_fault fault = pel_http1_parser_fault(&connection->parser);

    connection->server->refused++;
    connection->status = 0;
    connection->head_sent = connection->head_request = connection->body_done = 0;
    connection->minor = 1;
    pel_http_list_remove(connection);
    connection->state = PEL_HTTP_BUSY;
    pel_http_respond_plainly(connection, pel_http1_fault_status(fault), pel_http1_fault_text(fault), 1);
}

/* Nothing more to receive now, or ever. */
static void no_bytes(struct pel_http_connection *connection, ssize_t count)
{
    struct pel_http1_head head;

    if (count == PEL_EAGAIN)
        return;
    if (count < 0 || pel_http1_parse_end(&connection->parser, &head) == PEL_HTTP1_MORE) {
        if (count == 0 && pel_stream_pending(&connection->stream->core)) {
            connection->body_done = 1;
            pel_http_close_when_sent(connection);
        } else {
            pel_http_close(connection);
        }
        return;
    }
    refuse(connection);
}

/* The next head, from what was received before, or else from the descriptor. 0 when there is none yet. */
static int next_request(struct pel_http_connection *connection)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    struct stream *stream = connection->stream;
    struct pel_slice data;
    const char *bytes;
    size_t length, consumed;
    int hot = !pel_buffer_length(&stream->input), event;

    if (hot) {
        ssize_t count = pel_stream_receive(&stream->core, pel_hot_buffer(connection->reactor), PEL_HOT_BUFFER);
        if (count <= 0) {
            no_bytes(connection, count);
            return 0;
        }
        bytes = connection->reactor->hot_buffer;
        length = (size_t)count;
    } else {
        bytes = pel_buffer_head(&stream->input);
        length = pel_buffer_length(&stream->input);
    }
    event = pel_http1_parse(&connection->parser, bytes, length, &consumed, &head, &data);
    if (event == PEL_HTTP1_HEAD) {
        begin(connection, &head);
        pel_http_env(connection, &head);
    } else if (event < 0) {
        refuse(connection);
        return 0;
    }
    if (!hot)
        pel_buffer_consume(&stream->input, consumed);
    else if (consumed < length && pel_buffer_append(&stream->input, bytes + consumed, length - consumed) < 0)
        rb_memerror();
    if (event == PEL_HTTP1_MORE) {
        if (connection->list) { /* it has begun to send: from now on the head has its time */
            pel_http_list_remove(connection);
            pel_http_limit(connection, connection->server->header_timeout);
        }
        if (!hot) {
            ssize_t count = pel_stream_fill(stream);
            if (count <= 0)
                no_bytes(connection, count);
            return count > 0;
        }
        return 1;
    }
    dispatch(connection);
    return 1;
}

void pel_http_read_requests(struct pel_http_connection *connection)
{
    for (int count = 0; connection->state == PEL_HTTP_IDLE; count++) {
        if (count == PIPELINED) { /* the others' turn */
            pel_http_queue(connection);
            return;
        }
        if (pel_stream_pending(&connection->stream->core) > PEL_HTTP_OUTPUT_LIMIT || !next_request(connection))
            return;
    }
}

void pel_init_http_request(void)
{
    sym_async = ID2SYM(rb_intern("async"));
    id_call = rb_intern("call");
}
