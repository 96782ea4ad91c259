#include "memcached_gather.h"

#include "slice_string.h"

struct pel_memcached_part {
    struct pel_memcached_part *next; /* of its connection's */
    struct pel_memcached_gather *gather;
    VALUE keys;       /* Array, or nil */
    VALUE result;     /* of statistics: this server's */
    size_t at, count; /* replies */
};

struct pel_memcached_gather *pel_memcached_gather_new(struct pel_reactor *reactor, enum pel_memcached_gather_kind kind,
                                                      int64_t timeout)
{
    VALUE kept = rb_assoc_new(rb_hash_new(), Qnil);
    struct pel_memcached_gather *gather = ALLOC(struct pel_memcached_gather);

    *gather = (struct pel_memcached_gather){.kind = kind, .timeout = timeout, .kept = kept, .references = 1};
    gather->operation = pel_operation_new(reactor, 0); /* until it is sealed the fiber that builds keeps run going */
    RB_GC_GUARD(kept);
    return gather;
}

static VALUE hash_of(const struct pel_memcached_gather *gather)
{
    return RARRAY_AREF(gather->kept, 0);
}

static VALUE error_of(const struct pel_memcached_gather *gather)
{
    return RARRAY_AREF(gather->kept, 1);
}

static VALUE result_of(const struct pel_memcached_gather *gather)
{
    switch (gather->kind) {
    case PEL_MEMCACHED_GATHER_STORED:
    case PEL_MEMCACHED_GATHER_DELETED:
        return SIZET2NUM(gather->stored);
    case PEL_MEMCACHED_GATHER_FLUSHED:
        return Qtrue;
    default:
        return hash_of(gather);
    }
}

void pel_memcached_gather_sealed(struct pel_memcached_gather *gather)
{
    if (--gather->references)
        return;
    if (NIL_P(error_of(gather)) || gather->partial)
        pel_operation_settle(gather->operation, PEL_SUCCEEDED, result_of(gather), 0);
    else
        pel_operation_settle(gather->operation, PEL_FAILED, error_of(gather), 0);
    pel_operation_release(gather->operation);
    xfree(gather);
}

void pel_memcached_gather_fail(struct pel_memcached_gather *gather, VALUE error)
{
    if (NIL_P(error_of(gather)))
        rb_ary_store(gather->kept, 1, error);
}

void pel_memcached_gather_add(struct pel_memcached_gather *gather, struct pel_memcached_connection *connection,
                              VALUE keys, size_t count)
{
    struct pel_memcached_part *part = ALLOC(struct pel_memcached_part);
    int statistics = gather->kind == PEL_MEMCACHED_GATHER_STATISTICS;
    struct pel_operation *owed = pel_memcached_owe(connection, PEL_MEMCACHED_PART, PEL_FOREVER);

    *part = (struct pel_memcached_part){.gather = gather, .keys = keys, .result = Qnil, .count = count};
    owed->heard = 1; /* nobody awaits it: it keeps the part's place */
    gather->references++;
    *connection->parts_tail = part;
    connection->parts_tail = &part->next;
    if (statistics)
        part->result = rb_hash_new();
    if (gather->timeout != PEL_FOREVER)
        pel_memcached_set_deadline(connection, gather->operation, gather->timeout);
}

/* ---- for the connection --------------------------------------------------------------------------------------- */

void pel_memcached_mark_parts(struct pel_memcached_connection *connection)
{
    for (struct pel_memcached_part *part = connection->parts; part; part = part->next) {
        rb_gc_mark(part->keys);
        rb_gc_mark(part->result);
        rb_gc_mark(part->gather->kept);
        pel_operation_mark(part->gather->operation);
    }
}

static struct pel_memcached_part *take_part(struct pel_memcached_connection *connection)
{
    struct pel_memcached_part *part = connection->parts;

    if (!(connection->parts = part->next))
        connection->parts_tail = &connection->parts;
    return part;
}

static void finish_part(struct pel_memcached_connection *connection)
{
    struct pel_operation *owed = pel_memcached_next_owed(connection);
    struct pel_memcached_part *part = take_part(connection);

    pel_operation_succeed(owed, Qnil);
    pel_operation_release(owed);
    pel_memcached_gather_sealed(part->gather);
    xfree(part);
    if (connection->deadlines)
        pel_memcached_forget_deadlines(connection, 0);
}

/* One command of the part is answered. */
static int answered(struct pel_memcached_connection *connection)
{
    struct pel_memcached_part *part = connection->parts;

    if (++part->at == part->count)
        finish_part(connection);
    return 0;
}

static int answered_yes(struct pel_memcached_connection *connection)
{
    connection->parts->gather->stored++;
    return answered(connection);
}

