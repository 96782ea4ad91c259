#include "ruby/base/upcall.h"
#include "ruby/http/connection/flight.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/connection/http_server.h"

/* ---- callbacks, each called in a job ----------------------------------------------------------------------------- */

static void run_finish_callbacks(struct pel_reactor *reactor, void *data)
{
    VALUE arguments = (VALUE)data;

    pel_upcallv(PEL_UPCALL_exchange_ended, (int)RARRAY_LEN(arguments), RARRAY_CONST_PTR(arguments));
}

static void run_close_callbacks(struct pel_reactor *reactor, void *data)
{
    pel_upcall(client_closed, (VALUE)data);
}

void pel_http_notify_client_closed(struct pel_http_connection *connection)
{
    VALUE callbacks = connection->request.close_callbacks;

    if (!callbacks)
        return;
    connection->request.close_callbacks = Qfalse;
    pel_enqueue(connection->reactor,
                (struct pel_job){.run = run_close_callbacks, .data = (void *)callbacks, .object = callbacks});
    RB_GC_GUARD(callbacks);
}

void pel_http_notify_finished(struct pel_http_connection *connection)
{
    struct pel_http_request *request = &connection->request;
    struct pel_http_response *response = &connection->response;
    VALUE env = request->env, callbacks = request->finish_callbacks, headers = response->headers,
          failure = request->failure, arguments;
    int64_t took = pel_http_count_exchange(connection);

    pel_http_notify_client_closed(connection);
    request->env = request->finish_callbacks = request->failure = response->headers = Qfalse;
    if (!env || (NIL_P(connection->server->log) && !pel_observed[PEL_EVENT_request] && !RARRAY_LEN(callbacks)))
        return;
    arguments =
        rb_ary_new_from_args(8, connection->server->log, callbacks, env, UINT2NUM(response->status),
                             headers ? headers : Qnil, ULL2NUM(response->body.sent), DBL2NUM((double)took / 1e9),
                             failure                                          ? failure
                             : response->aborted || response->ended_by_server ? Qtrue
                                                                              : Qnil);
    pel_enqueue(connection->reactor,
                (struct pel_job){.run = run_finish_callbacks, .data = (void *)arguments, .object = arguments});
    RB_GC_GUARD(arguments);
    RB_GC_GUARD(env);
    RB_GC_GUARD(callbacks);
    RB_GC_GUARD(headers);
    RB_GC_GUARD(failure);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void pel_http_end_exchange(struct pel_http_connection *connection)
{
    VALUE self = connection->self; /* it may be gone, and no GC root, before its callbacks are queued */

    pel_http_exchange_detach(connection);
    pel_http_drop_file(connection);
    pel_http_list_remove(connection);
    pel_http_wake_waiters(connection);
    connection->protocol->end(connection);
    pel_http_flight_leave(connection);
    pel_http_release_slot(connection);
    pel_http_notify_finished(connection);
    connection->protocol->go_on(connection);
    RB_GC_GUARD(self);
}

void pel_http_client_left(struct pel_http_connection *connection)
{
    connection->response.aborted = 1;
    pel_http_wake_waiters(connection);
    if (connection->state == PEL_HTTP_WAITING)
        pel_http_close(connection);
    else if (!connection->request.in_application)
        pel_http_end_exchange(connection);
}

VALUE pel_http_hijack(struct pel_http_connection *connection)
{
    VALUE self = connection->self, stream = connection->protocol->hand_over(connection);

    pel_leave_request(connection->reactor);
    pel_http_exchange_detach(connection);
    RB_GC_GUARD(self);
    return stream;
}
