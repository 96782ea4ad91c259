#include "memcached.h"

#include <errno.h>
#include "error.h"

/* What a memcached server answers: bytes to replies, replies to the operations they are owed to. */

#define DIRECT_VALUE 32768 /* a value with more to come is received straight into its string */
#define RECEIVES_A_TURN 16 /* hot buffers for one connection in one turn: 1 MB */

static VALUE cServerError;

static struct pel_operation *next_owed(struct pel_memcached_connection *connection)
{
    struct pel_operation *operation = connection->owed;

    if (!operation)
        return NULL;
    if (!(connection->owed = operation->next)) {
        connection->owed_tail = &connection->owed;
        pel_list_remove(connection->reactor, &connection->listed);
    }
    connection->owed_count--;
    return operation;
}

static void settle(struct pel_memcached_connection *connection, VALUE result, int failed)
{
    struct pel_operation *operation = next_owed(connection);

    if (failed)
        pel_operation_fail(operation, result);
    else
        pel_operation_succeed(operation, result);
    pel_operation_release(operation);
    if (connection->deadlines)
        pel_memcached_forget_deadlines(connection, 0);
}

static void complete(struct pel_memcached_connection *connection, VALUE value)
{
    settle(connection, value, 0);
}

static void complete_with_error(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    VALUE text = rb_sprintf("memcached at %" PRIsVALUE " answered %s %.*s", connection->address,
                            pel_memcached_kind_name(reply->kind), (int)reply->text.length, reply->text.bytes);

    settle(connection, rb_exc_new_str(cServerError, text), 1);
}

/* A reply to the oldest command. 0, or PEL_EPROTOCOL when it is none. */
static int reply_to(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    enum pel_memcached_request request;

    if (!connection->owed)
        return PEL_EPROTOCOL;
    request = connection->owed->request;
    switch (reply->kind) {
    case PEL_MEMCACHED_VA:
        if (request != PEL_MEMCACHED_GET)
            return PEL_EPROTOCOL;
        if (reply->value_whole) {
            complete(connection, rb_str_new(reply->value.bytes, (long)reply->value.length));
        } else {
            connection->value = rb_str_buf_new((long)reply->value_length);
            rb_str_cat(connection->value, reply->value.bytes, (long)reply->value.length);
        }
        return 0;
    case PEL_MEMCACHED_VALUE_PART:
        rb_str_cat(connection->value, reply->value.bytes, (long)reply->value.length);
        return 0;
    case PEL_MEMCACHED_VALUE_END:
        complete(connection, connection->value);
        connection->value = Qfalse;
        return 0;
    case PEL_MEMCACHED_EN:
        if (request != PEL_MEMCACHED_GET)
            return PEL_EPROTOCOL;
        complete(connection, Qnil);
        return 0;
    case PEL_MEMCACHED_HD:
        if (request != PEL_MEMCACHED_SET && request != PEL_MEMCACHED_DELETE)
            return PEL_EPROTOCOL;
        complete(connection, Qtrue);
        return 0;
    case PEL_MEMCACHED_NF:
    case PEL_MEMCACHED_NS:
    case PEL_MEMCACHED_EX:
        if (request != PEL_MEMCACHED_SET && request != PEL_MEMCACHED_DELETE)
            return PEL_EPROTOCOL;
        complete(connection, Qfalse);
        return 0;
    case PEL_MEMCACHED_VERSION:
        if (request != PEL_MEMCACHED_GET_VERSION)
            return PEL_EPROTOCOL;
        complete(connection, rb_str_new(reply->text.bytes, (long)reply->text.length));
        return 0;
    case PEL_MEMCACHED_SERVER_ERROR:
        complete_with_error(connection, reply);
        return 0;
    case PEL_MEMCACHED_ERROR:
    case PEL_MEMCACHED_CLIENT_ERROR:
        complete_with_error(connection, reply);
        /* The server may read the rest of that command, a value, as commands, and answer those: nothing that follows
         * can be matched with what was asked. */
        return PEL_EPROTOCOL;
    default:
        return PEL_EPROTOCOL;
    }
}

/* Parses all of the hot buffer's bytes. 0 or a parser's error. */
static int parse(struct pel_memcached_connection *connection, const char *bytes, size_t length)
{
    struct pel_memcached_reply reply;

    while (length) {
        size_t consumed;
        int code = pel_memcached_parse(&connection->parser, bytes, length, &consumed, &reply);
        bytes += consumed;
        length -= consumed;
        if (code > 0)
            code = reply_to(connection, &reply);
        if (code < 0)
            return code;
    }
    return 0;
}

/* The rest of a long value goes straight into its string. */
static ssize_t receive_value(struct pel_memcached_connection *connection, uint64_t pending)
{
    VALUE value = connection->value;
    long length = RSTRING_LEN(value);
    ssize_t count = pel_stream_receive(&connection->stream, RSTRING_PTR(value) + length, (size_t)pending);

    if (count > 0) {
        rb_str_set_len(value, length + count);
        pel_memcached_parser_skip_value(&connection->parser, (uint64_t)count);
    }
    return count;
}

void pel_memcached_receive(struct pel_memcached_connection *connection)
{
    for (int turns = 0; turns < RECEIVES_A_TURN && connection->stream.readable; turns++) {
        uint64_t pending = connection->value ? pel_memcached_parser_pending(&connection->parser) : 0;
        char *hot = pel_hot_buffer(connection->reactor);
        ssize_t count;
        int code = 0;
        if (pending >= DIRECT_VALUE) {
            count = receive_value(connection, pending);
        } else {
            count = pel_stream_receive(&connection->stream, hot, PEL_HOT_BUFFER);
            if (count > 0)
                code = parse(connection, hot, (size_t)count);
        }
        if (count == PEL_EAGAIN)
            return;
        if (count < 0) {
            pel_memcached_fail(connection, PEL_ESYSTEM, connection->stream.error, "read");
            return;
        }
        if (count == 0) {
            pel_memcached_fail(connection, PEL_ESYSTEM, ECONNRESET, "the server closed the connection");
            return;
        }
        if (code < 0) {
            pel_memcached_fail(connection, PEL_EPROTOCOL, 0,
                               code == PEL_ELIMIT ? "a reply that is too long" : "a reply that fits no request");
            return;
        }
        connection->progress = connection->reactor->loop.now;
        connection->excused = 0;
    }
}

void pel_init_memcached_reply(VALUE module)
{
    cServerError = rb_define_class_under(module, "ServerError", pel_eError);
}
