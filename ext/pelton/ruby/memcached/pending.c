#include "ruby/memcached/memcached_connection.h"

#include "core/base/slice.h"

/* The operations whose replies are pending, in the order of their commands; and the keys of the gets among them. */

#define KEY PEL_MEMCACHED_FLAG('k')

/* A number that other keys seldom have, and never 0: of the key's end, where keys differ most, and its length. */
static uint32_t key_mark(struct pel_slice key)
{
    size_t length = pel_min(key.length, sizeof(uint64_t));
    uint64_t end = 0;

    if (key.length > PEL_MEMCACHED_KEY_LIMIT) /* it is refused when it is written, and may have fewer bytes */
        return 1;
    memcpy(&end, key.bytes + key.length - length, length);
    return (uint32_t)((end ^ key.length) * UINT64_C(0x9e3779b97f4a7c15) >> 32) | 1;
}

int pel_memcached_write_read(struct pel_memcached_connection *connection, struct pel_memcached_command *command)
{
    uint32_t mark = 0;
    int code;

    command->flags &= ~KEY;
    if (connection->pending.asks_key) {
        command->flags |= KEY;
        mark = key_mark(command->key);
    }
    if ((code = pel_buffer_append(&connection->pending.keys, &mark, sizeof mark)) < 0)
        return code;
    if ((code = pel_memcached_write_get(&connection->stream.output, command)) < 0)
        connection->pending.keys.end -= sizeof mark;
    else
        connection->pending.asks_key = !connection->pending.asks_key;
    return code;
}

int pel_memcached_match_key(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply,
                            enum pel_memcached_request request)
{
    uint32_t mark;

    if (request > PEL_MEMCACHED_GET_ITEM || reply->kind == PEL_MEMCACHED_VALUE_PART ||
        reply->kind == PEL_MEMCACHED_VALUE_END)
        return 1;
    if (pel_buffer_length(&connection->pending.keys) < sizeof mark)
        return PEL_EPROTOCOL;
    memcpy(&mark, pel_buffer_head(&connection->pending.keys), sizeof mark);
    pel_buffer_consume(&connection->pending.keys, sizeof mark);
    if (reply->kind != PEL_MEMCACHED_VA)
        return 1;
    return mark == (reply->flags & KEY ? key_mark(reply->key) : 0) ? 1 : PEL_EPROTOCOL;
}

struct pel_operation *pel_memcached_add_pending(struct pel_memcached_connection *connection,
                                                enum pel_memcached_request request, int64_t deadline)
{
    /* A shard request's operation only keeps its position in the list: the fan-out's operation keeps run going. */
    struct pel_operation *operation = pel_operation_new(connection->reactor, request != PEL_MEMCACHED_SHARD);

    operation->request = request;
    operation->next = NULL;
    if (!connection->pending.first)
        pel_memcached_start_waiting(connection);
    if (!connection->root.next) /* also when the last run's end removed the root while abandoned replies were pending */
        pel_roots_add(&connection->reactor->roots, &connection->root, connection->self);
    *connection->pending.tail = operation;
    connection->pending.tail = &operation->next;
    connection->pending.count++;
    if (deadline != PEL_FOREVER)
        pel_memcached_set_deadline(connection, operation, deadline);
    return operation;
}

struct pel_operation *pel_memcached_take_pending(struct pel_memcached_connection *connection)
{
    struct pel_operation *operation = connection->pending.first;

    if (!(connection->pending.first = operation->next)) {
        connection->pending.tail = &connection->pending.first;
        pel_roots_remove(&connection->reactor->roots, &connection->root);
    }
    connection->pending.count--;
    return operation;
}
