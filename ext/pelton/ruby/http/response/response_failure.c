#include "ruby/http/response/http_response.h"

#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_connection.h"

/* Errors of the application. */

/* ---- reports ----------------------------------------------------------------------------------------------------- */

struct error_report {
    VALUE error, env;
};

static VALUE call_report_error(VALUE argument)
{
    const struct error_report *report = (const struct error_report *)argument;
    VALUE where = Qnil;

    if (RB_TYPE_P(report->env, T_HASH))
        where = rb_sprintf("%" PRIsVALUE " %" PRIsVALUE, rb_hash_aref(report->env, rb_str_new_cstr("REQUEST_METHOD")),
                           rb_hash_aref(report->env, rb_str_new_cstr("PATH_INFO")));
    return pel_upcall(report_error, report->error, where);
}

/* An application's error, whatever its class, does not end the server; SystemExit and signals do. */
void pel_http_report_error(struct pel_http_connection *connection, VALUE error, VALUE env)
{
    struct error_report report = {error, env};
    int state;

    if (rb_obj_is_kind_of(error, pel_eCancelled))
        return;
    if (rb_obj_is_kind_of(error, rb_eSystemExit) || rb_obj_is_kind_of(error, rb_eSignal)) {
        pel_uncaught(connection->reactor, error);
        return;
    }
    pel_protect(call_report_error, (VALUE)&report, &state);
    if (state && NIL_P(pel_take_error(state)))
        pel_rethrow(state);
    RB_GC_GUARD(error);
    RB_GC_GUARD(env);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Whether the error only says that the client has left, or that the server has ended the response: neither is a failure
 * of the application. */
static int caused_by_end_p(const struct pel_http_connection *connection, VALUE error)
{
    const struct pel_http_response *response = &connection->response;
    const struct pel_stream *client = pel_http_client(connection);

    return (response->aborted || response->ended_by_server || (client && client->error)) &&
           (rb_obj_is_kind_of(error, pel_eClosedError) || rb_obj_is_kind_of(error, pel_eConnectionError) ||
            rb_obj_is_kind_of(error, pel_eTimeoutError));
}

/* Whether the error says that the request's body was malformed, too long, late or cut off, and the application has not
 * made another error of it: that is the client's fault. Returns the status that says so, or 0. */
static unsigned client_error_status(const struct pel_http_connection *connection, VALUE error, const char **text)
{
    enum pel_http1_fault fault = connection->request.body.fault;
    int timed_out = connection->request.body.timed_out;

    if (!rb_obj_is_kind_of(error, pel_eError) || !(timed_out || fault))
        return 0;
    *text = timed_out ? "the request's body did not arrive in time" : pel_http1_fault_text(fault);
    return timed_out ? 408 : pel_http1_fault_status(fault);
}

void pel_http_application_failed(struct pel_http_connection *connection, VALUE error)
{
    struct pel_http_response *response = &connection->response;
    const char *text;
    unsigned status;
    VALUE env = connection->request.env; /* the exchange's end takes it away before the report */
    int cancelled = rb_obj_is_kind_of(error, pel_eCancelled) != Qfalse;
    int ended = caused_by_end_p(connection, error), timed_out = connection->request.timed_out;

    if (connection->state != PEL_HTTP_BUSY) {
        if (!ended)
            pel_http_report_error(connection, error, env);
        return;
    }
    if (!ended && !cancelled)
        PEL_HTTP_KEEP(connection, request.failure, error);
    response->keep_alive = response->keep_alive && !cancelled;
    if (response->head_sent || ended) {
        response->aborted = 1;
        pel_http_end_exchange(connection);
        if (ended)
            return;
    } else if (!cancelled && !client_error_status(connection, error, &text) && pel_http_cache_rescue(connection)) {
        connection->server->errors += !timed_out;
    } else if (connection->request.timed_out) {
        pel_http_respond_error(connection, 504, "the request timed out", 1);
    } else if (cancelled) {
        pel_http_respond_error(connection, 503, "the server is stopping", 1);
    } else if ((status = client_error_status(connection, error, &text))) {
        connection->server->refused++;
        pel_http_respond_error(connection, status, text, 1);
        return;
    } else {
        connection->server->errors++;
        pel_http_respond_error(connection, 500, "Internal Server Error", 0);
    }
    if (!timed_out)
        pel_http_report_error(connection, error, env);
    RB_GC_GUARD(error);
}
