#include "ruby/http/request/http_request.h"

#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/http_response.h"

static VALUE sym_async;
static ID id_call;

struct application_call {
    struct pel_http_connection *connection;
    int returned; /* the application has returned a response, and did not throw :async */
};

/* Asks whether the connection may have requests for this host, and remembers the host. Returns nil, or the response
 * that refuses the request. */
static VALUE check_host(struct pel_http_connection *connection)
{
    VALUE answer = pel_upcall(check_host, connection->choice, connection->request.env, connection->stream_object);

    if (!RB_TYPE_P(answer, T_STRING))
        return answer;
    StringValueCStr(answer);
    if (connection->parent) /* the next stream of the same connection has it from there */
        PEL_HTTP_KEEP(pel_http_connection_p(connection->parent), host, answer);
    PEL_HTTP_KEEP(connection, host, answer);
    return Qnil;
}

static VALUE call_within_catch(VALUE tag, VALUE argument, int argc, const VALUE *argv, VALUE block)
{
    struct application_call *call = (struct application_call *)argument;
    struct pel_http_connection *connection = call->connection;
    VALUE response = Qnil, env = connection->request.env; /* an exchange that ends takes its env away */

    pel_http_env_input(connection);
    if (pel_observed[PEL_EVENT_request])
        pel_upcall(request_began, connection->server->self, env);
    if (connection->request.host_unchecked)
        response = check_host(connection);
    if (NIL_P(response) && !connection->request.for_file)
        response = rb_funcallv(connection->server->app, id_call, 1, &env);

    call->returned = 1;
    return response;
}

static VALUE call_and_catch_async(VALUE argument)
{
    return rb_catch_obj(sym_async, call_within_catch, argument);
}

static VALUE call_with_fresh_locals(VALUE argument)
{
    struct application_call *call = (struct application_call *)argument;

    return pel_locals_fresh(call->connection->reactor, call_and_catch_async, argument);
}

static void respond_to_exception(struct pel_http_connection *connection, int state)
{
    VALUE error = pel_take_error(state);

    if (NIL_P(error)) {
        pel_http_close(connection);
        pel_rethrow(state);
    }
    pel_http_application_failed(connection, error);
}

void pel_http_answer(struct pel_http_connection *connection)
{
    struct application_call call = {.connection = connection};
    VALUE response, callback_response;
    uint32_t number = connection->requests;
    int state;

    if (connection->request.for_file && !connection->request.host_unchecked) {
        pel_http_answer_file(connection);
        return;
    }
    pel_http_become(connection, PEL_HTTP_BUSY);
    connection->request.in_application = 1;
    PEL_HTTP_KEEP(connection, request.fiber, rb_fiber_current());
    pel_begin_request(connection->reactor, connection->request.began);
    response = pel_protect(call_with_fresh_locals, (VALUE)&call, &state);
    if (pel_loop_inherited(&connection->reactor->loop)) { /* a child came back from fork: its parent answers */
        if (state)
            pel_rethrow(state);
        return;
    }
    connection->request.in_application = 0;
    connection->request.fiber = Qfalse;
    callback_response = connection->response.callback_response;
    connection->response.callback_response = Qfalse;
    if (state) {
        respond_to_exception(connection, state);
    } else if (connection->state != PEL_HTTP_BUSY) { /* hijacked, aborted, or the reactor stops */
        pel_http_discard_response(call.returned ? response : Qnil);
    } else if (connection->request.for_file && NIL_P(response)) {
        pel_http_answer_file(connection);
    } else if (call.returned && !pel_http_deferred_p(response)) {
        pel_http_respond(connection, response);
    } else if (callback_response) {
        response = callback_response;
        callback_response = Qfalse;
        pel_http_respond(connection, response);
    }
    if (connection->requests == number) { /* or a body has outlived its exchange, and the next request has begun */
        if (connection->state == PEL_HTTP_BUSY && connection->response.aborted) /* a later response has no receiver */
            pel_http_end_exchange(connection);
        if (connection->state == PEL_HTTP_GONE)
            pel_http_release_slot(connection);
    }
    if (callback_response)
        pel_http_discard_response(callback_response);
    pel_leave_request(connection->reactor);
    RB_GC_GUARD(response);
}

void pel_init_http_application(void)
{
    sym_async = ID2SYM(rb_intern("async"));
    id_call = rb_intern("call");
}
