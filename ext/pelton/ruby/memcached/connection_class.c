#include "ruby/memcached/fan_out.h"

#include <errno.h>
#include <unistd.h>
#include "ruby/base/exception.h"
#include "ruby/stream/stream_object.h"

/* Pelton::Memcached::Connection: the object, its events, and its Ruby methods. */

#define FLUSH_AT 65536 /* bytes of output that are sent before the tick's end */

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void memcached_connection_mark(void *data)
{
    struct pel_memcached_connection *connection = data;

    rb_gc_mark(connection->self); /* pinned: C keeps the reference */
    rb_gc_mark(connection->reactor_object);
    rb_gc_mark(connection->address);
    rb_gc_mark(connection->failure.error);
    if (connection->relay)
        rb_gc_mark(connection->relay->self);
    if (connection->value.bytes)
        rb_gc_mark(connection->value.bytes); /* pinned: bytes are received straight into the String */
    for (struct pel_operation *operation = connection->pending.first; operation; operation = operation->next)
        pel_operation_mark(operation);
    pel_memcached_mark_shards(connection);
}

static void memcached_connection_free(void *data)
{
    struct pel_memcached_connection *connection = data;

    pel_memcached_release_stream(connection);
    pel_memcached_forget_deadlines(connection, 1);
    pel_memcached_free_shards(connection);
    while (connection->pending.first) {
        struct pel_operation *operation = connection->pending.first;
        connection->pending.first = operation->next;
        pel_operation_release(operation);
    }
    PEL_FREE(connection);
}

