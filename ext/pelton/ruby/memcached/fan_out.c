#include "ruby/memcached/fan_out.h"

#include "ruby/base/convert.h"

struct pel_memcached_shard_request {
    struct pel_memcached_shard_request *next; /* of the same connection */
    struct pel_memcached_fan_out *fan_out;
    VALUE keys;             /* Array, or nil */
    VALUE result;           /* Hash of this server's statistics, or nil */
    size_t answered, count; /* commands */
};

struct pel_memcached_fan_out *pel_memcached_fan_out_new(struct pel_reactor *reactor,
                                                        enum pel_memcached_fan_out_kind kind, int64_t deadline)
{
    VALUE outcome = rb_assoc_new(rb_hash_new(), Qnil);
    struct pel_memcached_fan_out *fan_out = ALLOC(struct pel_memcached_fan_out);

    *fan_out = (struct pel_memcached_fan_out){.kind = kind, .deadline = deadline, .outcome = outcome, .references = 1};
    fan_out->operation = pel_operation_new(reactor, 0); /* until the release the calling fiber keeps run going */
    RB_GC_GUARD(outcome);
    return fan_out;
}

static VALUE fan_out_hash(const struct pel_memcached_fan_out *fan_out)
{
    return RARRAY_AREF(fan_out->outcome, 0);
}

static VALUE fan_out_error(const struct pel_memcached_fan_out *fan_out)
{
    return RARRAY_AREF(fan_out->outcome, 1);
}

static VALUE fan_out_result(const struct pel_memcached_fan_out *fan_out)
{
    switch (fan_out->kind) {
    case PEL_MEMCACHED_FAN_OUT_STORED:
    case PEL_MEMCACHED_FAN_OUT_DELETED:
        return SIZET2NUM(fan_out->successes);
    case PEL_MEMCACHED_FAN_OUT_FLUSHED:
        return Qtrue;
    default:
        return fan_out_hash(fan_out);
    }
}

void pel_memcached_fan_out_release(struct pel_memcached_fan_out *fan_out)
{
    if (--fan_out->references)
        return;
    if (NIL_P(fan_out_error(fan_out)) || fan_out->partial)
        pel_operation_settle(fan_out->operation, PEL_SUCCEEDED, fan_out_result(fan_out), 0);
    else
        pel_operation_settle(fan_out->operation, PEL_FAILED, fan_out_error(fan_out), 0);
    pel_operation_release(fan_out->operation);
    PEL_FREE(fan_out);
}

void pel_memcached_fan_out_fail(struct pel_memcached_fan_out *fan_out, VALUE error)
{
    if (NIL_P(fan_out_error(fan_out)))
        rb_ary_store(fan_out->outcome, 1, error);
}

void pel_memcached_fan_out_add(struct pel_memcached_fan_out *fan_out, struct pel_memcached_connection *connection,
                               VALUE keys, size_t count)
{
    struct pel_memcached_shard_request *shard = ALLOC(struct pel_memcached_shard_request);
    int statistics = fan_out->kind == PEL_MEMCACHED_FAN_OUT_STATISTICS;
    struct pel_operation *pending = pel_memcached_add_pending(connection, PEL_MEMCACHED_SHARD, PEL_FOREVER);

    *shard = (struct pel_memcached_shard_request){.fan_out = fan_out, .keys = keys, .result = Qnil, .count = count};
    pending->handled = 1; /* it is not awaited: it only marks the shard request's position */
    fan_out->references++;
    *connection->pending.shards_tail = shard;
    connection->pending.shards_tail = &shard->next;
    if (statistics)
        shard->result = rb_hash_new();
    if (fan_out->deadline != PEL_FOREVER)
        pel_memcached_set_deadline(connection, fan_out->operation, fan_out->deadline);
}

/* ---- the shard requests of a connection ------------------------------------------------------------------------ */

void pel_memcached_mark_shards(struct pel_memcached_connection *connection)
{
    for (struct pel_memcached_shard_request *shard = connection->pending.shards; shard; shard = shard->next) {
        rb_gc_mark(shard->keys);
        rb_gc_mark(shard->result);
        rb_gc_mark(shard->fan_out->outcome);
        pel_operation_mark(shard->fan_out->operation);
    }
}

static struct pel_memcached_shard_request *take_shard(struct pel_memcached_connection *connection)
{
    struct pel_memcached_shard_request *shard = connection->pending.shards;

    if (!(connection->pending.shards = shard->next))
        connection->pending.shards_tail = &connection->pending.shards;
    return shard;
}

static void finish_shard(struct pel_memcached_connection *connection)
{
    struct pel_operation *pending = pel_memcached_take_pending(connection);
    struct pel_memcached_shard_request *shard = take_shard(connection);

    pel_operation_succeed(pending, Qnil);
    pel_operation_release(pending);
    pel_memcached_fan_out_release(shard->fan_out);
    PEL_FREE(shard);
    if (connection->clock.deadlines)
        pel_memcached_forget_deadlines(connection, 0);
}

/* One more command of the oldest shard request was answered. */
static int shard_answered(struct pel_memcached_connection *connection)
{
    struct pel_memcached_shard_request *shard = connection->pending.shards;

    if (++shard->answered == shard->count)
        finish_shard(connection);
    return 0;
}

static int shard_succeeded(struct pel_memcached_connection *connection)
{
    connection->pending.shards->fan_out->successes++;
    return shard_answered(connection);
}

