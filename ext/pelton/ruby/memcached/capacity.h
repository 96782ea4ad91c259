#pragma once

#include <stddef.h>
#include <stdint.h>

struct pel_memcached_connection;

struct pel_memcached_connection_limits {
    size_t operations, bytes; /* in flight. At these direct style waits; at twice these callback style fails */
    int64_t timeout;          /* nanoseconds without progress; PEL_FOREVER */
};

enum pel_memcached_capacity {
    PEL_MEMCACHED_HAS_CAPACITY,
    PEL_MEMCACHED_OVERLOADED,         /* callback style: twice the limits are in flight */
    PEL_MEMCACHED_CAPACITY_TIMED_OUT, /* direct style: the timeout passed while the fiber waited */
    PEL_MEMCACHED_CONNECTION_CLOSED,  /* while the fiber waited. Nothing was sent, so another connection will do */
};

/* Waits (direct style) until the connection is below its limits. Raises what is raised in the fiber. */
enum pel_memcached_capacity pel_memcached_wait_for_capacity(struct pel_memcached_connection *connection, int direct,
                                                            int64_t deadline);

/* Wakes the first waiting fiber if there is capacity. That fiber wakes the next one. */
void pel_memcached_offer_capacity(struct pel_memcached_connection *connection);