static size_t memcached_connection_size(const void *data)
{
    const struct pel_memcached_connection *connection = data;
    return sizeof *connection + connection->stream.output.capacity +
           connection->pending.count * sizeof(struct pel_operation);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: each operation would need a write barrier. */
static const rb_data_type_t memcached_connection_type = {.wrap_struct_name = "Pelton::Memcached::Connection",
                                                         .function = {.dmark = memcached_connection_mark,
                                                                      .dfree = memcached_connection_free,
                                                                      .dsize = memcached_connection_size},
                                                         .flags = RUBY_TYPED_FREE_IMMEDIATELY};

struct pel_memcached_connection *pel_memcached_connection_get(VALUE self)
{
    return rb_check_typeddata(self, &memcached_connection_type);
}

/* ---- sending -------------------------------------------------------------------------------------------------- */

int pel_memcached_send_soon(struct pel_memcached_connection *connection)
{
    struct pel_stream *stream = &connection->stream;
    int large;

    if (!connection->connected)
        return 0;
    large = pel_stream_pending(stream) >= FLUSH_AT && stream->writable;
    if (large)
        pel_stream_flush(stream); /* the flush at the tick's end meets any error again */
    pel_stream_flush_later(stream);
    return large;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

/* Registers the descriptor again, so that the loop reports once more that it is readable. A job would not do: none runs
 * while a fiber blocks the thread. */
static void report_readable_again(struct pel_memcached_connection *connection)
{
    struct pel_stream *stream = &connection->stream;

    if (pel_loop_arm(stream->loop, &stream->handle, PEL_READABLE | PEL_WRITABLE, PEL_EDGE) < 0)
        pel_memcached_fail(connection, PEL_ESYSTEM, errno, "the connection failed");
}

static void memcached_on_ready(struct pel_stream *stream, unsigned events)
{
    struct pel_memcached_connection *connection = (struct pel_memcached_connection *)stream;
    VALUE self = connection->self;

    if (connection->closed)
        return;
    if (connection->parsing) { /* an earlier receive was left by an exception, such as NoMemoryError */
        pel_memcached_fail(connection, PEL_EMEMORY, 0, "a reply was lost");
        return;
    }
    connection->parsing = 1;
    if (stream->error)
        pel_memcached_fail(connection, PEL_ESYSTEM, stream->error, "the connection failed");
    else if (connection->pending.first &&
             !connection->root.next) /* abandoned by the last run; values would be allocated */
        pel_memcached_fail(connection, PEL_ECLOSED, 0, "the run that awaited its replies has ended");
    else if (events & (PEL_READABLE | PEL_HANGUP))
        pel_memcached_receive(connection);
    connection->parsing = 0;
    if (connection->closed)
        return;
    if (events & PEL_WRITABLE)
        connection->clock.progress = connection->reactor->loop.now;
    /* This iteration's share is used up, or a value waits to be relayed: let other streams go first. */
    if (events & PEL_READABLE && stream->readable && !(connection->relay && connection->relay->started))
        report_readable_again(connection);
    if (connection->pending.count <= connection->limits.operations / 2 &&
        pel_stream_pending(stream) <= connection->limits.bytes / 2)
        pel_memcached_offer_capacity(connection);
    RB_GC_GUARD(self);
}

void pel_memcached_look(struct pel_memcached_connection *connection)
{
    struct pel_stream *stream = &connection->stream;

    stream->readable = 1; /* as far as the loop knows it may be: the read finds out */
    memcached_on_ready(stream, PEL_READABLE);
}

static void memcached_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct pel_memcached_connection *connection = PEL_LINKED(struct pel_memcached_connection, clock.timer, timer);

    if (pel_memcached_expire(connection))
        pel_memcached_fail(connection, PEL_ETIMEOUT, 0, "no progress");
}

/* The reactor stops. Operations of callback style are cancelled here. Fibers are cancelled by the reactor, and may need
 * the connection while they unwind, so it stays open. When the reactor leaves, fibers that still wait never go on, and
 * their operations are cancelled as well. */
static void stop_memcached_connection(struct pel_reactor *reactor, struct pel_root *root)
{
    struct pel_memcached_connection *connection = PEL_LINKED(struct pel_memcached_connection, root, root);
    VALUE error = rb_exc_new_cstr(pel_eCancelled, "the reactor stops");
    int leaves = reactor->phase == PEL_LEAVING;

    for (struct pel_operation *operation = connection->pending.first; operation; operation = operation->next)
        if (leaves || !operation->awaiters)
            pel_operation_settle(operation, PEL_FAILED, error, 0);
    pel_memcached_cancel_shards(connection, error, leaves);
    if (!connection->connected)
        pel_memcached_fail_with(
            connection, pel_memcached_error(connection, PEL_ECLOSED, 0, "the reactor stopped before it was connected"));
    else if (!leaves && connection->pending.first)
        pel_roots_add(&reactor->roots, root, connection->self);
    RB_GC_GUARD(error);
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* _new(address, operations, bytes, timeout in seconds or nil): a connecting one. Commands collect until _attach. */
static VALUE memcached_connection_s_new(VALUE class, VALUE address, VALUE operations, VALUE bytes, VALUE timeout)
{
    struct pel_memcached_connection *connection;
    VALUE self = TypedData_Make_Struct(class, struct pel_memcached_connection, &memcached_connection_type, connection);

    connection->stream.handle.fd = -1;
    connection->stream.handle.slot = PEL_UNREGISTERED;
    connection->stream.on_ready = memcached_on_ready;
    pel_buffer_init(&connection->stream.output);
    connection->reactor = pel_reactor_current();
    connection->self = self;
    connection->reactor_object = connection->reactor->self;
    connection->fork_generation = pel_fork_generation;
    connection->address = address;
    connection->failure.error = Qnil;
    connection->limits.operations = NUM2SIZET(operations);
    connection->limits.bytes = NUM2SIZET(bytes);
    connection->limits.timeout = NIL_P(timeout) ? PEL_FOREVER : pel_nanoseconds(timeout);
    connection->clock.timer.on_timeout = memcached_on_timeout;
    connection->pending.tail = &connection->pending.first;
    connection->clock.deadlines_tail = &connection->clock.deadlines;
    connection->pending.shards_tail = &connection->pending.shards;
    connection->value.bytes = Qfalse;
    connection->root.stop = stop_memcached_connection;
    pel_memcached_parser_init(&connection->parser);
    pel_roots_add(&connection->reactor->roots, &connection->root, self);
    return self;
}

/* _attach(stream): takes a connected stream over and sends the collected commands. The server speaks the meta
 * protocol. Returns whether the connection is open. */
static VALUE memcached_connection_attach(VALUE self, VALUE stream)
{
    struct pel_memcached_connection *connection = pel_memcached_connection_get(self);
    struct pel_buffer output = connection->stream.output;
    struct pel_layer *layer;
    int code, fd;

    if (connection->closed) {
        rb_funcall(stream, rb_intern("abort"), 0);
        return Qfalse;
    }
    fd = pel_stream_give_away(stream, &layer);
    code = pel_stream_open(&connection->stream, &connection->reactor->loop, fd);
    connection->stream.output = output;
    if (code < 0) {
        int error = errno;
        pel_layer_drop(layer);
        close(fd);
        pel_memcached_fail(connection, code, error, "connect");
        return Qfalse;
    }
    pel_stream_give_layer(&connection->stream, layer);
    connection->connected = 1;
    connection->clock.progress = pel_now();
    if (!connection->pending.first)
        pel_roots_remove(&connection->reactor->roots, &connection->root);
    pel_memcached_send_soon(connection);
    return connection->closed ? Qfalse : Qtrue;
}

/* _fail(error): closes the connection and fails its pending operations. */
static VALUE memcached_connection_fail(VALUE self, VALUE error)
{
    pel_memcached_fail_with(pel_memcached_connection_get(self), error);
    return Qnil;
}

static VALUE memcached_connection_connected_p(VALUE self)
{
    return pel_memcached_connection_get(self)->connected ? Qtrue : Qfalse;
}

static VALUE memcached_connection_closed_p(VALUE self)
{
    struct pel_memcached_connection *connection = pel_memcached_connection_get(self);
    return connection->closed || connection->fork_generation != pel_fork_generation ? Qtrue : Qfalse;
}

/* _replied?: whether the server ever sent something that could be a reply. */
static VALUE memcached_connection_replied_p(VALUE self)
{
    return pel_memcached_connection_get(self)->replied ? Qtrue : Qfalse;
}

/* _ended_idle?: whether it was closed while no operation was pending. */
static VALUE memcached_connection_ended_idle_p(VALUE self)
{
    return pel_memcached_connection_get(self)->failure.idle ? Qtrue : Qfalse;
}

/* _error: the error that ended the connection, or nil. */
static VALUE memcached_connection_error(VALUE self)
{
    return pel_memcached_failure(pel_memcached_connection_get(self));
}

void pel_init_memcached_connection(VALUE module)
{
    VALUE class = rb_define_class_under(module, "Connection", rb_cObject);

    rb_undef_alloc_func(class);
    rb_define_singleton_method(class, "_new", memcached_connection_s_new, 4);
    rb_define_method(class, "_attach", memcached_connection_attach, 1);
    rb_define_method(class, "_fail", memcached_connection_fail, 1);
    rb_define_method(class, "_replied?", memcached_connection_replied_p, 0);
    rb_define_method(class, "_ended_idle?", memcached_connection_ended_idle_p, 0);
    rb_define_method(class, "_error", memcached_connection_error, 0);
    rb_define_method(class, "connected?", memcached_connection_connected_p, 0);
    rb_define_method(class, "closed?", memcached_connection_closed_p, 0);
}
