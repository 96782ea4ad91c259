#include "memcached_gather.h"

#include "slice_string.h"

/* What a reply means to the operation it is owed to. */

/* A server that names a key or repeats an opaque was not asked by us. */
#define NEVER_ASKED (PEL_MEMCACHED_FLAG('k') | PEL_MEMCACHED_FLAG('O'))

#define BIT(kind) (UINT32_C(1) << PEL_MEMCACHED_##kind)

/* The kinds of reply that a request has, and what they mean: true, false, nothing there, a value. (Parts have their
 * own: memcached_gather.c.) */
static const struct {
    uint32_t yes, no, absent, value;
} answers[] = {
    [PEL_MEMCACHED_GET] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GET_CODED] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GETS] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GET_STREAM] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_GET_ITEM] = {.value = BIT(VA), .absent = BIT(EN)},
    [PEL_MEMCACHED_STORE] = {.yes = BIT(HD), .no = BIT(NS) | BIT(EX) | BIT(NF)},
    [PEL_MEMCACHED_DELETE] = {.yes = BIT(HD), .no = BIT(NF) | BIT(EX)},
    [PEL_MEMCACHED_TOUCH] = {.yes = BIT(HD), .no = BIT(EN)},
    [PEL_MEMCACHED_COUNT] = {.value = BIT(VA), .absent = BIT(NF) | BIT(NS)},
    [PEL_MEMCACHED_COUNT_FROM] = {.value = BIT(VA), .absent = BIT(NF) | BIT(NS)},
    [PEL_MEMCACHED_GET_VERSION] = {.value = BIT(VERSION)},
    [PEL_MEMCACHED_REST] = {0},
    [PEL_MEMCACHED_PART] = {0},
};

static void complete(struct pel_memcached_connection *connection, VALUE result, int failed)
{
    struct pel_operation *operation = pel_memcached_next_owed(connection);

    if (failed)
        pel_operation_fail(operation, result);
    else
        pel_operation_succeed(operation, result);
    pel_operation_release(operation);
    if (connection->deadlines)
        pel_memcached_forget_deadlines(connection, 0);
}

/* A number in decimal, spaces after it allowed; Qfalse when it is none. */
static VALUE number(VALUE text)
{
    const char *at = RSTRING_PTR(text), *end = at + RSTRING_LEN(text);
    uint64_t count = 0;

    while (end > at && end[-1] == ' ')
        end--;
    if (at == end)
        return Qfalse;
    for (; at < end; at++)
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, (uint64_t)(*at - '0'), &count))
            return Qfalse;
    return ULL2NUM(count);
}

VALUE pel_memcached_item(struct pel_memcached_connection *connection, enum pel_memcached_request request, VALUE value)
{
    if (request == PEL_MEMCACHED_GET)
        return value;
    if (request == PEL_MEMCACHED_GET_STREAM)
        return pel_memcached_value_stream(value);
    if (request == PEL_MEMCACHED_GET_ITEM)
        return rb_ary_new_from_args(5, value, UINT2NUM(connection->value_flags), ULL2NUM(connection->value_cas),
                                    LL2NUM(connection->value_ttl), connection->value_won ? Qtrue : Qfalse);
    if (connection->value_flags)
        value = rb_assoc_new(value, UINT2NUM(connection->value_flags));
    return request == PEL_MEMCACHED_GETS ? rb_assoc_new(value, ULL2NUM(connection->value_cas)) : value;
}

static int is_count(enum pel_memcached_request request)
{
    return request == PEL_MEMCACHED_COUNT || request == PEL_MEMCACHED_COUNT_FROM;
}

/* The oldest request's value is whole. */
static int finish_value(struct pel_memcached_connection *connection, VALUE value)
{
    enum pel_memcached_request request = connection->owed->request;

    if (request == PEL_MEMCACHED_PART)
        return pel_memcached_part_value(connection, value);
    if (request == PEL_MEMCACHED_REST) {
        complete(connection, value ? value : Qnil, 0);
        return 0;
    }
    value = is_count(request) ? number(value) : pel_memcached_item(connection, request, value);
    if (!value) /* a count that is no number */
        return PEL_EPROTOCOL;
    complete(connection, value, 0);
    return 0;
}

