#include "memcached.h"

#include <errno.h>
#include <unistd.h>
#include "error.h"
#include "protect.h"

#define SEND_AT 65536 /* bytes of output that are sent before the tick's end */

struct pel_memcached_room {
    struct pel_waiter *waiter;
    struct pel_memcached_room *next;
};

VALUE pel_cMemcachedConnection;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void connection_mark(void *data)
{
    struct pel_memcached_connection *connection = data;

    rb_gc_mark(connection->reactor_object);
    rb_gc_mark(connection->address);
    if (connection->value)
        rb_gc_mark(connection->value); /* pinned: bytes are received straight into it */
    for (struct pel_operation *operation = connection->owed; operation; operation = operation->next)
        pel_operation_mark(operation);
}

static void connection_free(void *data)
{
    struct pel_memcached_connection *connection = data;

    if (connection->stream.handle.slot != PEL_UNREGISTERED) {
        pel_stream_flush_forget(&connection->stream);
        pel_timer_cancel(&connection->reactor->loop.timers, &connection->stall.timer);
    }
    pel_stream_close(&connection->stream);
    pel_buffer_free(&connection->stream.output);
    while (connection->owed) {
        struct pel_operation *operation = connection->owed;
        connection->owed = operation->next;
        pel_operation_release(operation);
    }
    xfree(connection);
}