/* Of the server as a whole. */
static int answered_for_the_server(struct pel_memcached_connection *connection, VALUE answer)
{
    rb_hash_aset(hash_of(connection->parts->gather), connection->address, answer);
    return answered(connection);
}

int pel_memcached_part_value(struct pel_memcached_connection *connection, VALUE value)
{
    struct pel_memcached_part *part = connection->parts;
    enum pel_memcached_request request =
        part->gather->kind == PEL_MEMCACHED_GATHER_CODED_VALUES ? PEL_MEMCACHED_GET_CODED : PEL_MEMCACHED_GET;

    rb_hash_aset(hash_of(part->gather), RARRAY_AREF(part->keys, part->at),
                 pel_memcached_item(connection, request, value));
    return answered(connection);
}

/* An error is one command's alone, unless the server may have read what it could not make sense of as commands. */
static int refused(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    struct pel_memcached_gather *gather = connection->parts->gather;
    int for_the_server = gather->kind >= PEL_MEMCACHED_GATHER_VERSIONS;

    pel_memcached_gather_fail(gather, pel_memcached_server_error(connection, reply));
    answered(connection);
    return reply->kind == PEL_MEMCACHED_SERVER_ERROR || for_the_server ? 0 : PEL_EPROTOCOL;
}

static int value_reply(struct pel_memcached_connection *connection, enum pel_memcached_kind kind)
{
    if (kind == PEL_MEMCACHED_VA)
        return 1;
    return kind == PEL_MEMCACHED_EN ? answered(connection) : PEL_EPROTOCOL;
}

static int store_reply(struct pel_memcached_connection *connection, enum pel_memcached_kind kind)
{
    if (kind == PEL_MEMCACHED_HD)
        return answered_yes(connection);
    return kind == PEL_MEMCACHED_NS || kind == PEL_MEMCACHED_NF || kind == PEL_MEMCACHED_EX ? answered(connection)
                                                                                            : PEL_EPROTOCOL;
}

static int statistics_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    struct pel_memcached_part *part = connection->parts;

    if (reply->kind == PEL_MEMCACHED_STAT) {
        rb_hash_aset(part->result, pel_slice_string(reply->key), pel_slice_string(reply->text));
        return 0;
    }
    if (reply->kind != PEL_MEMCACHED_END && reply->kind != PEL_MEMCACHED_RESET)
        return PEL_EPROTOCOL;
    return answered_for_the_server(connection, part->result);
}

int pel_memcached_part_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    enum pel_memcached_kind kind = reply->kind;

    if (kind == PEL_MEMCACHED_SERVER_ERROR || kind == PEL_MEMCACHED_CLIENT_ERROR || kind == PEL_MEMCACHED_ERROR)
        return refused(connection, reply);
    switch (connection->parts->gather->kind) {
    case PEL_MEMCACHED_GATHER_VALUES:
    case PEL_MEMCACHED_GATHER_CODED_VALUES:
        return value_reply(connection, kind);
    case PEL_MEMCACHED_GATHER_STORED:
    case PEL_MEMCACHED_GATHER_DELETED:
        return store_reply(connection, kind);
    case PEL_MEMCACHED_GATHER_STATISTICS:
        return statistics_reply(connection, reply);
    case PEL_MEMCACHED_GATHER_VERSIONS:
        return kind == PEL_MEMCACHED_VERSION ? answered_for_the_server(connection, pel_slice_string(reply->text))
                                             : PEL_EPROTOCOL;
    case PEL_MEMCACHED_GATHER_FLUSHED:
        return kind == PEL_MEMCACHED_OK ? answered(connection) : PEL_EPROTOCOL;
    }
    return PEL_EPROTOCOL;
}

int pel_memcached_part_reads(const struct pel_memcached_connection *connection)
{
    return connection->parts->gather->kind <= PEL_MEMCACHED_GATHER_CODED_VALUES;
}

void pel_memcached_fail_parts(struct pel_memcached_connection *connection, VALUE error)
{
    while (connection->parts) {
        struct pel_memcached_part *part = take_part(connection);
        pel_memcached_gather_fail(part->gather, error);
        pel_memcached_gather_sealed(part->gather);
        xfree(part);
    }
}

void pel_memcached_cancel_parts(struct pel_memcached_connection *connection, VALUE error, int all)
{
    for (struct pel_memcached_part *part = connection->parts; part; part = part->next)
        if (all || !part->gather->operation->awaiters)
            pel_operation_settle(part->gather->operation, PEL_FAILED, error, 0);
}

void pel_memcached_forget_parts(struct pel_memcached_connection *connection)
{
    while (connection->parts) {
        struct pel_memcached_part *part = take_part(connection);
        if (--part->gather->references == 0) {
            pel_operation_release(part->gather->operation);
            xfree(part->gather);
        }
        xfree(part);
    }
}
