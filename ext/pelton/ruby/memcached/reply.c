#include "ruby/memcached/fan_out.h"

#include "core/base/decimal.h"
#include "ruby/base/convert.h"

/* A reply settles the oldest pending operation. */

/* No command of ours asks for an opaque: a reply that carries one is another client's. */
#define UNREQUESTED_FLAGS PEL_MEMCACHED_FLAG('O')

#define BIT(kind) (UINT32_C(1) << PEL_MEMCACHED_##kind)

/* The kinds of reply to each request, by the result that they mean: true, false, nil for an absent key, a value. (For
 * shard requests see fan_out.c.) */
static const struct {
    uint32_t yes, no, absent, value;
} answers_to[] = {
    [PEL_MEMCACHED_GET] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GET_ENCODED] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GETS] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GET_STREAM] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GET_ITEM] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_STORE] = {.yes = BIT(HD), .no = BIT(NS) | BIT(EX) | BIT(NF)},
    [PEL_MEMCACHED_DELETE] = {.yes = BIT(HD), .no = BIT(NF) | BIT(EX)},
    [PEL_MEMCACHED_TOUCH] = {.yes = BIT(HD), .no = BIT(EN)},
    [PEL_MEMCACHED_COUNT] = {.value = BIT(VA), .absent = BIT(NF) | BIT(NS)},
    [PEL_MEMCACHED_GET_VERSION] = {.value = BIT(VERSION)},
    [PEL_MEMCACHED_REST] = {0},
    [PEL_MEMCACHED_SHARD] = {0},
};

static void settle_oldest(struct pel_memcached_connection *connection, VALUE result, int failed)
{
    struct pel_operation *operation = pel_memcached_take_pending(connection);

    if (failed)
        pel_operation_fail(operation, result);
    else
        pel_operation_succeed(operation, result);
    pel_operation_release(operation);
    if (connection->clock.deadlines)
        pel_memcached_forget_deadlines(connection, 0);
}

/* A decimal number, which spaces may follow; Qfalse when the text is not one. */
static VALUE decimal_number(VALUE text)
{
    struct pel_slice digits = pel_string_slice(text);
    uint64_t count;

    while (digits.length && digits.bytes[digits.length - 1] == ' ')
        digits.length--;
    return pel_decimal(digits, UINT64_MAX, &count) < 0 ? Qfalse : ULL2NUM(count);
}

/* The result of a get of this kind, made of the value and of what the reply said about its item. */
static VALUE get_result(struct pel_memcached_connection *connection, enum pel_memcached_request request, VALUE value)
{
    if (request == PEL_MEMCACHED_GET)
        return value;
    if (request == PEL_MEMCACHED_GET_STREAM)
        return pel_memcached_value_stream(value);
    if (request == PEL_MEMCACHED_GET_ITEM)
        return rb_ary_new_from_args(5, value, UINT2NUM(connection->value.flags), ULL2NUM(connection->value.cas),
                                    LL2NUM(connection->value.ttl), connection->value.won ? Qtrue : Qfalse);
    if (connection->value.flags)
        value = rb_assoc_new(value, UINT2NUM(connection->value.flags));
    return request == PEL_MEMCACHED_GETS ? rb_assoc_new(value, ULL2NUM(connection->value.cas)) : value;
}

/* The oldest request's value is complete. */
static int finish_value(struct pel_memcached_connection *connection, VALUE value)
{
    enum pel_memcached_request request = connection->pending.first->request;

    if (request == PEL_MEMCACHED_SHARD)
        return pel_memcached_shard_value(connection,
                                         get_result(connection, pel_memcached_shard_reads(connection), value));
    if (request == PEL_MEMCACHED_REST) {
        settle_oldest(connection, value ? value : Qnil, 0);
        return 0;
    }
    value = request == PEL_MEMCACHED_COUNT ? decimal_number(value) : get_result(connection, request, value);
    if (!value) /* a count that is not a number */
        return PEL_EPROTOCOL;
    settle_oldest(connection, value, 0);
    return 0;
}

