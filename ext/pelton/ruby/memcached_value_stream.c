#include "memcached.h"

#include "../core/splice.h"
#include "error.h"
#include "protect.h"
#include "slice_string.h"
#include "stream_private.h"

/*
 * Pelton::Memcached::ValueStream: a value that is told of when its head has come, so that the rest may go on to another
 * stream without passing through this process. Whoever asked has one turn of the loop to begin with that: then the rest
 * is received as usual, because other replies wait behind it. A stream that does not take it at once ends it, too.
 */

struct value_stream {
    struct pel_memcached_flow flow;              /* first */
    struct pel_memcached_connection *connection; /* NULL: the value was there as a whole */
    VALUE connection_object;
    struct pel_operation *rest; /* owed by the connection: a String of what was neither taken nor passed on; or NULL */
    VALUE begun;                /* the bytes that came with the head; nil when they are taken, or a part of the rest */
    uint64_t length;
};

static VALUE cValueStream;

static void value_stream_mark(void *data)
{
    struct value_stream *value = data;

    rb_gc_mark(value->connection_object);
    rb_gc_mark(value->begun);
    if (value->rest)
        pel_operation_mark(value->rest);
}

static void value_stream_free(void *data)
{
    struct value_stream *value = data;

    if (value->rest)
        pel_operation_release(value->rest);
    xfree(value);
}

