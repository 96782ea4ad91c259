#include "ruby/memcached/fan_out.h"

/* How a connection ends, and every pending operation with it. */

void pel_memcached_release_stream(struct pel_memcached_connection *connection)
{
    /* The reactor may have been freed before: its timers are inactive then. Not so in a child after a fork, which must
     * not touch its parent's timers. */
    if (connection->fork_generation == pel_fork_generation && pel_timer_active(&connection->clock.timer.entry))
        pel_timer_cancel(&connection->reactor->loop.timers, &connection->clock.timer.entry);
    pel_stream_close(&connection->stream);
    pel_buffer_free(&connection->stream.output);
    pel_buffer_free(&connection->pending.keys);
}

void pel_memcached_fail_with(struct pel_memcached_connection *connection, VALUE error)
{
    struct pel_operation *pending = connection->pending.first;

    if (connection->closed)
        return;
    connection->closed = 1;
    connection->failure.idle = !pending;
    connection->failure.error = error;
    connection->pending.first = NULL;
    connection->pending.tail = &connection->pending.first;
    connection->pending.count = 0;
    connection->value.bytes = Qfalse;
    pel_memcached_end_relay(connection);
    pel_memcached_release_stream(connection);
    pel_roots_remove(&connection->reactor->roots, &connection->root);
    while (pending) {
        struct pel_operation *operation = pending;
        pending = pending->next;
        pel_operation_fail(operation, error);
        pel_operation_release(operation);
    }
    pel_memcached_fail_shards(connection, error);
    pel_memcached_forget_deadlines(connection, 1);
    pel_turns_fire_all(connection->reactor, &connection->capacity);
}

/* Without a GC root the connection may be garbage that is not swept yet. Then the objects that it refers to may be
 * swept already, and an allocation could sweep the connection itself. So its error is made when a caller asks for it.
 */
void pel_memcached_fail(struct pel_memcached_connection *connection, int code, int error_number, const char *what)
{
    VALUE error = Qnil;

    if (connection->closed)
        return;
    if (connection->root.next)
        error = pel_memcached_error(connection, code, error_number, what);
    else
        connection->failure = (struct pel_memcached_failure){Qnil, code, error_number, what, 0};
    pel_memcached_fail_with(connection, error);
}

VALUE pel_memcached_failure(struct pel_memcached_connection *connection)
{
    const struct pel_memcached_failure *failure = &connection->failure;

    if (NIL_P(connection->failure.error) && failure->what)
        connection->failure.error =
            pel_memcached_error(connection, failure->code, failure->error_number, failure->what);
    return connection->failure.error;
}
