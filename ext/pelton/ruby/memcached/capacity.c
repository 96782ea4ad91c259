#include "ruby/memcached/memcached_connection.h"

#include "ruby/base/protect.h"

/* Fibers that wait until their connection is below its limits. One is woken at a time; it wakes the next. */

static int at_limit(const struct pel_memcached_connection *connection, size_t times)
{
    return connection->pending.count >= connection->limits.operations * times ||
           pel_stream_pending(&connection->stream) >= connection->limits.bytes * times;
}

void pel_memcached_offer_capacity(struct pel_memcached_connection *connection)
{
    if (!at_limit(connection, 1))
        pel_turns_fire_first(connection->reactor, &connection->capacity);
}

enum pel_memcached_capacity pel_memcached_wait_for_capacity(struct pel_memcached_connection *connection, int direct,
                                                            int64_t deadline)
{
    struct pel_turn turn;
    int64_t started;
    int state = 0;

    if (!at_limit(connection, 1))
        return PEL_MEMCACHED_HAS_CAPACITY;
    if (!direct)
        return at_limit(connection, 2) ? PEL_MEMCACHED_OVERLOADED : PEL_MEMCACHED_HAS_CAPACITY;
    started = pel_now();
    pel_turns_enter(&connection->capacity, &turn);
    while (!state && !connection->closed && at_limit(connection, 1) && deadline > pel_now()) {
        struct pel_waiter waiter = {.exception = Qfalse};
        turn.waiter = &waiter;
        state = pel_park_protected(connection->reactor, &waiter, deadline);
    }
    pel_turns_leave(&connection->capacity, &turn);
    pel_memcached_offer_capacity(connection); /* to the next fiber, whether or not this one uses its share */
    if (state)
        pel_rethrow(state);
    if (connection->closed)
        return pel_memcached_due(connection, started) <= pel_now() ? PEL_MEMCACHED_CAPACITY_TIMED_OUT
                                                                   : PEL_MEMCACHED_CONNECTION_CLOSED;
    return at_limit(connection, 1) ? PEL_MEMCACHED_CAPACITY_TIMED_OUT : PEL_MEMCACHED_HAS_CAPACITY;
}
