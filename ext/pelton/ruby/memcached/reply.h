#pragma once

#include <ruby.h>

struct pel_memcached_connection;
struct pel_memcached_reply;

/* A long value that is being received, and its item's flags, cas, ttl and win bit. */
struct pel_memcached_value {
    VALUE bytes; /* or Qfalse */
    uint32_t flags;
    uint64_t cas;
    int64_t ttl;
    int won;
};

/* Applies a reply to the oldest pending operation. 0, or PEL_EPROTOCOL when it fits no request. */
int pel_memcached_handle_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* Receives replies and settles their operations, one iteration's share (memcached_receive.c). */
void pel_memcached_receive(struct pel_memcached_connection *connection);
