#include "stream_private.h"

/*
 * Callback style: on_data is given what comes, in order, and never two pieces at once. While a callback is parked its
 * stream is busy: what comes meanwhile waits in the kernel. One stream delivers a part of a turn, then others do.
 */

#define DELIVERY_BYTES (1024 * 1024) /* in one turn */

VALUE pel_stream_call(VALUE told, ID method, int argc, const VALUE *argv)
{
    return rb_obj_is_proc(told) ? rb_proc_call_with_block(told, argc, argv, Qnil)
                                : rb_funcallv(told, method, argc, argv);
}

/* ---- on_close ------------------------------------------------------------------------------------------------- */

/* Calls the block, once. */
static void run_close(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE self = stream->self, block = stream->on_close;
    VALUE error = stream->core.error ? pel_stream_error(stream, "the connection failed") : Qnil;

    stream->on_close = Qnil;
    if (!NIL_P(block))
        pel_stream_call(block, rb_intern("_closed"), 1, &error);
    RB_GC_GUARD(self);
    RB_GC_GUARD(block);
}

void pel_stream_queue_close(struct stream *stream)
{
    if (!NIL_P(stream->on_close))
        pel_enqueue(stream->reactor, (struct pel_job){.run = run_close, .mark = pel_stream_mark_job, .data = stream});
}

void pel_stream_tell_close(struct stream *stream)
{
    if (stream->reactor->phase == PEL_IDLE && !pel_stream_open_p(&stream->core))
        run_close(stream->reactor, stream);
}

/* ---- on_data, on_end ------------------------------------------------------------------------------------------ */

static VALUE call_on_data(VALUE argument)
{
    VALUE *pair = (VALUE *)argument;
    return pel_stream_call(pair[0], rb_intern("_received"), 1, &pair[1]);
}

/* Leaves the bytes in the pair, or nil. */
static VALUE call_relay(VALUE argument)
{
    VALUE *pair = (VALUE *)argument;
    return pair[1] = pel_stream_call(pair[0], rb_intern("_relay"), 0, NULL);
}

static VALUE call_on_end(VALUE block)
{
    return rb_proc_call_with_block(block, 0, NULL, Qnil);
}

static void end_of_input(struct stream *stream)
{
    VALUE block = stream->on_end;

    if (stream->core.error) {
        pel_stream_finish(stream);
    } else if (NIL_P(block)) {
        pel_stream_close_gently(stream);
    } else {
        stream->on_end = Qnil;
        stream->ended = 1;
        pel_dispatch(stream->reactor, call_on_end, block);
    }
    RB_GC_GUARD(block);
}

/* The next piece; nil when *count is not positive. */
static VALUE next_piece(struct stream *stream, ssize_t *count)
{
    VALUE buffer = stream->buffer;

    if (NIL_P(buffer))
        return pel_stream_receive_string(stream, PEL_HOT_BUFFER, count);
    rb_str_modify(buffer);
    rb_str_set_len(buffer, 0);
    rb_str_modify_expand(buffer, PEL_HOT_BUFFER);
    *count = pel_stream_receive_bytes(stream, RSTRING_PTR(buffer), PEL_HOT_BUFFER);
    rb_str_set_len(buffer, *count > 0 ? *count : 0);
    return buffer;
}

static int wants_data(const struct stream *stream)
{
    return !NIL_P(stream->on_data) && !stream->paused && !stream->reading && !stream->ended && !stream->closing &&
           pel_stream_open_p(&stream->core);
}

static void deliver(struct stream *stream)
{
    struct pel_reactor *reactor = stream->reactor;
    size_t delivered = 0;

    while (wants_data(stream) && (pel_stream_ready(stream) || pel_buffer_length(&stream->input))) {
        VALUE pair[2] = {stream->on_data, Qnil};
        ssize_t count;
        if (delivered >= DELIVERY_BYTES || (delivered && pel_now() > reactor->batch_end))
            return;
        if (stream->relays && stream->bulk && !pel_buffer_length(&stream->input)) {
            pel_dispatch(reactor, call_relay, (VALUE)pair);
            if (!NIL_P(pair[1]))
                delivered += NUM2SIZET(pair[1]);
            if (!NIL_P(pair[1]) || !wants_data(stream))
                continue;
        }
        pair[1] = next_piece(stream, &count);
        if (count == PEL_EAGAIN)
            continue;
        if (count <= 0) {
            end_of_input(stream);
            return;
        }
        delivered += (size_t)count;
        pel_dispatch(reactor, call_on_data, (VALUE)pair);
        pair[1] = Qnil; /* so that the next collection finds it nowhere */
    }
}

