#include "ruby/memcached/memcached_connection.h"

#include "core/base/slab.h"

/*
 * Deadlines. An operation's own timeout counts from its start, whatever the connection does: the operation is abandoned
 * alone, and its reply is dropped when it comes. The connection's timeout counts from the last progress: the connection
 * ends. One timer serves all of them; it fires too early rather than being moved with each progress.
 */

/* A timer that fires later than this (nanoseconds) shows that the loop was blocked, not that the server is slow. */
#define LOOP_BLOCKED_NS (5 * 1000 * 1000)

struct pel_memcached_deadline {
    struct pel_memcached_deadline *next; /* in the order of the operations: the first ones are settled first */
    struct pel_operation *operation;
    int64_t started, due;
    int extended; /* once, since the loop was blocked */
};

static struct pel_slab deadline_slab = PEL_SLAB(struct pel_memcached_deadline);

static int64_t add_timeout(int64_t started, int64_t timeout)
{
    return timeout >= PEL_FOREVER - started ? PEL_FOREVER : started + timeout;
}

int64_t pel_memcached_instant(int64_t timeout)
{
    return add_timeout(pel_now(), timeout);
}

int64_t pel_memcached_due(const struct pel_memcached_connection *connection, int64_t started)
{
    return add_timeout(started < connection->clock.progress ? connection->clock.progress : started,
                       connection->limits.timeout);
}

static void arm_deadline_timer(struct pel_memcached_connection *connection, int64_t due)
{
    struct pel_timer *timer = &connection->clock.timer.entry;

    if (due != PEL_FOREVER && (!pel_timer_active(timer) || due < timer->deadline))
        pel_timer_add(&connection->reactor->loop.timers, timer, due);
}

void pel_memcached_start_waiting(struct pel_memcached_connection *connection)
{
    connection->clock.progress = pel_now();
    connection->clock.grace_given = 0;
    if (!pel_timer_active(&connection->clock.timer.entry))
        arm_deadline_timer(connection, pel_memcached_due(connection, 0));
}

void pel_memcached_set_deadline(struct pel_memcached_connection *connection, struct pel_operation *operation,
                                int64_t due)
{
    struct pel_memcached_deadline *deadline = pel_slab_take(&deadline_slab);

    if (!deadline)
        rb_memerror();
    operation->references++;
    *deadline = (struct pel_memcached_deadline){.operation = operation, .started = pel_now(), .due = due};
    *connection->clock.deadlines_tail = deadline;
    connection->clock.deadlines_tail = &deadline->next;
    arm_deadline_timer(connection, due);
}

void pel_memcached_forget_deadlines(struct pel_memcached_connection *connection, int all)
{
    struct pel_memcached_deadline *deadline;

    while ((deadline = connection->clock.deadlines) && (all || deadline->operation->state != PEL_PENDING)) {
        connection->clock.deadlines = deadline->next;
        pel_operation_release(deadline->operation);
        pel_slab_give(&deadline_slab, deadline);
    }
    if (!connection->clock.deadlines)
        connection->clock.deadlines_tail = &connection->clock.deadlines;
}

/* The earliest instant at which the connection or one of its pending operations is due. */
static int64_t earliest_due(struct pel_memcached_connection *connection)
{
    int64_t first = pel_memcached_due(connection, 0);

    for (struct pel_memcached_deadline *deadline = connection->clock.deadlines; deadline; deadline = deadline->next)
        if (deadline->operation->state == PEL_PENDING && deadline->due < first)
            first = deadline->due;
    return first;
}

/* When the loop was blocked, the command may not even have been sent: the server gets that time once more, but no more
 * than the whole timeout. Returns the new instant, or the old one. */
static int64_t extend(int64_t due, int64_t timeout, int64_t now)
{
    int64_t late = now - due;

    return late > LOOP_BLOCKED_NS ? add_timeout(now, late < timeout ? late : timeout) : due;
}

static void abandon_overdue(struct pel_memcached_connection *connection, int64_t now)
{
    VALUE error = Qnil;

    for (struct pel_memcached_deadline *deadline = connection->clock.deadlines; deadline; deadline = deadline->next) {
        if (deadline->operation->state != PEL_PENDING || deadline->due > now)
            continue;
        if (!deadline->extended) {
            deadline->extended = 1;
            deadline->due = extend(deadline->due, deadline->due - deadline->started, now);
        }
        if (deadline->due > now)
            continue;
        if (NIL_P(error))
            error = pel_memcached_error(connection, PEL_ETIMEOUT, 0, "no reply yet");
        pel_operation_settle(deadline->operation, PEL_FAILED, error, 0);
    }
    pel_memcached_forget_deadlines(connection, 0);
    RB_GC_GUARD(error);
}

int pel_memcached_expire(struct pel_memcached_connection *connection)
{
    int64_t now = connection->reactor->loop.now, due;

    if (!connection->pending.first)
        return 0;
    due = pel_memcached_due(connection, 0);
    if (due <= now && !connection->clock.grace_given) {
        connection->clock.grace_given = 1;
        due = extend(due, connection->limits.timeout, now);
        if (due > now)
            connection->clock.progress = due - connection->limits.timeout; /* as if something had come then */
    }
    if (due <= now)
        return 1;
    abandon_overdue(connection, now);
    arm_deadline_timer(connection, earliest_due(connection));
    return 0;
}