static const rb_data_type_t value_stream_type = {.wrap_struct_name = "Pelton::Memcached::ValueStream",
                                                 .function = {.dmark = value_stream_mark, .dfree = value_stream_free},
                                                 .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE new_stream(VALUE begun, uint64_t length, struct value_stream **value)
{
    VALUE self = TypedData_Make_Struct(cValueStream, struct value_stream, &value_stream_type, *value);

    (*value)->flow.self = self;
    (*value)->connection_object = Qnil;
    (*value)->begun = begun;
    (*value)->length = length;
    return self;
}

VALUE pel_memcached_value_stream(VALUE value)
{
    struct value_stream *stream;

    return new_stream(value, (uint64_t)RSTRING_LEN(value), &stream);
}

/* ---- the connection's side ------------------------------------------------------------------------------------ */

/* Whether its next bytes could go elsewhere. Where no reactor runs nothing could happen between two of the loop's
 * turns. */
int pel_memcached_can_flow(const struct pel_memcached_connection *connection)
{
    return connection->reactor->phase == PEL_RUNNING && !connection->stream.layer && !connection->classic;
}

VALUE pel_memcached_begin_flow(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    struct value_stream *value;
    struct pel_operation *asked = connection->owed, *rest;
    VALUE begun = pel_slice_string(reply->value);
    VALUE self = new_stream(begun, reply->value_length, &value);

    value->connection = connection;
    value->connection_object = connection->self;
    rest = pel_operation_new(connection->reactor, 0); /* who wants it keeps run going */
    rest->request = PEL_MEMCACHED_REST;
    rest->heard = 1; /* a failure is met by whoever wants the rest */
    rest->references++;
    value->rest = rest;
    if (!(rest->next = asked->next))
        connection->owed_tail = &rest->next;
    asked->next = rest;
    connection->owed_count++;
    connection->flow = &value->flow;
    return self;
}

/* From here on the rest is received into a String. */
static void gather(struct pel_memcached_connection *connection)
{
    struct value_stream *value = (struct value_stream *)connection->flow;
    uint64_t pending = pel_memcached_parser_pending(&connection->parser);
    VALUE self = value->flow.self;

    connection->flow = NULL;
    if (NIL_P(value->begun) && !pending)
        return;
    connection->value = rb_str_buf_new((long)pending + (NIL_P(value->begun) ? 0 : RSTRING_LEN(value->begun)));
    if (!NIL_P(value->begun))
        rb_str_buf_append(connection->value, value->begun);
    value->begun = Qnil;
    RB_GC_GUARD(self);
}

void pel_memcached_flow_ready(struct pel_memcached_connection *connection)
{
    struct pel_memcached_flow *flow = connection->flow;

    if (!flow->passing && flow->offered)
        gather(connection);
    else if (!flow->passing)
        flow->offered = 1; /* whoever asked has had no turn yet */
    else if (flow->waiter)
        pel_waiter_fire(connection->reactor, flow->waiter);
}

void pel_memcached_end_flow(struct pel_memcached_connection *connection)
{
    struct pel_memcached_flow *flow = connection->flow;

    connection->flow = NULL;
    if (flow && flow->waiter)
        pel_waiter_fire(connection->reactor, flow->waiter);
}

/* ---- its owner's side ----------------------------------------------------------------------------------------- */

static struct value_stream *get(VALUE self)
{
    struct value_stream *value = rb_check_typeddata(self, &value_stream_type);

    if (value->connection && value->connection->fork_generation != pel_fork_generation)
        rb_raise(pel_eClosedError, "this value is on its way to the parent process");
    if (value->connection && value->connection->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a value is read on the thread that asked for it");
    return value;
}

static int flows(const struct value_stream *value)
{
    return value->connection && value->connection->flow == &value->flow;
}

/* Has the connection go on by itself. */
static void let_go(struct value_stream *value)
{
    struct pel_stream *stream = &value->connection->stream;

    if (!flows(value))
        return;
    gather(value->connection);
    if (stream->readable)
        stream->on_ready(stream, PEL_READABLE);
}

/* _begun: the bytes that have come, if the rest can still be passed on; else nil. */
static VALUE value_stream_begun(VALUE self)
{
    struct value_stream *value = get(self);
    VALUE begun = value->begun;

    if (!flows(value))
        return Qnil;
    value->begun = Qnil;
    value->flow.passing = 1;
    return begun;
}

/* 0, or the state of what was raised. */
static int wait_for_more(struct value_stream *value)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    int state;

    value->flow.waiter = &waiter;
    state = pel_park_protected(value->connection->reactor, &waiter, PEL_FOREVER); /* the connection has a deadline */
    value->flow.waiter = NULL;
    return state;
}

/* _splice(stream): passes on what is there, after _begun was sent. Parks until something is. The number of bytes; nil
 * when all was passed on, or the rest must be received. */
static VALUE value_stream_splice(VALUE self, VALUE target)
{
    struct value_stream *value = get(self);
    struct stream *to = pel_stream_any(target);
    struct pel_memcached_connection *connection = value->connection;
    uint64_t left;
    size_t moved = 0;

    while (flows(value) && value->flow.passing && to->reactor == connection->reactor && !to->closing &&
           (left = pel_memcached_parser_pending(&connection->parser))) {
        int state;
        moved = pel_splice_move(&connection->reactor->splice, &connection->stream, &to->core,
                                left < PEL_STREAM_BURST ? (size_t)left : PEL_STREAM_BURST);
        if (moved || connection->stream.readable || connection->stream.error)
            break;
        if ((state = wait_for_more(value))) {
            let_go(value);
            pel_rethrow(state);
        }
    }
    if (moved) {
        pel_memcached_parser_skip_value(&connection->parser, moved);
        connection->progress = connection->reactor->loop.now;
        connection->excused = 0;
    }
    if (moved) /* before others' values come, who would not have their turn in time */
        pel_spend(connection->reactor, (int32_t)(moved >> 12));
    if (connection && (!moved || !pel_memcached_parser_pending(&connection->parser)))
        let_go(value);
    RB_GC_GUARD(self);
    return moved ? SIZET2NUM(moved) : Qnil;
}

/* _rest: what was not passed on; nil when that is nothing. Parks or blocks. */
static VALUE value_stream_rest(VALUE self)
{
    struct value_stream *value = get(self);

    if (!value->rest)
        return value->begun;
    let_go(value);
    return pel_operation_await(value->connection->reactor, value->rest, PEL_FOREVER);
}

/* close: the rest is not wanted. */
static VALUE value_stream_close(VALUE self)
{
    struct value_stream *value = get(self);

    if (value->connection)
        let_go(value);
    return Qnil;
}

static VALUE value_stream_bytesize(VALUE self)
{
    return ULL2NUM(((struct value_stream *)rb_check_typeddata(self, &value_stream_type))->length);
}

void pel_init_memcached_value_stream(VALUE module)
{
    cValueStream = rb_define_class_under(module, "ValueStream", rb_cObject);
    rb_undef_alloc_func(cValueStream);
    rb_define_method(cValueStream, "bytesize", value_stream_bytesize, 0);
    rb_define_method(cValueStream, "close", value_stream_close, 0);
    rb_define_private_method(cValueStream, "_begun", value_stream_begun, 0);
    rb_define_private_method(cValueStream, "_splice", value_stream_splice, 1);
    rb_define_private_method(cValueStream, "_rest", value_stream_rest, 0);
}