static VALUE deliver_protected(VALUE argument)
{
    deliver((struct stream *)argument);
    return Qnil;
}

static void run_delivery(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE self = stream->self;
    int state;

    stream->delivery_queued = 0;
    stream->delivering = 1;
    pel_protect(deliver_protected, (VALUE)stream, &state);
    stream->delivering = 0;
    if (state) { /* of memory, or of a buffer that was frozen: nothing can be delivered any more */
        pel_stream_finish(stream);
        pel_rethrow(state);
    }
    pel_stream_queue_delivery(stream);
    RB_GC_GUARD(self);
}

static void drop_delivery(void *data)
{
    ((struct stream *)data)->delivery_queued = 0;
}

void pel_stream_queue_delivery(struct stream *stream)
{
    if (stream->delivering || stream->delivery_queued || !wants_data(stream))
        return;
    if (!pel_stream_ready(stream) && !pel_buffer_length(&stream->input))
        return;
    stream->delivery_queued = 1;
    pel_enqueue(
        stream->reactor,
        (struct pel_job){.run = run_delivery, .mark = pel_stream_mark_job, .drop = drop_delivery, .data = stream});
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* on_data(buffer = nil) { |bytes| } */
static VALUE stream_on_data(int argc, VALUE *argv, VALUE self)
{
    struct stream *stream = pel_stream_get(self);
    VALUE buffer;

    rb_scan_args(argc, argv, "01", &buffer);
    if (stream->reading)
        rb_raise(pel_eError, "a fiber reads this stream: on_data cannot be given the same bytes");
    if (!NIL_P(buffer))
        StringValue(buffer);
    RB_OBJ_WRITE(self, &stream->on_data, rb_block_proc());
    RB_OBJ_WRITE(self, &stream->buffer, buffer);
    pel_stream_hold(stream, HELD_BY_DATA);
    pel_stream_queue_delivery(stream);
    return self;
}

/* _deliver_to(object): as on_data, but its method _received is called. An object for many blocks saves memory. */
static VALUE stream_deliver_to(VALUE self, VALUE object)
{
    struct stream *stream = pel_stream_get(self);

    RB_OBJ_WRITE(self, &stream->on_data, object);
    pel_stream_hold(stream, HELD_BY_DATA);
    pel_stream_queue_delivery(stream);
    return self;
}

/* _tell(object): as on_close, but its method _closed is called. */
static VALUE stream_tell(VALUE self, VALUE object)
{
    struct stream *stream = pel_stream_get(self);

    RB_OBJ_WRITE(self, &stream->on_close, object);
    return self;
}

static VALUE stream_on_end(VALUE self)
{
    RB_OBJ_WRITE(self, &pel_stream_get(self)->on_end, rb_block_proc());
    return self;
}

static VALUE stream_on_close(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    RB_OBJ_WRITE(self, &stream->on_close, rb_block_proc());
    if (pel_stream_open_p(&stream->core))
        return self;
    if (stream->reactor->phase == PEL_IDLE)
        run_close(stream->reactor, stream);
    else
        pel_stream_queue_close(stream);
    return self;
}

static VALUE stream_on_drain(VALUE self)
{
    RB_OBJ_WRITE(self, &pel_stream_get(self)->on_drain, rb_block_proc());
    return self;
}

/* Legal when closed: a callback need not know. */
static VALUE stream_pause(VALUE self)
{
    pel_stream_any(self)->paused = 1;
    return self;
}

static VALUE stream_resume(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    stream->paused = 0;
    pel_stream_queue_delivery(stream);
    return self;
}

static VALUE stream_paused_p(VALUE self)
{
    return pel_stream_any(self)->paused ? Qtrue : Qfalse;
}

/* _idle: seconds since bytes were last received or sent. */
static VALUE stream_idle(VALUE self)
{
    int64_t idle = pel_now() - pel_stream_any(self)->core.active_at;
    return DBL2NUM(idle > 0 ? (double)idle / 1e9 : 0.0);
}

void pel_init_stream_delivery(VALUE class)
{
    rb_define_method(class, "on_data", stream_on_data, -1);
    rb_define_method(class, "_deliver_to", stream_deliver_to, 1);
    rb_define_method(class, "_tell", stream_tell, 1);
    rb_define_method(class, "on_end", stream_on_end, 0);
    rb_define_method(class, "on_close", stream_on_close, 0);
    rb_define_method(class, "on_drain", stream_on_drain, 0);
    rb_define_method(class, "pause", stream_pause, 0);
    rb_define_method(class, "resume", stream_resume, 0);
    rb_define_method(class, "paused?", stream_paused_p, 0);
    rb_define_method(class, "_idle", stream_idle, 0);
}
