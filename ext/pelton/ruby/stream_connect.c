#include "stream_private.h"

/* Connecting: one attempt is a stream that is not connected yet. lib/pelton/connector.rb makes several. */

/* _connect(packed address, packed local address or nil): a stream that is connected or connecting. */
static VALUE stream_s_connect(VALUE class, VALUE address, VALUE local)
{
    struct pel_reactor *reactor = pel_reactor_current();
    struct stream *stream = pel_stream_new(reactor, class);
    const struct sockaddr *from = NULL;
    socklen_t from_length = 0;
    int code;

    StringValue(address);
    if (!NIL_P(local)) {
        StringValue(local);
        from = (const struct sockaddr *)RSTRING_PTR(local);
        from_length = (socklen_t)RSTRING_LEN(local);
    }
    code = pel_stream_connect(&stream->core, &reactor->loop, (const struct sockaddr *)RSTRING_PTR(address),
                              (socklen_t)RSTRING_LEN(address), from, from_length);
    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "connect");
    RB_GC_GUARD(address);
    RB_GC_GUARD(local);
    return stream->self;
}

/* The first that is connected, or failed; nil. */
static VALUE find_settled(VALUE streams)
{
    for (long i = 0; i < RARRAY_LEN(streams); i++)
        if (!pel_stream_any(RARRAY_AREF(streams, i))->core.connecting)
            return RARRAY_AREF(streams, i);
    return Qnil;
}

static void tell(VALUE streams, struct pel_waiter *waiter)
{
    for (long i = 0; i < RARRAY_LEN(streams); i++)
        pel_stream_any(RARRAY_AREF(streams, i))->connector = waiter;
}

/* _first_connected(streams, seconds): the first that is connected, or failed; nil when the time is over. Parks. The
 * array is the caller's alone. */
static VALUE stream_s_first_connected(VALUE class, VALUE streams, VALUE seconds)
{
    struct pel_reactor *reactor = pel_reactor_current();
    struct pel_waiter waiter = {.exception = Qfalse};
    int64_t deadline = pel_now() + pel_nanoseconds(seconds);
    VALUE settled = find_settled(streams);
    int state;

    if (!NIL_P(settled))
        return settled;
    tell(streams, &waiter);
    state = pel_park_protected(reactor, &waiter, deadline);
    tell(streams, NULL);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(streams);
    return find_settled(streams);
}

/* ---- callback style ------------------------------------------------------------------------------------------- */

/* Calls the block, once; or closes the stream, when it is not connected: on_close tells why. */
static void run_connect(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE self = stream->self, block = stream->on_connect;

    stream->on_connect = Qnil;
    if (NIL_P(block)) /* closed meanwhile */
        return;
    pel_stream_release(stream, HELD_BY_CONNECT);
    if (stream->core.error)
        pel_stream_finish(stream);
    else
        pel_stream_call(block, rb_intern("_connected"), 0, NULL);
    RB_GC_GUARD(self);
    RB_GC_GUARD(block);
}

void pel_stream_queue_connect(struct stream *stream)
{
    if (!NIL_P(stream->on_connect) && !stream->core.connecting && !stream->connect_queued) {
        stream->connect_queued = 1;
        pel_enqueue(stream->reactor, (struct pel_job){.run = run_connect, .mark = pel_stream_mark_job, .data = stream});
    }
}

/* _on_connect(object): its method _connected is called when the stream is connected; one that fails is closed. */
static VALUE stream_on_connect(VALUE self, VALUE object)
{
    struct stream *stream = pel_stream_get(self);

    RB_OBJ_WRITE(self, &stream->on_connect, object);
    pel_stream_hold(stream, HELD_BY_CONNECT);
    pel_stream_queue_connect(stream);
    return self;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* The errno that ended it, or nil. */
static VALUE stream_errno(VALUE self)
{
    int error = pel_stream_any(self)->core.error;
    return error ? INT2FIX(error) : Qnil;
}

void pel_init_stream_connect(VALUE class)
{
    rb_define_singleton_method(class, "_connect", stream_s_connect, 2);
    rb_define_singleton_method(class, "_first_connected", stream_s_first_connected, 2);
    rb_define_method(class, "_on_connect", stream_on_connect, 1);
    rb_define_method(class, "_errno", stream_errno, 0);
}
