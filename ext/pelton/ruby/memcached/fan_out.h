#pragma once

#include "ruby/memcached/memcached_connection.h"

/*
 * A fan-out: one operation over many commands, on one server or several. Each server gets one shard request, whose
 * commands are sent together and whose replies come in their order. The operation is settled when the last shard
 * request is complete. An error reply to one command does not stop the others: the operation fails with the first error
 * when all are done.
 *
 *     fan_out = pel_memcached_fan_out_new(reactor, kind, deadline);
 *     for each server: pel_memcached_fan_out_add, and append its commands to its connection's output
 *     pel_memcached_fan_out_release(fan_out);
 */

enum pel_memcached_fan_out_kind {
    PEL_MEMCACHED_FAN_OUT_VALUES,         /* a Hash of the keys that exist to their values */
    PEL_MEMCACHED_FAN_OUT_ENCODED_VALUES, /* the same; to [value, flags] where there are flags */
    PEL_MEMCACHED_FAN_OUT_STORED,         /* the number of values stored */
    PEL_MEMCACHED_FAN_OUT_DELETED,        /* the number of keys deleted */
    PEL_MEMCACHED_FAN_OUT_VERSIONS,       /* a Hash of the servers to their versions */
    PEL_MEMCACHED_FAN_OUT_STATISTICS,     /* a Hash of the servers to Hashes */
    PEL_MEMCACHED_FAN_OUT_FLUSHED         /* true */
};

struct pel_memcached_fan_out {
    struct pel_operation *operation; /* a caller that uses it after the release takes a reference of its own */
    enum pel_memcached_fan_out_kind kind;
    int64_t deadline; /* by pel_now, or PEL_FOREVER */
    int partial;      /* errors are ignored: the result is whatever the servers answered */
    VALUE outcome;    /* Array of the result's Hash, and the first error or nil */
    size_t successes;
    size_t references; /* one for each pending shard request, one for the caller until it releases */
};

/* The caller keeps fan_out->outcome on its stack until the release: connections mark the fan-outs of their shard
 * requests, and nothing else marks it. Raises NoMemoryError. */
struct pel_memcached_fan_out *pel_memcached_fan_out_new(struct pel_reactor *reactor,
                                                        enum pel_memcached_fan_out_kind kind, int64_t deadline);

/* Adds a shard request of `count` commands, which the caller appends to the connection's output next. keys: an Array of
 * that length, or nil. */
void pel_memcached_fan_out_add(struct pel_memcached_fan_out *fan_out, struct pel_memcached_connection *connection,
                               VALUE keys, size_t count);

/* Records an error; the first one counts. For a shard request that could not be sent, too. */
void pel_memcached_fan_out_fail(struct pel_memcached_fan_out *fan_out, VALUE error);

/* Drops a reference. The last one settles the operation and frees the fan-out. */
void pel_memcached_fan_out_release(struct pel_memcached_fan_out *fan_out);

/* ---- the shard requests of a connection ------------------------------------------------------------------------ */

void pel_memcached_mark_shards(struct pel_memcached_connection *connection);

/* Applies a reply to the oldest shard request. 0; 1 when the reply begins a value; PEL_EPROTOCOL when it does not fit.
 */
int pel_memcached_shard_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* Applies a value that was received as a whole, as the next key's result. */
int pel_memcached_shard_value(struct pel_memcached_connection *connection, VALUE result);

/* The request by which the oldest shard request reads its keys: GET or GET_ENCODED; SHARD when it reads no values. */
enum pel_memcached_request pel_memcached_shard_reads(const struct pel_memcached_connection *connection);

/* The connection is closed: fails all shard requests. */
void pel_memcached_fail_shards(struct pel_memcached_connection *connection, VALUE error);

/* The reactor stops: fails the fan-outs' operations; those that fibers await only if `all`. */
void pel_memcached_cancel_shards(struct pel_memcached_connection *connection, VALUE error, int all);

/* Frees the shard requests without settling anything: the connection is garbage. */
void pel_memcached_free_shards(struct pel_memcached_connection *connection);