/* The answer is the result for the whole server. */
static int shard_server_answered(struct pel_memcached_connection *connection, VALUE answer)
{
    rb_hash_aset(fan_out_hash(connection->pending.shards->fan_out), connection->address, answer);
    return shard_answered(connection);
}

int pel_memcached_shard_value(struct pel_memcached_connection *connection, VALUE result)
{
    struct pel_memcached_shard_request *shard = connection->pending.shards;

    rb_hash_aset(fan_out_hash(shard->fan_out), RARRAY_AREF(shard->keys, shard->answered), result);
    return shard_answered(connection);
}

/* An error reply concerns one command alone, unless the server may have read bytes that it did not understand, such as
 * a value, as commands: then PEL_EPROTOCOL. */
static int shard_refused(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    struct pel_memcached_fan_out *fan_out = connection->pending.shards->fan_out;
    int without_keys = fan_out->kind >= PEL_MEMCACHED_FAN_OUT_VERSIONS;

    pel_memcached_fan_out_fail(fan_out, pel_memcached_server_error(connection, reply));
    shard_answered(connection);
    return reply->kind == PEL_MEMCACHED_SERVER_ERROR || without_keys ? 0 : PEL_EPROTOCOL;
}

static int shard_value_reply(struct pel_memcached_connection *connection, enum pel_memcached_kind kind)
{
    if (kind == PEL_MEMCACHED_VA)
        return 1;
    return kind == PEL_MEMCACHED_EN ? shard_answered(connection) : PEL_EPROTOCOL;
}

static int shard_store_reply(struct pel_memcached_connection *connection, enum pel_memcached_kind kind)
{
    if (kind == PEL_MEMCACHED_HD)
        return shard_succeeded(connection);
    return kind == PEL_MEMCACHED_NS || kind == PEL_MEMCACHED_NF || kind == PEL_MEMCACHED_EX ? shard_answered(connection)
                                                                                            : PEL_EPROTOCOL;
}

static int shard_statistics_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    struct pel_memcached_shard_request *shard = connection->pending.shards;

    if (reply->kind == PEL_MEMCACHED_STAT) {
        rb_hash_aset(shard->result, pel_slice_string(reply->key), pel_slice_string(reply->text));
        return 0;
    }
    if (reply->kind != PEL_MEMCACHED_END && reply->kind != PEL_MEMCACHED_RESET)
        return PEL_EPROTOCOL;
    return shard_server_answered(connection, shard->result);
}

int pel_memcached_shard_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    enum pel_memcached_kind kind = reply->kind;

    if (kind == PEL_MEMCACHED_SERVER_ERROR || kind == PEL_MEMCACHED_CLIENT_ERROR || kind == PEL_MEMCACHED_ERROR)
        return shard_refused(connection, reply);
    switch (connection->pending.shards->fan_out->kind) {
    case PEL_MEMCACHED_FAN_OUT_VALUES:
    case PEL_MEMCACHED_FAN_OUT_ENCODED_VALUES:
        return shard_value_reply(connection, kind);
    case PEL_MEMCACHED_FAN_OUT_STORED:
    case PEL_MEMCACHED_FAN_OUT_DELETED:
        return shard_store_reply(connection, kind);
    case PEL_MEMCACHED_FAN_OUT_STATISTICS:
        return shard_statistics_reply(connection, reply);
    case PEL_MEMCACHED_FAN_OUT_VERSIONS:
        return kind == PEL_MEMCACHED_VERSION ? shard_server_answered(connection, pel_slice_string(reply->text))
                                             : PEL_EPROTOCOL;
    case PEL_MEMCACHED_FAN_OUT_FLUSHED:
        return kind == PEL_MEMCACHED_OK ? shard_answered(connection) : PEL_EPROTOCOL;
    }
    return PEL_EPROTOCOL;
}

enum pel_memcached_request pel_memcached_shard_reads(const struct pel_memcached_connection *connection)
{
    switch (connection->pending.shards->fan_out->kind) {
    case PEL_MEMCACHED_FAN_OUT_VALUES:
        return PEL_MEMCACHED_GET;
    case PEL_MEMCACHED_FAN_OUT_ENCODED_VALUES:
        return PEL_MEMCACHED_GET_ENCODED;
    default:
        return PEL_MEMCACHED_SHARD;
    }
}

void pel_memcached_fail_shards(struct pel_memcached_connection *connection, VALUE error)
{
    while (connection->pending.shards) {
        struct pel_memcached_shard_request *shard = take_shard(connection);
        pel_memcached_fan_out_fail(shard->fan_out, error);
        pel_memcached_fan_out_release(shard->fan_out);
        PEL_FREE(shard);
    }
}

void pel_memcached_cancel_shards(struct pel_memcached_connection *connection, VALUE error, int all)
{
    for (struct pel_memcached_shard_request *shard = connection->pending.shards; shard; shard = shard->next)
        if (all || !shard->fan_out->operation->awaiters)
            pel_operation_settle(shard->fan_out->operation, PEL_FAILED, error, 0);
}

void pel_memcached_free_shards(struct pel_memcached_connection *connection)
{
    while (connection->pending.shards) {
        struct pel_memcached_shard_request *shard = take_shard(connection);
        if (--shard->fan_out->references == 0) {
            pel_operation_release(shard->fan_out->operation);
            PEL_FREE(shard->fan_out);
        }
        PEL_FREE(shard);
    }
}