static int begin_value(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    if (reply->flags & NEVER_ASKED && !connection->classic)
        return PEL_EPROTOCOL;
    connection->value_flags = reply->flags & PEL_MEMCACHED_FLAG('f') ? reply->client_flags : 0;
    connection->value_cas = reply->flags & PEL_MEMCACHED_FLAG('c') ? reply->cas : 0;
    connection->value_ttl = reply->flags & PEL_MEMCACHED_FLAG('t') ? reply->ttl : -1;
    connection->value_won = (reply->flags & PEL_MEMCACHED_FLAG('W')) != 0;
    if (reply->value_whole)
        return finish_value(connection, pel_slice_string(reply->value));
    if (connection->owed->request == PEL_MEMCACHED_GET_STREAM && pel_memcached_can_flow(connection)) {
        complete(connection, pel_memcached_begin_flow(connection, reply), 0);
        return 0;
    }
    connection->value = rb_str_buf_new((long)reply->value_length);
    rb_str_cat(connection->value, reply->value.bytes, (long)reply->value.length);
    return 0;
}

static int end_value(struct pel_memcached_connection *connection)
{
    VALUE value = connection->value;
    int code = finish_value(connection, value);

    connection->value = Qfalse;
    RB_GC_GUARD(value);
    return code;
}

/* What the server could not make sense of it may have read as commands, the value of a set too, and answers those as
 * well: nothing that follows can be matched with what was asked. */
static int after_error(enum pel_memcached_request request, enum pel_memcached_kind kind)
{
    int aligned = kind == PEL_MEMCACHED_SERVER_ERROR || (kind == PEL_MEMCACHED_CLIENT_ERROR && is_count(request));

    return aligned ? 0 : PEL_EPROTOCOL;
}

static int is_error(enum pel_memcached_kind kind)
{
    return kind == PEL_MEMCACHED_SERVER_ERROR || kind == PEL_MEMCACHED_CLIENT_ERROR || kind == PEL_MEMCACHED_ERROR;
}

/* What is not simply an answer. */
static int other_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    enum pel_memcached_request request = connection->owed->request;

    if (reply->kind == PEL_MEMCACHED_VALUE_PART) {
        rb_str_cat(connection->value, reply->value.bytes, (long)reply->value.length);
        return 0;
    }
    if (reply->kind == PEL_MEMCACHED_VALUE_END)
        return end_value(connection);
    if (request == PEL_MEMCACHED_PART) {
        int code = pel_memcached_part_reply(connection, reply);
        return code > 0 ? begin_value(connection, reply) : code;
    }
    if (is_error(reply->kind)) {
        complete(connection, pel_memcached_server_error(connection, reply), 1);
        return after_error(request, reply->kind);
    }
    if (reply->kind != PEL_MEMCACHED_NUMBER || !connection->classic)
        return PEL_EPROTOCOL;
    complete(connection, ULL2NUM(reply->number), 0);
    return 0;
}

int pel_memcached_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    uint32_t bit = UINT32_C(1) << reply->kind;
    enum pel_memcached_request request;
    VALUE result;

    if (!connection->owed)
        return PEL_EPROTOCOL;
    request = connection->owed->request;
    if (answers[request].value & bit) {
        if (reply->kind == PEL_MEMCACHED_VA)
            return begin_value(connection, reply);
        result = pel_slice_string(reply->text);
    } else if (answers[request].yes & bit) {
        result = Qtrue;
    } else if (answers[request].absent & bit) {
        result = Qnil;
    } else if (answers[request].no & bit) {
        result = Qfalse;
    } else {
        return other_reply(connection, reply);
    }
    complete(connection, result, 0);
    return 0;
}
