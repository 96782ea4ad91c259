#pragma once

#include <ruby.h>
#include "core/base/buffer.h"

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

/* What a server that does not know meta commands needs. */
struct pel_memcached_classic {
    struct pel_buffer untranslated; /* commands appended since the last pel_memcached_send_soon */
    unsigned spoken : 1;
    unsigned end_follows : 1;   /* an END line is still due for the value just received */
    unsigned counter_begun : 1; /* the add before an incr or decr was answered */
};

/* Applies a reply to the oldest pending operation. 0, or PEL_EPROTOCOL when it fits no request. */
int pel_memcached_handle_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* Rewrites a classic server's reply as the meta reply of the same meaning. 1; 0 when the reply adds nothing to an
 * earlier one; or PEL_EPROTOCOL. */
int pel_memcached_classic_to_meta(struct pel_memcached_connection *connection, struct pel_memcached_reply *reply);

/* Receives replies and settles their operations, one iteration's share (memcached_receive.c). */
void pel_memcached_receive(struct pel_memcached_connection *connection);
