#include "memcached.h"

#include "../core/slab.h"

/*
 * Time. An operation's counts from its start or from its connection's last progress, whichever is later. When its own
 * timeout is over it is abandoned alone: the reply is dropped when it comes. When the connection's is over the
 * connection ends. There is one alarm for all; it is set too early rather than moved with each progress.
 */

/* An alarm that rings so much too late (nanoseconds) shows that the loop was away, not the server. */
#define AWAY (5 * 1000 * 1000)

struct pel_memcached_deadline {
    struct pel_memcached_deadline *next; /* in the order of the operations: so the first are settled first */
    struct pel_operation *operation;
    int64_t started, timeout;
};

static struct pel_slab records = PEL_SLAB(struct pel_memcached_deadline);

int64_t pel_memcached_due(const struct pel_memcached_connection *connection, int64_t started, int64_t timeout)
{
    if (started < connection->progress)
        started = connection->progress;
    return timeout >= PEL_FOREVER - started ? PEL_FOREVER : started + timeout;
}

static void set_alarm(struct pel_memcached_connection *connection, int64_t due)
{
    struct pel_timer *timer = &connection->alarm.timer;

    if (due != PEL_FOREVER && (!pel_timer_active(timer) || due < timer->deadline))
        pel_timer_add(&connection->reactor->loop.timers, timer, due);
}

void pel_memcached_begin_to_wait(struct pel_memcached_connection *connection)
{
    connection->progress = pel_now();
    connection->excused = 0;
    if (!pel_timer_active(&connection->alarm.timer))
        set_alarm(connection, pel_memcached_due(connection, 0, connection->limits.timeout));
}

void pel_memcached_set_deadline(struct pel_memcached_connection *connection, struct pel_operation *operation,
                                int64_t timeout)
{
    struct pel_memcached_deadline *deadline = pel_slab_take(&records);

    if (!deadline)
        rb_memerror();
    operation->references++;
    *deadline = (struct pel_memcached_deadline){.operation = operation, .started = pel_now(), .timeout = timeout};
    *connection->deadlines_tail = deadline;
    connection->deadlines_tail = &deadline->next;
    set_alarm(connection, pel_memcached_due(connection, deadline->started, timeout));
}

void pel_memcached_forget_deadlines(struct pel_memcached_connection *connection, int all)
{
    struct pel_memcached_deadline *deadline;

    while ((deadline = connection->deadlines) && (all || deadline->operation->state != PEL_PENDING)) {
        connection->deadlines = deadline->next;
        pel_operation_release(deadline->operation);
        pel_slab_give(&records, deadline);
    }
    if (!connection->deadlines)
        connection->deadlines_tail = &connection->deadlines;
}

/* The soonest that is due, not before `after`. */
static int64_t soonest(struct pel_memcached_connection *connection, int64_t after)
{
    int64_t first = pel_memcached_due(connection, 0, connection->limits.timeout);

    for (struct pel_memcached_deadline *deadline = connection->deadlines; deadline; deadline = deadline->next) {
        int64_t due = pel_memcached_due(connection, deadline->started, deadline->timeout);
        if (deadline->operation->state == PEL_PENDING && due > after && due < first)
            first = due;
    }
    return first;
}

static void abandon(struct pel_memcached_connection *connection, int64_t now)
{
    VALUE error = pel_memcached_error(connection, PEL_ETIMEOUT, 0, "no reply yet");

    for (struct pel_memcached_deadline *deadline = connection->deadlines; deadline; deadline = deadline->next)
        if (pel_memcached_due(connection, deadline->started, deadline->timeout) <= now)
            pel_operation_settle(deadline->operation, PEL_FAILED, error, 0);
    pel_memcached_forget_deadlines(connection, 0);
    RB_GC_GUARD(error);
}

void pel_memcached_ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct pel_memcached_connection *connection =
        (struct pel_memcached_connection *)((char *)alarm - offsetof(struct pel_memcached_connection, alarm));
    int64_t now = reactor->loop.now, due = soonest(connection, 0);

    if (!connection->owed)
        return;
    if (now - due > AWAY && !connection->excused) {
        /* Commands may not even have been sent: the server gets its time, once. */
        connection->excused = 1;
        set_alarm(connection, now + (now - due < connection->limits.timeout ? now - due : connection->limits.timeout));
    } else if (pel_memcached_due(connection, 0, connection->limits.timeout) <= now) {
        pel_memcached_fail(connection, PEL_ETIMEOUT, 0, "no progress");
    } else {
        if (due <= now)
            abandon(connection, now);
        set_alarm(connection, soonest(connection, now));
    }
}
