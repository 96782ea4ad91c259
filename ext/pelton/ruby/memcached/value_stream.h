#pragma once

#include <ruby.h>

struct pel_memcached_connection;
struct pel_memcached_reply;
struct pel_waiter;

/* A value that is relayed: its bytes go to another stream by splice instead of being received here (value_stream.c). */
struct pel_memcached_relay {
    VALUE self;
    struct pel_waiter *waiter; /* the fiber that relays, while it waits for more bytes */
    unsigned offered : 1;      /* the loop has iterated since the value's head came */
    unsigned started : 1;      /* a fiber has begun to relay */
};

/* A ValueStream of a value that was received as a whole. */
VALUE pel_memcached_value_stream(VALUE value);

/* Whether the value whose head has come may be relayed. */
int pel_memcached_can_relay(const struct pel_memcached_connection *connection);

/* A ValueStream to be relayed. Adds a pending operation for the rest of its value, after the operation that asked. */
VALUE pel_memcached_begin_relay(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* More bytes have come: wakes the relaying fiber, or has the rest received when no fiber relays. */
void pel_memcached_relay_ready(struct pel_memcached_connection *connection);

/* The connection is closed. */
void pel_memcached_end_relay(struct pel_memcached_connection *connection);

void pel_init_memcached_value_stream(VALUE module);
