#include "ruby/http/http.h"

#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/http_response.h"

/* What happens to a connection when its time is over. */

/* A peer that reads, if slowly, gets write_timeout again. Whether it does. */
static int extend_for_reader(struct pel_http_connection *connection)
{
    size_t pending = connection->protocol->unsent(connection);

    if (!pending || pending >= connection->unsent_at_start)
        return 0;
    connection->unsent_at_start = pending;
    pel_http_set_timeout(connection, connection->server->write_timeout);
    return 1;
}

/* The error is raised in the application where it waits. An application that does not wait in this reactor cannot be
 * interrupted: whatever it returns later is still its response. */
static void time_out_request(struct pel_http_connection *connection)
{
    struct pel_http_request *request = &connection->request;
    VALUE error;

    connection->deadline = PEL_FOREVER;
    if (connection->response.head_sent)
        return;
    error = pel_error_new(PEL_ETIMEOUT, 0, "the request timed out");
    request->timed_out = 1;
    if (request->in_application) {
        if (request->fiber)
            pel_raise_in(connection->reactor, request->fiber, error);
    } else {
        pel_http_respond_error(connection, 504, "the request timed out", 1);
    }
}

void pel_http_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct pel_http_connection *connection = PEL_LINKED(struct pel_http_connection, timer, timer);
    VALUE self = connection->self;

    if (!pel_http_deadline_reached(connection))
        return;
    switch ((enum pel_http_state)connection->state) {
    case PEL_HTTP_IDLE:
        if (extend_for_reader(connection))
            break;
        connection->protocol->timed_out(connection);
        break;
    case PEL_HTTP_WAITING:
    case PEL_HTTP_BUSY:
        time_out_request(connection);
        break;
    case PEL_HTTP_DRAINING:
    case PEL_HTTP_LINGERING:
        if (!extend_for_reader(connection))
            pel_http_close(connection);
        break;
    case PEL_HTTP_GONE:
        break;
    }
    RB_GC_GUARD(self);
}
