#include "ruby/http/connection/http_connection.h"

/*
 * When a connection's time is over. It has one timer, which is moved only when it fires too early: a request costs no
 * timer.
 */

static void arm_deadline(struct pel_http_connection *connection)
{
    struct pel_timer *timer = &connection->timer.entry;

    if (connection->deadline == PEL_FOREVER)
        return;
    if (!pel_timer_active(timer) || timer->deadline > connection->deadline)
        pel_timer_add(&connection->reactor->loop.timers, timer, connection->deadline);
}

void pel_http_set_timeout(struct pel_http_connection *connection, int64_t time)
{
    connection->deadline = time == PEL_FOREVER ? PEL_FOREVER : connection->reactor->loop.now + time;
    arm_deadline(connection);
}

void pel_http_set_grace_timeout(struct pel_http_connection *connection)
{
    pel_http_set_timeout(connection, pel_now() - connection->reactor->loop.now + PEL_HTTP_GRACE);
}

int pel_http_deadline_reached(struct pel_http_connection *connection)
{
    if (connection->reactor->loop.now >= connection->deadline)
        return 1;
    arm_deadline(connection);
    return 0;
}