static int begin_item_value(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    if (reply->flags & UNREQUESTED_FLAGS)
        return PEL_EPROTOCOL;
    connection->value.flags = reply->flags & PEL_MEMCACHED_FLAG('f') ? reply->client_flags : 0;
    connection->value.cas = reply->flags & PEL_MEMCACHED_FLAG('c') ? reply->cas : 0;
    connection->value.ttl = reply->flags & PEL_MEMCACHED_FLAG('t') ? reply->ttl : -1;
    connection->value.won = (reply->flags & PEL_MEMCACHED_FLAG('W')) != 0;
    if (reply->value_whole)
        return finish_value(connection, pel_slice_string(reply->value));
    if (connection->pending.first->request == PEL_MEMCACHED_GET_STREAM && pel_memcached_can_relay(connection)) {
        settle_oldest(connection, pel_memcached_begin_relay(connection, reply), 0);
        return 0;
    }
    connection->value.bytes = rb_str_buf_new((long)reply->value_length);
    rb_str_cat(connection->value.bytes, reply->value.bytes, (long)reply->value.length);
    return 0;
}

static int end_reply_value(struct pel_memcached_connection *connection)
{
    VALUE value = connection->value.bytes;
    int code = finish_value(connection, value);

    connection->value.bytes = Qfalse;
    RB_GC_GUARD(value);
    return code;
}

/* A server that does not understand a command may read the bytes after it, such as a set's value, as commands, and
 * answer those as well. Then no later reply can be matched with its request: PEL_EPROTOCOL. */
static int code_after_error(enum pel_memcached_request request, enum pel_memcached_kind kind)
{
    int aligned =
        kind == PEL_MEMCACHED_SERVER_ERROR || (kind == PEL_MEMCACHED_CLIENT_ERROR && request == PEL_MEMCACHED_COUNT);

    return aligned ? 0 : PEL_EPROTOCOL;
}

static int is_error(enum pel_memcached_kind kind)
{
    return kind == PEL_MEMCACHED_SERVER_ERROR || kind == PEL_MEMCACHED_CLIENT_ERROR || kind == PEL_MEMCACHED_ERROR;
}

/* A reply that is not in the table. */
static int other_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    enum pel_memcached_request request = connection->pending.first->request;

    if (reply->kind == PEL_MEMCACHED_VALUE_PART) {
        rb_str_cat(connection->value.bytes, reply->value.bytes, (long)reply->value.length);
        return 0;
    }
    if (reply->kind == PEL_MEMCACHED_VALUE_END)
        return end_reply_value(connection);
    if (request == PEL_MEMCACHED_SHARD) {
        int code = pel_memcached_shard_reply(connection, reply);
        return code > 0 ? begin_item_value(connection, reply) : code;
    }
    if (!is_error(reply->kind))
        return PEL_EPROTOCOL;
    settle_oldest(connection, pel_memcached_server_error(connection, reply), 1);
    return code_after_error(request, reply->kind);
}

int pel_memcached_handle_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    uint32_t bit = UINT32_C(1) << reply->kind;
    enum pel_memcached_request request;
    VALUE result;

    if (!connection->pending.first)
        return PEL_EPROTOCOL;
    request = connection->pending.first->request;
    if (pel_memcached_match_key(connection, reply,
                                request == PEL_MEMCACHED_SHARD ? pel_memcached_shard_reads(connection) : request) < 0)
        return PEL_EPROTOCOL;
    if (answers_to[request].value & bit) {
        if (reply->kind == PEL_MEMCACHED_VA)
            return begin_item_value(connection, reply);
        result = pel_slice_string(reply->text);
    } else if (answers_to[request].yes & bit) {
        result = Qtrue;
    } else if (answers_to[request].absent & bit) {
        result = Qnil;
    } else if (answers_to[request].no & bit) {
        result = Qfalse;
    } else {
        return other_reply(connection, reply);
    }
    settle_oldest(connection, result, 0);
    return 0;
}
