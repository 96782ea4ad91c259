#pragma once

#include "core/base/buffer.h"
#include "ruby/operation/operation.h"

struct pel_memcached_connection;
struct pel_memcached_command;
struct pel_memcached_reply;
struct pel_memcached_shard_request;

/* The request that an operation waits on, and the operation's result. */
enum pel_memcached_request {
    PEL_MEMCACHED_GET,         /* the value, or nil */
    PEL_MEMCACHED_GET_ENCODED, /* the same; or [value, flags] when there are flags */
    PEL_MEMCACHED_GETS,        /* [the result of GET_ENCODED, cas], or nil */
    PEL_MEMCACHED_GET_STREAM,  /* a ValueStream, or nil */
    PEL_MEMCACHED_GET_ITEM,    /* [value, flags, cas, remaining seconds or -1, whether the caller won], or nil */
    PEL_MEMCACHED_STORE,       /* whether the value was stored */
    PEL_MEMCACHED_DELETE,      /* whether the key existed */
    PEL_MEMCACHED_TOUCH,       /* whether the key existed */
    PEL_MEMCACHED_COUNT,       /* the number, or nil */
    PEL_MEMCACHED_GET_VERSION,
    PEL_MEMCACHED_REST, /* never sent: stands for the remaining bytes of a GET_STREAM's value */
    PEL_MEMCACHED_SHARD /* the shard request of one server in a fan-out */
};

/* The operations of a connection whose replies are still to come, in the order of the commands. */
struct pel_memcached_pending {
    struct pel_operation *first, **tail;
    size_t count;
    struct pel_memcached_shard_request *shards, **shards_tail; /* those of fan-outs (fan_out.h) */
    struct pel_buffer keys; /* of each pending get a number of 32 bits: its key's mark, or 0 when its reply must have no
                             * key */
    unsigned asks_key : 1;  /* the next get asks for its key */
};

/* Call after a command was appended: adds the operation that its reply will settle. deadline: of the
 * operation's own timeout, or PEL_FOREVER. */
struct pel_operation *pel_memcached_add_pending(struct pel_memcached_connection *connection,
                                                enum pel_memcached_request request, int64_t deadline);

/* Appends a get, which asks for its key in the reply if the get before has not. So a reply too many, or too few, is
 * noticed by the next one. Returns as pel_memcached_write_get. */
int pel_memcached_write_read(struct pel_memcached_connection *connection, struct pel_memcached_command *command);

/* Whether the reply fits the key that the oldest pending operation asked for. 1, or PEL_EPROTOCOL. */
int pel_memcached_match_key(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply,
                            enum pel_memcached_request request);

/* Removes the oldest pending operation. The caller settles and releases it. */
struct pel_operation *pel_memcached_take_pending(struct pel_memcached_connection *connection);
