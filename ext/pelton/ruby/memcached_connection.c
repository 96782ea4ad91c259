#include "memcached.h"

#include <errno.h>
#include <unistd.h>
#include "error.h"
#include "protect.h"

#define SEND_AT 65536      /* bytes of output that are sent before the tick's end */
#define DIRECT_VALUE 32768 /* a value with more to come is received straight into its string */
#define RECEIVES_A_TURN 16 /* hot buffers for one connection in one turn: 1 MB */

struct pel_memcached_room {
    struct pel_waiter *waiter;
    struct pel_memcached_room *next;
};

VALUE pel_cMemcachedConnection;
static VALUE cServerError;

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
        pel_flush_forget(connection->reactor, &connection->stream);
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
    pel_flush_forget(connection->reactor, &connection->stream);
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

static void fail_with(struct pel_memcached_connection *connection, int code, int error_number, const char *what)
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
        fail_with(connection, PEL_ETIMEOUT, 0, "no progress");
}

/* ---- replies -------------------------------------------------------------------------------------------------- */

static struct pel_operation *next_owed(struct pel_memcached_connection *connection)
{
    struct pel_operation *operation = connection->owed;

    if (!operation)
        return NULL;
    if (!(connection->owed = operation->next))
        connection->owed_tail = &connection->owed;
    connection->owed_count--;
    return operation;
}

static void complete(struct pel_memcached_connection *connection, VALUE value)
{
    struct pel_operation *operation = next_owed(connection);

    pel_operation_succeed(operation, value);
    pel_operation_release(operation);
}

static void complete_with_error(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    struct pel_operation *operation = next_owed(connection);
    VALUE error = rb_exc_new_str(cServerError, rb_sprintf("memcached at %" PRIsVALUE " answered %s %.*s",
                                                          connection->address, pel_memcached_kind_name(reply->kind),
                                                          (int)reply->text.length, reply->text.bytes));

    pel_operation_fail(operation, error);
    pel_operation_release(operation);
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

static void receive(struct pel_memcached_connection *connection)
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
            fail_with(connection, PEL_ESYSTEM, connection->stream.error, "read");
            return;
        }
        if (count == 0) {
            fail_with(connection, PEL_ESYSTEM, ECONNRESET, "the server closed the connection");
            return;
        }
        if (code < 0) {
            fail_with(connection, code, 0, "a reply that fits no request");
            return;
        }
        connection->progress = connection->reactor->loop.now;
    }
}

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
        fail_with(connection, PEL_EMEMORY, 0, "a reply was lost");
        return;
    }
    connection->parsing = 1;
    if (stream->error)
        fail_with(connection, PEL_ESYSTEM, stream->error, "the connection failed");
    else if (events & (PEL_READABLE | PEL_HANGUP))
        receive(connection);
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
    pel_flush_later(connection->reactor, stream);
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
        fail_with(connection, code, error, "connect");
        return Qfalse;
    }
    connection->connected = 1;
    connection->progress = pel_now();
    pel_flush_later(connection->reactor, &connection->stream);
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

    cServerError = rb_define_class_under(module, "ServerError", pel_eError);
    pel_cMemcachedConnection = rb_define_class_under(module, "Connection", rb_cObject);
    rb_undef_alloc_func(pel_cMemcachedConnection);
    rb_define_singleton_method(pel_cMemcachedConnection, "_new", connection_s_new, 4);
    rb_define_method(pel_cMemcachedConnection, "_attach", connection_attach, 1);
    rb_define_method(pel_cMemcachedConnection, "_fail", connection_fail, 1);
    rb_define_method(pel_cMemcachedConnection, "closed?", connection_closed_p, 0);
    rb_define_method(pel_cMemcachedConnection, "pending", connection_pending, 0);
}
