#include "memcached.h"

#include "protect.h"

/* The limits of a connection: who waits for room. One is woken at a time, and wakes the next when it has gone on. */

struct pel_memcached_place {
    struct pel_waiter *waiter;
    struct pel_memcached_place *next;
};

static int full(const struct pel_memcached_connection *connection, size_t times)
{
    return connection->owed_count >= connection->limits.operations * times ||
           pel_stream_pending(&connection->stream) >= connection->limits.bytes * times;
}

void pel_memcached_offer_room(struct pel_memcached_connection *connection)
{
    if (connection->room && !full(connection, 1))
        pel_waiter_fire(connection->reactor, connection->room->waiter);
}

void pel_memcached_end_room(struct pel_memcached_connection *connection)
{
    for (struct pel_memcached_place *place = connection->room; place; place = place->next)
        pel_waiter_fire(connection->reactor, place->waiter);
}

static void join(struct pel_memcached_connection *connection, struct pel_memcached_place *place)
{
    place->next = NULL;
    *connection->room_tail = place;
    connection->room_tail = &place->next;
}

static void leave(struct pel_memcached_connection *connection, struct pel_memcached_place *place)
{
    struct pel_memcached_place **link = &connection->room;

    while (*link != place)
        link = &(*link)->next;
    if (!(*link = place->next))
        connection->room_tail = link;
}

static int late(struct pel_memcached_connection *connection, int64_t started, int64_t timeout)
{
    return pel_memcached_due(connection, started, timeout) <= pel_now();
}

enum pel_memcached_room pel_memcached_make_room(struct pel_memcached_connection *connection, int direct,
                                                int64_t timeout)
{
    struct pel_memcached_place place;
    int64_t started;
    int state = 0;

    if (!full(connection, 1))
        return PEL_MEMCACHED_ROOM;
    if (!direct)
        return full(connection, 2) ? PEL_MEMCACHED_FULL : PEL_MEMCACHED_ROOM;
    started = pel_now();
    join(connection, &place);
    while (!state && !connection->closed && full(connection, 1) && !late(connection, started, timeout)) {
        struct pel_waiter waiter = {.exception = Qfalse};
        place.waiter = &waiter;
        state = pel_park_protected(connection->reactor, &waiter, pel_memcached_due(connection, started, timeout));
    }
    leave(connection, &place);
    pel_memcached_offer_room(connection); /* to the next; whether this one takes its room or not */
    if (state)
        pel_rethrow(state);
    if (connection->closed)
        return late(connection, started, connection->limits.timeout) ? PEL_MEMCACHED_LATE : PEL_MEMCACHED_ENDED;
    return full(connection, 1) ? PEL_MEMCACHED_LATE : PEL_MEMCACHED_ROOM;
}
