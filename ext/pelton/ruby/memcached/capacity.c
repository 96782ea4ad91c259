#include "ruby/memcached/connection.h"

#include "ruby/base/protect.h"

/* Fibers that wait until their connection is below its limits. One is woken at a time; it wakes the next. */

struct pel_memcached_capacity_waiter {
    struct pel_waiter *waiter;
    struct pel_memcached_capacity_waiter *next;
};

static int at_limit(const struct pel_memcached_connection *connection, size_t times)
{
    return connection->pending.count >= connection->limits.operations * times ||
           pel_stream_pending(&connection->stream) >= connection->limits.bytes * times;
}

void pel_memcached_offer_capacity(struct pel_memcached_connection *connection)
{
    if (connection->capacity.first && !at_limit(connection, 1))
        pel_waiter_fire(connection->reactor, connection->capacity.first->waiter);
}

void pel_memcached_end_capacity_waits(struct pel_memcached_connection *connection)
{
    for (struct pel_memcached_capacity_waiter *entry = connection->capacity.first; entry; entry = entry->next)
        pel_waiter_fire(connection->reactor, entry->waiter);
}

static void enter_capacity_queue(struct pel_memcached_connection *connection,
                                 struct pel_memcached_capacity_waiter *entry)
{
    entry->next = NULL;
    *connection->capacity.tail = entry;
    connection->capacity.tail = &entry->next;
}

static void leave_capacity_queue(struct pel_memcached_connection *connection,
                                 struct pel_memcached_capacity_waiter *entry)
{
    struct pel_memcached_capacity_waiter **link = &connection->capacity.first;

    while (*link != entry)
        link = &(*link)->next;
    if (!(*link = entry->next))
        connection->capacity.tail = link;
}

enum pel_memcached_capacity pel_memcached_wait_for_capacity(struct pel_memcached_connection *connection, int direct,
                                                            int64_t deadline)
{
    struct pel_memcached_capacity_waiter entry;
    int64_t started;
    int state = 0;

    if (!at_limit(connection, 1))
        return PEL_MEMCACHED_HAS_CAPACITY;
    if (!direct)
        return at_limit(connection, 2) ? PEL_MEMCACHED_OVERLOADED : PEL_MEMCACHED_HAS_CAPACITY;
    started = pel_now();
    enter_capacity_queue(connection, &entry);
    while (!state && !connection->closed && at_limit(connection, 1) && deadline > pel_now()) {
        struct pel_waiter waiter = {.exception = Qfalse};
        entry.waiter = &waiter;
        state = pel_park_protected(connection->reactor, &waiter, deadline);
    }
    leave_capacity_queue(connection, &entry);
    pel_memcached_offer_capacity(connection); /* to the next fiber, whether or not this one uses its share */
    if (state)
        pel_rethrow(state);
    if (connection->closed)
        return pel_memcached_due(connection, started) <= pel_now() ? PEL_MEMCACHED_CAPACITY_TIMED_OUT
                                                                   : PEL_MEMCACHED_CONNECTION_CLOSED;
    return at_limit(connection, 1) ? PEL_MEMCACHED_CAPACITY_TIMED_OUT : PEL_MEMCACHED_HAS_CAPACITY;
}
