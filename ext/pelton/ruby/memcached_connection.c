#include "memcached_gather.h"

#include <errno.h>
#include <unistd.h>
#include "error.h"
#include "stream.h"

#define SEND_AT 65536 /* bytes of output that are sent before the tick's end */

VALUE pel_cMemcachedConnection;
static VALUE cServerError;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void connection_mark(void *data)
{
    struct pel_memcached_connection *connection = data;

    rb_gc_mark(connection->self); /* pinned: C keeps it */
    rb_gc_mark(connection->reactor_object);
    rb_gc_mark(connection->address);
    rb_gc_mark(connection->error);
    if (connection->flow)
        rb_gc_mark(connection->flow->self);
    if (connection->value)
        rb_gc_mark(connection->value); /* pinned: bytes are received straight into it */
    for (struct pel_operation *operation = connection->owed; operation; operation = operation->next)
        pel_operation_mark(operation);
    pel_memcached_mark_parts(connection);
}

/* The reactor may have been freed before; its timers are inactive then, but not in a child after a fork, which leaves
 * them alone. */
static void close_stream(struct pel_memcached_connection *connection)
{
    if (connection->fork_generation == pel_fork_generation && pel_timer_active(&connection->alarm.timer))
        pel_timer_cancel(&connection->reactor->loop.timers, &connection->alarm.timer);
    pel_stream_close(&connection->stream);
    pel_buffer_free(&connection->stream.output);
    pel_buffer_free(&connection->untranslated);
    pel_buffer_free(&connection->keys);
}

static void connection_free(void *data)
{
    struct pel_memcached_connection *connection = data;

    close_stream(connection);
    pel_memcached_forget_deadlines(connection, 1);
    pel_memcached_forget_parts(connection);
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

/* Fails all that is owed. Plain C but for memory. */
static void end(struct pel_memcached_connection *connection, VALUE error)
{
    struct pel_operation *owed = connection->owed;

    if (connection->closed)
        return;
    connection->closed = 1;
    connection->error = error;
    connection->owed = NULL;
    connection->owed_tail = &connection->owed;
    connection->owed_count = 0;
    connection->value = Qfalse;
    pel_memcached_end_flow(connection);
    close_stream(connection);
    pel_list_remove(&connection->reactor->list, &connection->listed);
    while (owed) {
        struct pel_operation *operation = owed;
        owed = owed->next;
        pel_operation_fail(operation, error);
        pel_operation_release(operation);
    }
    pel_memcached_fail_parts(connection, error);
    pel_memcached_forget_deadlines(connection, 1);
    pel_memcached_end_room(connection);
}

VALUE pel_memcached_server_error(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    VALUE text = rb_sprintf("memcached at %" PRIsVALUE " answered %s %.*s", connection->address,
                            pel_memcached_kind_name(reply->kind), (int)reply->text.length, reply->text.bytes);

    return rb_exc_new_str(cServerError, text);
}

VALUE pel_memcached_error(struct pel_memcached_connection *connection, int code, int error_number, const char *what)
{
    VALUE message = rb_sprintf("memcached at %" PRIsVALUE ": %s", connection->address, what);
    VALUE error = pel_error_new(code, error_number, StringValueCStr(message));

    RB_GC_GUARD(message);
    return error;
}

void pel_memcached_fail(struct pel_memcached_connection *connection, int code, int error_number, const char *what)
{
    end(connection, pel_memcached_error(connection, code, error_number, what));
}

/* The reactor stops. What is owed to callbacks is cancelled; fibers are, by the reactor, and what they do meanwhile may
 * need the connection. Those that still wait when the reactor leaves never go on. */
static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    struct pel_memcached_connection *connection =
        (struct pel_memcached_connection *)((char *)listed - offsetof(struct pel_memcached_connection, listed));
    VALUE error = rb_exc_new_cstr(pel_eCancelled, "the reactor stops");
    int leaves = reactor->phase == PEL_LEAVING;

    for (struct pel_operation *operation = connection->owed; operation; operation = operation->next)
        if (leaves || !operation->awaiters)
            pel_operation_settle(operation, PEL_FAILED, error, 0);
    pel_memcached_cancel_parts(connection, error, leaves);
    if (!connection->connected)
        pel_memcached_fail(connection, PEL_ECLOSED, 0, "the reactor stopped before it was connected");
    else if (!leaves && connection->owed)
        pel_list_add(&reactor->list, listed, connection->self);
    RB_GC_GUARD(error);
}

/* ---- events -------------------------------------------------------------------------------------------------- */

/* Armed again, what is readable is told again; also to a fiber that blocks, for which no job would run. */
static void come_again(struct pel_memcached_connection *connection)
{
    struct pel_stream *stream = &connection->stream;

    if (pel_loop_arm(stream->loop, &stream->handle, PEL_READABLE | PEL_WRITABLE, PEL_EDGE) < 0)
        pel_memcached_fail(connection, PEL_ESYSTEM, errno, "the connection failed");
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
    if (connection->closed)
        return;
    if (events & PEL_WRITABLE)
        connection->progress = connection->reactor->loop.now;
    /* More than a turn's worth, or a value that flows: others first. */
    if (events & PEL_READABLE && stream->readable && !(connection->flow && connection->flow->passing))
        come_again(connection);
    if (connection->owed_count <= connection->limits.operations / 2 &&
        pel_stream_pending(stream) <= connection->limits.bytes / 2)
        pel_memcached_offer_room(connection);
    RB_GC_GUARD(self);
}

/* ---- requests ------------------------------------------------------------------------------------------------- */

