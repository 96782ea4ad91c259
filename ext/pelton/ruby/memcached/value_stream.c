#include "ruby/memcached/memcached_connection.h"

#include "core/stream/splice.h"
#include "ruby/base/convert.h"
#include "ruby/base/exception.h"
#include "ruby/base/protect.h"
#include "ruby/reactor/yield.h"
#include "ruby/stream/stream_private.h"

/*
 * Pelton::Memcached::ValueStream: a value whose operation is settled as soon as its head has come, so that the rest can
 * be relayed to another stream by splice, without passing through this process. The caller must begin to relay before
 * the loop iterates once more; after that the rest is received as usual, because other replies wait for it. The same
 * happens when the target stream does not take the bytes at once.
 */

struct value_stream {
    struct pel_memcached_relay relay;            /* first */
    struct pel_memcached_connection *connection; /* NULL: the value came as a whole */
    VALUE connection_object;
    struct pel_operation *rest; /* pending: a String of the bytes that are neither taken nor relayed; or NULL */
    VALUE first_bytes;          /* the bytes that came with the head; nil once they are taken or belong to the rest */
    uint64_t length;
};

static VALUE cValueStream;

static void value_stream_mark(void *data)
{
    struct value_stream *value = data;

    rb_gc_mark(value->connection_object);
    rb_gc_mark(value->first_bytes);
    if (value->rest)
        pel_operation_mark(value->rest);
}

static void value_stream_free(void *data)
{
    struct value_stream *value = data;

    if (value->rest)
        pel_operation_release(value->rest);
    PEL_FREE(value);
}

