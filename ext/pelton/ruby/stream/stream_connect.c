#include "ruby/stream/stream_private.h"

/* Connecting. One attempt is a stream that is not connected yet; lib/pelton/stream/connector.rb makes several. */

/* The first stream that is connected or has failed; nil. */
static VALUE find_settled_stream(VALUE streams)
{
    for (long i = 0; i < RARRAY_LEN(streams); i++)
        if (!pel_stream_any(RARRAY_AREF(streams, i))->core.connecting)
            return RARRAY_AREF(streams, i);
    return Qnil;
}

static void set_connector(VALUE streams, struct pel_waiter *waiter)
{
    for (long i = 0; i < RARRAY_LEN(streams); i++)
        pel_stream_any(RARRAY_AREF(streams, i))->connector = waiter;
}

/* _first_connected(streams, seconds): parks until a stream is connected or has failed, and returns it; nil after the
 * time. No other code may change the Array. */
static VALUE stream_s_first_connected(VALUE class, VALUE streams, VALUE seconds)
{
    struct pel_reactor *reactor = pel_reactor_current();
    struct pel_waiter waiter = {.exception = Qfalse};
    int64_t deadline = pel_now() + pel_nanoseconds(seconds);
    VALUE settled = find_settled_stream(streams);
    int state;

    if (!NIL_P(settled))
        return settled;
    set_connector(streams, &waiter);
    state = pel_park_protected(reactor, &waiter, deadline);
    set_connector(streams, NULL);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(streams);
    return find_settled_stream(streams);
}

/* ---- callback style ------------------------------------------------------------------------------------------- */

/* Calls on_connect once; or closes a stream that is not connected, and on_close gets the error. */
static void run_on_connect(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE callback = stream->delivery.on_connect;

    stream->delivery.on_connect = Qnil;
    if (NIL_P(callback)) /* the stream was closed meanwhile */
        return;
    pel_stream_release(stream, RETAINED_BY_CONNECT);
    if (stream->core.error)
        pel_stream_finish(stream);
    else
        pel_stream_call(callback, PEL_UPCALL_stream_connected, 0, NULL);
    RB_GC_GUARD(callback);
}

void pel_stream_queue_connect(struct stream *stream)
{
    if (!NIL_P(stream->delivery.on_connect) && !stream->core.connecting && !stream->delivery.connect_queued) {
        stream->delivery.connect_queued = 1;
        pel_enqueue(stream->reactor, (struct pel_job){.run = run_on_connect, .data = stream, .object = stream->self});
    }
}

/* on_connect(object): calls its method _connected when the stream is connected. A stream that fails is closed. */
static VALUE stream_on_connect(VALUE self, VALUE object)
{
    struct stream *stream = pel_stream_get(self);

    RB_OBJ_WRITE(self, &stream->delivery.on_connect, object);
    pel_stream_retain(stream, RETAINED_BY_CONNECT);
    pel_stream_queue_connect(stream);
    return self;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* errno: the errno that ended the stream, or nil. */
static VALUE stream_errno(VALUE self)
{
    int error = pel_stream_any(self)->core.error;
    return error ? INT2FIX(error) : Qnil;
}

void pel_init_stream_connect(VALUE class)
{
    rb_define_singleton_method(class, "_first_connected", stream_s_first_connected, 2);
    rb_define_method(class, "on_connect", stream_on_connect, 1);
    rb_define_method(class, "errno", stream_errno, 0);
}
