#include "http.h"

#include "error.h"

/*
 * A connection's limits of time. There is one alarm for each, and it is moved only when it rings too early: a request
 * costs no timer.
 */

static void arm(struct pel_http_connection *connection)
{
    struct pel_timer *timer = &connection->alarm.timer;

    if (connection->deadline == PEL_FOREVER)
        return;
    if (!pel_timer_active(timer) || timer->deadline > connection->deadline)
        pel_timer_add(&connection->reactor->loop.timers, timer, connection->deadline);
}

void pel_http_limit(struct pel_http_connection *connection, int64_t time)
{
    connection->deadline = time == PEL_FOREVER ? PEL_FOREVER : connection->reactor->loop.now + time;
    arm(connection);
}

/* The peer reads, if slowly: it has as much time again. */
static int reads_on(struct pel_http_connection *connection)
{
    size_t pending = pel_stream_pending(&connection->stream->core);

    if (!pending || pending >= connection->unsent)
        return 0;
    connection->unsent = pending;
    pel_http_limit(connection, connection->server->write_timeout);
    return 1;
}

/* The application is told where it waits; if it does not wait in this reactor it is not to be reached. */
static void end_request(struct pel_http_connection *connection)
{
    VALUE error;

    connection->deadline = PEL_FOREVER;
    if (connection->head_sent)
        return;
    error = pel_error_new(PEL_ETIMEOUT, 0, "the request's time is over");
    connection->timed_out = 1;
    if (connection->in_app && connection->fiber && pel_raise_in(connection->reactor, connection->fiber, error))
        return;
    if (!connection->in_app)
        pel_http_respond_plainly(connection, 504, "the request's time is over", 1);
}

void pel_http_ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct pel_http_connection *connection =
        (struct pel_http_connection *)((char *)alarm - offsetof(struct pel_http_connection, alarm));
    VALUE self = connection->self;

    if (reactor->loop.now < connection->deadline) {
        arm(connection);
        return;
    }
    switch ((enum pel_http_state)connection->state) {
    case PEL_HTTP_IDLE:
        if (!reads_on(connection)) {
            if (pel_http1_parser_within(&connection->parser))
                pel_http_respond_plainly(connection, 408, "the request did not come in time", 1);
            else if (connection->list)
                pel_http_close_idle(connection);
            else
                pel_http_close(connection);
        }
        break;
    case PEL_HTTP_WAITING:
    case PEL_HTTP_BUSY:
        end_request(connection);
        break;
    case PEL_HTTP_DRAINING:
    case PEL_HTTP_LINGERING:
        if (!reads_on(connection))
            pel_http_close(connection);
        break;
    case PEL_HTTP_GONE:
        break;
    }
    RB_GC_GUARD(self);
}