static size_t connection_size(const void *data)
{
    const struct pel_memcached_connection *connection = data;
    return sizeof *connection + connection->stream.output.capacity +
           connection->owed_count * sizeof(struct pel_operation);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: each operation would need a barrier. */
static const rb_data_type_t connection_type = {
    .wrap_struct_name = "Pelton::Memcached::Connection",
    .function = {.dmark = connection_mark, .dfree = connection_free, .dsize = connection_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

struct pel_memcached_connection *pel_memcached_connection_get(VALUE self)
{
    return rb_check_typeddata(self, &connection_type);
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

static void wake_for_room(struct pel_memcached_connection *connection)
{
    for (struct pel_memcached_room *room = connection->room; room; room = room->next)
        pel_waiter_fire(connection->reactor, room->waiter);
}

/* Fails all that is owed. Plain C but for memory. */
static void fail(struct pel_memcached_connection *connection, VALUE error)
{
    struct pel_operation *owed = connection->owed;

    if (connection->closed)
        return;
    connection->closed = 1;
    connection->owed = NULL;
    connection->owed_tail = &connection->owed;
    connection->owed_count = 0;
    connection->value = Qfalse;
    pel_timer_cancel(&connection->reactor->loop.timers, &connection->stall.timer);
    pel_stream_flush_forget(&connection->stream);
    pel_stream_close(&connection->stream);
    pel_buffer_free(&connection->stream.output);
    while (owed) {
        struct pel_operation *operation = owed;
        owed = owed->next;
        pel_operation_fail(operation, error);
        pel_operation_release(operation);
    }
    wake_for_room(connection);
}

void pel_memcached_fail(struct pel_memcached_connection *connection, int code, int error_number, const char *what)
{
    VALUE message = rb_sprintf("memcached at %" PRIsVALUE ": %s", connection->address, what);

    fail(connection, pel_error_new(code, error_number, StringValueCStr(message)));
    RB_GC_GUARD(message);
}

static void ring_stall(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct pel_memcached_connection *connection =
        (struct pel_memcached_connection *)((char *)alarm - offsetof(struct pel_memcached_connection, stall));
    int64_t deadline = connection->progress + connection->limits.timeout;

    if (!connection->owed)
        return;
    if (deadline > reactor->loop.now)
        pel_timer_add(&reactor->loop.timers, &alarm->timer, deadline);
    else
        pel_memcached_fail(connection, PEL_ETIMEOUT, 0, "no progress");
}

/* ---- events -------------------------------------------------------------------------------------------------- */

static void on_ready(struct pel_stream *stream, unsigned events);

static void run_again(struct pel_reactor *reactor, void *data)
{
    struct pel_memcached_connection *connection = data;
    VALUE self = connection->self;

    if (!connection->closed)
        on_ready(&connection->stream, PEL_READABLE);
    RB_GC_GUARD(self);
}

static void mark_connection(void *data)
{
    rb_gc_mark(((struct pel_memcached_connection *)data)->self);
}

static void on_ready(struct pel_stream *stream, unsigned events)
{
    struct pel_memcached_connection *connection = (struct pel_memcached_connection *)stream;
    VALUE self = connection->self;

    if (connection->closed)
        return;
    if (connection->parsing) { /* an exception, of memory, left a receive in the middle */
        pel_memcached_fail(connection, PEL_EMEMORY, 0, "a reply was lost");
        return;
    }
    connection->parsing = 1;
    if (stream->error)
        pel_memcached_fail(connection, PEL_ESYSTEM, stream->error, "the connection failed");
    else if (events & (PEL_READABLE | PEL_HANGUP))
        pel_memcached_receive(connection);
    connection->parsing = 0;
    if (!connection->closed && stream->readable) /* more than a turn's worth: others first */
        pel_enqueue(connection->reactor,
                    (struct pel_job){.run = run_again, .mark = mark_connection, .data = connection});
    if (connection->room && connection->owed_count <= connection->limits.operations / 2 &&
        pel_stream_pending(stream) <= connection->limits.bytes / 2)
        wake_for_room(connection);
    RB_GC_GUARD(self);
}

/* ---- requests ------------------------------------------------------------------------------------------------- */

static int full(const struct pel_memcached_connection *connection, size_t times)
{
    return connection->owed_count >= connection->limits.operations * times ||
           pel_stream_pending(&connection->stream) >= connection->limits.bytes * times;
}

int pel_memcached_make_room(struct pel_memcached_connection *connection, int direct)
{
    if (!full(connection, 1))
        return 1;
    if (!direct)
        return !full(connection, 2);
    while (full(connection, 1)) {
        struct pel_waiter waiter = {.exception = Qfalse};
        struct pel_memcached_room room = {.waiter = &waiter, .next = connection->room}, **link = &connection->room;
        int state;
        connection->room = &room;
        state =
            pel_park_protected(connection->reactor, &waiter, PEL_FOREVER); /* progress or the stall's end wakes it */
        while (*link != &room)
            link = &(*link)->next;
        *link = room.next;
        if (state)
            pel_rethrow(state);
        if (connection->closed)
            pel_raise(PEL_ECLOSED, 0, "the connection ended while this call waited for room");
    }
    return 1;
}

struct pel_operation *pel_memcached_owe(struct pel_memcached_connection *connection, enum pel_memcached_request request)
{
    struct pel_operation *operation = pel_operation_new(connection->reactor, 1);

    operation->request = request;
    operation->next = NULL;
    if (!connection->owed) {
        connection->progress = pel_now();
        if (connection->limits.timeout != PEL_FOREVER && !pel_timer_active(&connection->stall.timer))
            pel_timer_add(&connection->reactor->loop.timers, &connection->stall.timer,
                          connection->progress + connection->limits.timeout);
    }
    *connection->owed_tail = operation;
    connection->owed_tail = &operation->next;
    connection->owed_count++;
    return operation;
}

int pel_memcached_sent(struct pel_memcached_connection *connection)
{
    struct pel_stream *stream = &connection->stream;
    int much = pel_stream_pending(stream) >= SEND_AT && stream->writable;

    if (!connection->connected)
        return 0;
    if (much)
        pel_stream_flush(stream); /* an error is met again by the flush at the tick's end */
    pel_stream_flush_later(stream);
    return much;
}

/* ---- Pelton::Memcached::Connection ---------------------------------------------------------------------------- */

/* _new(address, operations, bytes, timeout in seconds or nil): connecting; the output gathers until _attach. */
static VALUE connection_s_new(VALUE class, VALUE address, VALUE operations, VALUE bytes, VALUE timeout)
{
    struct pel_memcached_connection *connection;
    VALUE self = TypedData_Make_Struct(class, struct pel_memcached_connection, &connection_type, connection);

    connection->stream.handle.fd = -1;
    connection->stream.handle.slot = PEL_UNREGISTERED;
    connection->stream.on_ready = on_ready;
    pel_buffer_init(&connection->stream.output);
    connection->reactor = pel_reactor_current();
    connection->self = self;
    connection->reactor_object = connection->reactor->self;
    connection->address = address;
    connection->limits.operations = NUM2SIZET(operations);
    connection->limits.bytes = NUM2SIZET(bytes);
    connection->limits.timeout = NIL_P(timeout) ? PEL_FOREVER : pel_nanoseconds(timeout);
    connection->stall.ring = ring_stall;
    connection->owed_tail = &connection->owed;
    connection->value = Qfalse;
    pel_memcached_parser_init(&connection->parser);
    return self;
}

/* _attach(fd): connected; sends what has gathered. */
static VALUE connection_attach(VALUE self, VALUE fd)
{
    struct pel_memcached_connection *connection = pel_memcached_connection_get(self);
    struct pel_buffer output = connection->stream.output;
    int code;

    if (connection->closed) {
        close(NUM2INT(fd));
        return Qfalse;
    }
    code = pel_stream_open(&connection->stream, &connection->reactor->loop, NUM2INT(fd));
    connection->stream.output = output;
    if (code < 0) {
        int error = errno;
        close(NUM2INT(fd));
        pel_memcached_fail(connection, code, error, "connect");
        return Qfalse;
    }
    connection->connected = 1;
    connection->progress = pel_now();
    pel_stream_flush_later(&connection->stream);
    return Qtrue;
}

/* _fail(error): closes it and fails what it owes. */
static VALUE connection_fail(VALUE self, VALUE error)
{
    fail(pel_memcached_connection_get(self), error);
    return Qnil;
}

static VALUE connection_closed_p(VALUE self)
{
    struct pel_memcached_connection *connection = pel_memcached_connection_get(self);
    return connection->closed || connection->reactor->fork_generation != pel_fork_generation ? Qtrue : Qfalse;
}

static VALUE connection_pending(VALUE self)
{
    return SIZET2NUM(pel_memcached_connection_get(self)->owed_count);
}

void pel_init_memcached_connection(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Memcached");

    pel_init_memcached_reply(module);
    pel_cMemcachedConnection = rb_define_class_under(module, "Connection", rb_cObject);
    rb_undef_alloc_func(pel_cMemcachedConnection);
    rb_define_singleton_method(pel_cMemcachedConnection, "_new", connection_s_new, 4);
    rb_define_method(pel_cMemcachedConnection, "_attach", connection_attach, 1);
    rb_define_method(pel_cMemcachedConnection, "_fail", connection_fail, 1);
    rb_define_method(pel_cMemcachedConnection, "closed?", connection_closed_p, 0);
    rb_define_method(pel_cMemcachedConnection, "pending", connection_pending, 0);
}