struct pel_operation *pel_memcached_owe(struct pel_memcached_connection *connection, enum pel_memcached_request request,
                                        int64_t timeout)
{
    /* That of a part only keeps its place: the gather's keeps run going. */
    struct pel_operation *operation = pel_operation_new(connection->reactor, request != PEL_MEMCACHED_PART);

    operation->request = request;
    operation->next = NULL;
    if (!connection->owed)
        pel_memcached_begin_to_wait(connection);
    if (!connection->listed.next) /* also when replies are owed that nobody waits for since the last run */
        pel_list_add(&connection->reactor->list, &connection->listed, connection->self);
    *connection->owed_tail = operation;
    connection->owed_tail = &operation->next;
    connection->owed_count++;
    if (timeout != PEL_FOREVER)
        pel_memcached_set_deadline(connection, operation, timeout);
    return operation;
}

struct pel_operation *pel_memcached_next_owed(struct pel_memcached_connection *connection)
{
    struct pel_operation *operation = connection->owed;

    if (!(connection->owed = operation->next)) {
        connection->owed_tail = &connection->owed;
        pel_list_remove(&connection->reactor->list, &connection->listed);
    }
    connection->owed_count--;
    return operation;
}

/* Moves commands to the output of a classic connection. What cannot be sent ends it. */
static void translate(struct pel_memcached_connection *connection, struct pel_buffer *commands)
{
    int code = pel_memcached_translate(&connection->stream.output, &connection->keys, pel_buffer_head(commands),
                                       pel_buffer_length(commands));

    pel_buffer_consume(commands, pel_buffer_length(commands));
    if (code < 0)
        pel_memcached_fail(connection, code, 0, "a command could not be written as classic text");
}

int pel_memcached_sent(struct pel_memcached_connection *connection)
{
    struct pel_stream *stream = &connection->stream;
    int much;

    if (!connection->connected)
        return 0;
    if (connection->classic)
        translate(connection, &connection->untranslated);
    much = pel_stream_pending(stream) >= SEND_AT && stream->writable;
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
    connection->fork_generation = pel_fork_generation;
    connection->address = address;
    connection->error = Qnil;
    connection->limits.operations = NUM2SIZET(operations);
    connection->limits.bytes = NUM2SIZET(bytes);
    connection->limits.timeout = NIL_P(timeout) ? PEL_FOREVER : pel_nanoseconds(timeout);
    connection->alarm.ring = pel_memcached_ring;
    connection->owed_tail = &connection->owed;
    connection->deadlines_tail = &connection->deadlines;
    connection->parts_tail = &connection->parts;
    connection->room_tail = &connection->room;
    connection->value = Qfalse;
    connection->listed.stop = stop;
    pel_memcached_parser_init(&connection->parser);
    pel_list_add(&connection->reactor->list, &connection->listed, self);
    return self;
}

/* _attach(stream, classic): connected, to a server that knows no meta commands or does; sends what has gathered. */
static VALUE connection_attach(VALUE self, VALUE stream, VALUE classic)
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
    if (RTEST(classic))
        connection->untranslated = output;
    else
        connection->stream.output = output;
    connection->classic = RTEST(classic);
    if (code < 0) {
        int error = errno;
        pel_layer_drop(layer);
        close(fd);
        pel_memcached_fail(connection, code, error, "connect");
        return Qfalse;
    }
    pel_stream_give_layer(&connection->stream, layer);
    connection->connected = 1;
    connection->progress = pel_now();
    if (!connection->owed)
        pel_list_remove(&connection->reactor->list, &connection->listed);
    pel_memcached_sent(connection);
    return connection->closed ? Qfalse : Qtrue;
}

/* _fail(error): closes it and fails what it owes. */
static VALUE connection_fail(VALUE self, VALUE error)
{
    end(pel_memcached_connection_get(self), error);
    return Qnil;
}

static VALUE connection_connected_p(VALUE self)
{
    return pel_memcached_connection_get(self)->connected ? Qtrue : Qfalse;
}

static VALUE connection_closed_p(VALUE self)
{
    struct pel_memcached_connection *connection = pel_memcached_connection_get(self);
    return connection->closed || connection->fork_generation != pel_fork_generation ? Qtrue : Qfalse;
}

/* Whether the server ever sent what could be a reply. */
static VALUE connection_replied_p(VALUE self)
{
    return pel_memcached_connection_get(self)->replied ? Qtrue : Qfalse;
}

/* What ended it, or nil. */
static VALUE connection_error(VALUE self)
{
    return pel_memcached_connection_get(self)->error;
}

static VALUE connection_pending(VALUE self)
{
    return SIZET2NUM(pel_memcached_connection_get(self)->owed_count);
}

void pel_init_memcached_connection(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Memcached");

    cServerError = rb_define_class_under(module, "ServerError", pel_eError);
    pel_cMemcachedConnection = rb_define_class_under(module, "Connection", rb_cObject);
    rb_undef_alloc_func(pel_cMemcachedConnection);
    rb_define_singleton_method(pel_cMemcachedConnection, "_new", connection_s_new, 4);
    rb_define_method(pel_cMemcachedConnection, "_attach", connection_attach, 2);
    rb_define_method(pel_cMemcachedConnection, "_fail", connection_fail, 1);
    rb_define_method(pel_cMemcachedConnection, "_replied?", connection_replied_p, 0);
    rb_define_method(pel_cMemcachedConnection, "_error", connection_error, 0);
    rb_define_method(pel_cMemcachedConnection, "connected?", connection_connected_p, 0);
    rb_define_method(pel_cMemcachedConnection, "closed?", connection_closed_p, 0);
    rb_define_method(pel_cMemcachedConnection, "pending", connection_pending, 0);
}
