#include "http.h"

#include <string.h>
#include "../core/http1_writer.h"
#include "error.h"

/* Answers of our own, failures of the application, and who is told of an exchange's end. */

static void check(int code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
}

void pel_http_respond_plainly(struct pel_http_connection *connection, unsigned status, const char *text, int last)
{
    struct pel_buffer *output = &connection->stream->core.output;
    size_t length = strlen(text) + 1;

    if (connection->state == PEL_HTTP_IDLE) { /* a request that never came */
        connection->minor = 1;
        connection->head_request = 0;
        connection->body_done = 0;
    }
    pel_http_list_remove(connection);
    connection->state = PEL_HTTP_BUSY;
    if (last)
        connection->keep_alive = 0;
    connection->status = (uint16_t)status;
    connection->chunked = connection->has_length = connection->raw = 0;
    connection->no_body = connection->head_request;
    check(pel_http1_write_status_line(output, status));
    check(pel_http1_write_header(output, PEL_SLICE("content-type"), PEL_SLICE("text/plain")));
    check(pel_http1_write_number(output, PEL_SLICE("content-length"), length));
    if (status == 503)
        check(pel_http1_write_number(output, PEL_SLICE("retry-after"), 1));
    check(pel_http1_write_header(output, PEL_SLICE("date"),
                                 (struct pel_slice){pel_http_date(connection->server), PEL_HTTP1_DATE}));
    pel_http_decide_end(connection);
    if (!connection->keep_alive)
        check(pel_http1_write_header(output, PEL_SLICE("connection"), PEL_SLICE("close")));
    else if (!connection->minor)
        check(pel_http1_write_header(output, PEL_SLICE("connection"), PEL_SLICE("keep-alive")));
    check(pel_http1_write_end(output));
    connection->head_sent = 1;
    if (!connection->no_body) {
        check(pel_buffer_append(output, text, length - 1));
        check(pel_buffer_append(output, "\n", 1));
        connection->body_sent = length;
    }
    pel_http_send_soon(connection);
    pel_http_end_exchange(connection);
}

struct report {
    VALUE error, env;
};

static VALUE call_report(VALUE argument)
{
    const struct report *report = (const struct report *)argument;
    VALUE place = Qnil;

    if (RB_TYPE_P(report->env, T_HASH))
        place = rb_sprintf("%" PRIsVALUE " %" PRIsVALUE, rb_hash_aref(report->env, rb_str_new_cstr("REQUEST_METHOD")),
                           rb_hash_aref(report->env, rb_str_new_cstr("PATH_INFO")));
    return rb_funcall(pel_mPelton, rb_intern("report_error"), 2, report->error, place);
}

/* An application's error, whatever its class, is no reason to end the server; that somebody wants to leave is. */
static void report(struct pel_http_connection *connection, VALUE env, VALUE error)
{
    struct report facts = {error, env};
    int state;

    if (rb_obj_is_kind_of(error, pel_eCancelled))
        return;
    if (rb_obj_is_kind_of(error, rb_eSystemExit) || rb_obj_is_kind_of(error, rb_eSignal)) {
        pel_uncaught(connection->reactor, error);
        return;
    }
    pel_protect(call_report, (VALUE)&facts, &state);
    if (state && NIL_P(pel_take_error(state)))
        pel_rethrow(state);
    RB_GC_GUARD(error);
    RB_GC_GUARD(env);
}

void pel_http_report(struct pel_http_connection *connection, VALUE error)
{
    report(connection, connection->env, error);
}

/* That the client went away, or the server, is no failure of the application. */
static int client_gone(const struct pel_http_connection *connection, VALUE error)
{
    return (connection->aborted || connection->cut_short || connection->stream->core.error) &&
           (rb_obj_is_kind_of(error, pel_eClosedError) || rb_obj_is_kind_of(error, pel_eConnectionError));
}

/* That the request's body was malformed, too long, late or cut off is the client's fault, and the application has not
 * made anything else of it. The status that says so, or 0. */
static unsigned fault_of_client(const struct pel_http_connection *connection, VALUE error, const char **text)
{
    enum pel_http1_fault fault = pel_http1_parser_fault(&connection->parser);

    if (!rb_obj_is_kind_of(error, pel_eError) || !(connection->late || fault))
        return 0;
    *text = connection->late ? "the request's body did not come in time" : pel_http1_fault_text(fault);
    return connection->late ? 408 : pel_http1_fault_status(fault);
}

void pel_http_fail(struct pel_http_connection *connection, VALUE error)
{
    const char *text;
    unsigned status;
    VALUE env = connection->env; /* whose exchange is over when it is reported */
    int cancelled = rb_obj_is_kind_of(error, pel_eCancelled) != Qfalse;
    int gone = client_gone(connection, error);

    if (connection->state != PEL_HTTP_BUSY) {
        if (!gone)
            pel_http_report(connection, error);
        return;
    }
    connection->keep_alive = connection->keep_alive && !cancelled;
    if (connection->head_sent || gone) {
        connection->aborted = 1;
        pel_http_end_exchange(connection);
        if (gone)
            return;
    } else if (connection->timed_out) {
        pel_http_respond_plainly(connection, 504, "the request's time is over", 1);
    } else if (cancelled) {
        pel_http_respond_plainly(connection, 503, "the server stops", 1);
    } else if ((status = fault_of_client(connection, error, &text))) {
        connection->server->refused++;
        pel_http_respond_plainly(connection, status, text, 1);
        return;
    } else {
        connection->server->errors++;
        pel_http_respond_plainly(connection, 500, "Internal Server Error", 0);
    }
    if (!connection->timed_out)
        report(connection, env, error);
    RB_GC_GUARD(error);
}

/* ---- who wants to know of the end ---------------------------------------------------------------------------------
 */

static void run_end(struct pel_reactor *reactor, void *data)
{
    VALUE facts = (VALUE)data;

    rb_funcallv(pel_mHTTP, rb_intern("_ended"), (int)RARRAY_LEN(facts), RARRAY_CONST_PTR(facts));
    RB_GC_GUARD(facts);
}

static void mark_end(void *data)
{
    rb_gc_mark((VALUE)data);
}

static void run_closers(struct pel_reactor *reactor, void *data)
{
    VALUE closers = (VALUE)data;

    rb_funcall(pel_mHTTP, rb_intern("_closed"), 1, closers);
    RB_GC_GUARD(closers);
}

void pel_http_tell_close(struct pel_http_connection *connection)
{
    VALUE closers = connection->closers;

    if (!closers)
        return;
    connection->closers = Qfalse;
    pel_enqueue(connection->reactor, (struct pel_job){.run = run_closers, .mark = mark_end, .data = (void *)closers});
    RB_GC_GUARD(closers);
}

void pel_http_tell_end(struct pel_http_connection *connection)
{
    VALUE env = connection->env, headers = connection->headers, finished = connection->finished, facts;
    int64_t took = pel_http_count(connection);

    pel_http_tell_close(connection);
    connection->env = connection->headers = connection->finished = Qfalse;
    if (!env || (NIL_P(connection->server->log) && !RARRAY_LEN(finished)))
        return;
    facts = rb_ary_new_from_args(8, connection->server->log, finished, env, UINT2NUM(connection->status),
                                 headers ? headers : Qnil, ULL2NUM(connection->body_sent), DBL2NUM((double)took / 1e9),
                                 connection->aborted || connection->cut_short ? Qtrue : Qfalse);
    pel_enqueue(connection->reactor, (struct pel_job){.run = run_end, .mark = mark_end, .data = (void *)facts});
    RB_GC_GUARD(facts);
    RB_GC_GUARD(env);
}
