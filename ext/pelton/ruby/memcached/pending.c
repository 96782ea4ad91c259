#include "ruby/memcached/memcached.h"

/* The operations whose replies are pending, in the order of their commands. */

struct pel_operation *pel_memcached_add_pending(struct pel_memcached_connection *connection,
                                                enum pel_memcached_request request, int64_t deadline)
{
    /* A shard request's operation only keeps its position in the list: the fan-out's operation keeps run going. */
    struct pel_operation *operation = pel_operation_new(connection->reactor, request != PEL_MEMCACHED_SHARD);

    operation->request = request;
    operation->next = NULL;
    if (!connection->pending)
        pel_memcached_start_waiting(connection);
    if (!connection->root.next) /* also when the last run's end removed the root while abandoned replies were pending */
        pel_roots_add(&connection->reactor->roots, &connection->root, connection->self);
    *connection->pending_tail = operation;
    connection->pending_tail = &operation->next;
    connection->pending_count++;
    if (deadline != PEL_FOREVER)
        pel_memcached_set_deadline(connection, operation, deadline);
    return operation;
}

struct pel_operation *pel_memcached_take_pending(struct pel_memcached_connection *connection)
{
    struct pel_operation *operation = connection->pending;

    if (!(connection->pending = operation->next)) {
        connection->pending_tail = &connection->pending;
        pel_roots_remove(&connection->reactor->roots, &connection->root);
    }
    connection->pending_count--;
    return operation;
}
