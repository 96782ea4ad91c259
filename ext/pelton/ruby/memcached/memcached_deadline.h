#pragma once

#include "ruby/reactor/reactor.h"

struct pel_memcached_connection;
struct pel_memcached_deadline;

/* A connection's time. */
struct pel_memcached_clock {
    struct pel_reactor_timer timer; /* armed for the next deadline */
    int64_t progress; /* when bytes last moved in either direction, or the first operation became pending */
    struct pel_memcached_deadline *deadlines, **deadlines_tail; /* of operations with a timeout of their own */
    unsigned grace_given : 1; /* the timer was late and was extended, once since the last progress */
};

/* The instant so many nanoseconds from now; PEL_FOREVER stays itself. */
int64_t pel_memcached_instant(int64_t timeout);

/* The instant at which the connection times out for an operation that began at `started`: counted from there or from
 * the last progress, whichever is later. */
int64_t pel_memcached_due(const struct pel_memcached_connection *connection, int64_t started);

/* Starts the connection's clock: its first operation has become pending. */
void pel_memcached_start_waiting(struct pel_memcached_connection *connection);

/* Gives an operation that was just added a deadline of its own. */
void pel_memcached_set_deadline(struct pel_memcached_connection *connection, struct pel_operation *operation,
                                int64_t due);

/* Drops the deadlines of settled operations at the head of the list; or, with `all`, every deadline. */
void pel_memcached_forget_deadlines(struct pel_memcached_connection *connection, int all);

/* Call when the timer has fired. Fails the overdue operations and arms the timer again. 1: the connection itself is
 * overdue, and the caller fails it. */
int pel_memcached_expire(struct pel_memcached_connection *connection);