static const rb_data_type_t value_stream_type = {.wrap_struct_name = "Pelton::Memcached::ValueStream",
                                                 .function = {.dmark = value_stream_mark, .dfree = value_stream_free},
                                                 .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE value_stream_new(VALUE first_bytes, uint64_t length, struct value_stream **value)
{
    VALUE self = TypedData_Make_Struct(cValueStream, struct value_stream, &value_stream_type, *value);

    (*value)->relay.self = self;
    (*value)->connection_object = Qnil;
    (*value)->first_bytes = first_bytes;
    (*value)->length = length;
    return self;
}

VALUE pel_memcached_value_stream(VALUE value)
{
    struct value_stream *stream;

    return value_stream_new(value, (uint64_t)RSTRING_LEN(value), &stream);
}

/* ---- the connection's side ------------------------------------------------------------------------------------ */

/* Where no reactor runs, no fiber could act between two iterations of the loop. */
int pel_memcached_can_relay(const struct pel_memcached_connection *connection)
{
    return connection->reactor->phase == PEL_RUNNING && !connection->stream.layer;
}

VALUE pel_memcached_begin_relay(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    struct value_stream *value;
    struct pel_operation *request = connection->pending.first, *rest;
    VALUE first_bytes = pel_slice_string(reply->value);
    VALUE self = value_stream_new(first_bytes, reply->value_length, &value);

    value->connection = connection;
    value->connection_object = connection->self;
    rest = pel_operation_new(connection->reactor, 0); /* a fiber that awaits it keeps run going */
    rest->request = PEL_MEMCACHED_REST;
    rest->handled = 1; /* its failure is raised in the fiber that awaits it, if there is one */
    rest->references++;
    value->rest = rest;
    if (!(rest->next = request->next))
        connection->pending.tail = &rest->next;
    request->next = rest;
    connection->pending.count++;
    connection->relay = &value->relay;
    return self;
}

/* Ends the relay: from here on the rest is received into a String. */
static void receive_rest(struct pel_memcached_connection *connection)
{
    struct value_stream *value = (struct value_stream *)connection->relay;
    uint64_t pending = pel_memcached_parser_pending(&connection->parser);
    VALUE self = value->relay.self;

    connection->relay = NULL;
    if (NIL_P(value->first_bytes) && !pending)
        return;
    connection->value.bytes =
        rb_str_buf_new((long)pending + (NIL_P(value->first_bytes) ? 0 : RSTRING_LEN(value->first_bytes)));
    if (!NIL_P(value->first_bytes))
        rb_str_buf_append(connection->value.bytes, value->first_bytes);
    value->first_bytes = Qnil;
    RB_GC_GUARD(self);
}

void pel_memcached_relay_ready(struct pel_memcached_connection *connection)
{
    struct pel_memcached_relay *relay = connection->relay;

    if (!relay->started && relay->offered)
        receive_rest(connection);
    else if (!relay->started)
        relay->offered = 1; /* the caller's fiber has not run yet */
    else if (relay->waiter)
        pel_waiter_fire(connection->reactor, relay->waiter);
}

void pel_memcached_end_relay(struct pel_memcached_connection *connection)
{
    struct pel_memcached_relay *relay = connection->relay;

    connection->relay = NULL;
    if (relay && relay->waiter)
        pel_waiter_fire(connection->reactor, relay->waiter);
}

/* ---- the caller's side ---------------------------------------------------------------------------------------- */

static struct value_stream *value_stream_get(VALUE self)
{
    struct value_stream *value = rb_check_typeddata(self, &value_stream_type);

    if (value->connection && value->connection->fork_generation != pel_fork_generation)
        rb_raise(pel_eClosedError, "this value was requested by the parent process: request it in the child");
    if (value->connection && value->connection->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a value can be read only on the thread that requested it");
    return value;
}

static int relaying(const struct value_stream *value)
{
    return value->connection && value->connection->relay == &value->relay;
}

/* Ends the relay, if there is one, and lets the connection receive again. */
static void stop_relay(struct value_stream *value)
{
    struct pel_stream *stream = &value->connection->stream;

    if (!relaying(value))
        return;
    receive_rest(value->connection);
    if (stream->readable)
        stream->on_ready(stream, PEL_READABLE);
}

/* begin_relay: begins to relay. Returns the bytes that came with the head; nil when the value cannot be relayed any
 * more. */
static VALUE value_stream_begun(VALUE self)
{
    struct value_stream *value = value_stream_get(self);
    VALUE first_bytes = value->first_bytes;

    if (!relaying(value))
        return Qnil;
    value->first_bytes = Qnil;
    value->relay.started = 1;
    return first_bytes;
}

/* relay_to(stream): relays the bytes that have come, once those of begin_relay were sent; parks until some come.
 * Returns their number; nil when all bytes are relayed, or when the rest must be received. */
static VALUE value_stream_splice(VALUE self, VALUE target)
{
    struct value_stream *value = value_stream_get(self);
    struct stream *to = pel_stream_any(target);
    struct pel_memcached_connection *connection = value->connection;
    uint64_t left;
    size_t moved = 0;

    while (relaying(value) && value->relay.started && to->reactor == connection->reactor && !to->close.begun &&
           (left = pel_memcached_parser_pending(&connection->parser))) {
        int state, timed_out;
        moved = pel_splice_move(&connection->reactor->splice, &connection->stream, &to->core,
                                left < PEL_STREAM_BURST ? (size_t)left : PEL_STREAM_BURST);
        if (moved || connection->stream.readable || connection->stream.error)
            break;
        /* The connection has a deadline. */
        if ((state = pel_park_at(connection->reactor, &value->relay.waiter, PEL_FOREVER, &timed_out))) {
            stop_relay(value);
            pel_rethrow(state);
        }
    }
    if (moved) {
        pel_memcached_parser_skip_value(&connection->parser, moved);
        connection->clock.progress = connection->reactor->loop.now;
        connection->clock.grace_given = 0;
    }
    /* This may let the loop iterate. It comes before stop_relay, which may receive the head of another relayed value,
     * whose caller must begin before the loop iterates. */
    if (moved)
        pel_spend(connection->reactor, (int32_t)(moved >> 12));
    if (connection && (!moved || !pel_memcached_parser_pending(&connection->parser)))
        stop_relay(value);
    RB_GC_GUARD(self);
    return moved ? SIZET2NUM(moved) : Qnil;
}

/* _rest: the bytes that were not relayed; nil when all were. Parks or blocks. */
static VALUE value_stream_rest(VALUE self)
{
    struct value_stream *value = value_stream_get(self);

    if (!value->rest)
        return value->first_bytes;
    stop_relay(value);
    return pel_operation_await(value->connection->reactor, value->rest, PEL_FOREVER);
}

/* close: the caller does not want the rest. The connection receives and drops it. */
static VALUE value_stream_close(VALUE self)
{
    struct value_stream *value = value_stream_get(self);

    if (value->connection)
        stop_relay(value);
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
    rb_define_method(cValueStream, "begin_relay", value_stream_begun, 0);
    rb_define_method(cValueStream, "relay_to", value_stream_splice, 1);
    rb_define_private_method(cValueStream, "_rest", value_stream_rest, 0);
}
