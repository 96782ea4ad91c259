#include "ruby/stream/stream_private.h"

/*
 * Callback style: on_data gets the bytes in order, one piece at a time. While its callback is parked, the stream is
 * busy, and later bytes wait in the kernel. Each stream delivers its share of an iteration, then other streams go on.
 */

#define DELIVERY_BYTES (1024 * 1024) /* of one stream in one iteration */

/* ---- on_data, on_end ------------------------------------------------------------------------------------------ */

static VALUE call_on_data(VALUE argument)
{
    VALUE *pair = (VALUE *)argument;
    return pel_stream_call(pair[0], PEL_UPCALL_stream_received, 1, &pair[1]);
}

/* Stores the number of bytes that the object relayed, or nil, in the pair. */
static VALUE call_relay(VALUE argument)
{
    VALUE *pair = (VALUE *)argument;
    return pair[1] = pel_stream_call(pair[0], PEL_UPCALL_stream_relay, 0, NULL);
}

static VALUE call_on_end(VALUE block)
{
    return rb_proc_call_with_block(block, 0, NULL, Qnil);
}

static void deliver_end(struct stream *stream)
{
    VALUE block = stream->delivery.on_end;

    if (stream->core.error) {
        pel_stream_finish(stream);
    } else if (NIL_P(block)) {
        pel_stream_close_gently(stream);
    } else {
        stream->delivery.on_end = Qnil;
        stream->delivery.ended = 1;
        pel_dispatch(stream->reactor, call_on_end, block);
    }
    RB_GC_GUARD(block);
}

/* Receives the next piece; nil when *count is not positive. */
static VALUE receive_piece(struct stream *stream, ssize_t *count)
{
    VALUE buffer = stream->delivery.buffer;

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
    return !NIL_P(stream->delivery.on_data) && !stream->delivery.paused && !stream->reads.under_way &&
           !stream->delivery.ended && !stream->close.begun && pel_stream_open_p(&stream->core);
}

static void deliver_data(struct stream *stream)
{
    struct pel_reactor *reactor = stream->reactor;
    size_t delivered = 0;

    while (wants_data(stream) && (pel_stream_receivable_p(&stream->core) || pel_buffer_length(&stream->input))) {
        VALUE pair[2] = {stream->delivery.on_data, Qnil};
        ssize_t count;
        if (delivered >= DELIVERY_BYTES || (delivered && pel_now() > reactor->batch.end))
            return;
        if (stream->delivery.offers_relay && stream->reads.bulk && !pel_buffer_length(&stream->input)) {
            pel_dispatch(reactor, call_relay, (VALUE)pair);
            if (!NIL_P(pair[1]))
                delivered += NUM2SIZET(pair[1]);
            if (!NIL_P(pair[1]) || !wants_data(stream))
                continue;
        }
        pair[1] = receive_piece(stream, &count);
        if (count == PEL_EAGAIN)
            continue;
        if (count <= 0) {
            deliver_end(stream);
            return;
        }
        delivered += (size_t)count;
        pel_dispatch(reactor, call_on_data, (VALUE)pair);
        pair[1] = Qnil; /* so that the next collection finds no reference to the piece on this stack */
    }
}

static VALUE deliver_protected(VALUE argument)
{
    deliver_data((struct stream *)argument);
    return Qnil;
}

static void run_delivery(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    int state;

    stream->delivery.queued = 0;
    stream->delivery.running = 1;
    pel_protect(deliver_protected, (VALUE)stream, &state);
    stream->delivery.running = 0;
    if (state) { /* NoMemoryError, or the user's buffer is frozen: nothing can be delivered any more */
        pel_stream_finish(stream);
        pel_rethrow(state);
    }
    pel_stream_queue_delivery(stream);
    if (!stream->delivery.queued && !pel_loop_inherited(&reactor->loop))
        pel_stream_flush_scheduled(&stream->core); /* the peer works while the next stream's job runs */
}

static void drop_delivery(void *data)
{
    ((struct stream *)data)->delivery.queued = 0;
}

void pel_stream_queue_delivery(struct stream *stream)
{
    if (stream->delivery.running || stream->delivery.queued || !wants_data(stream))
        return;
    if (!pel_stream_receivable_p(&stream->core) && !pel_buffer_length(&stream->input))
        return;
    stream->delivery.queued = 1;
    pel_enqueue(stream->reactor,
                (struct pel_job){.run = run_delivery, .drop = drop_delivery, .data = stream, .object = stream->self});
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* on_data(buffer = nil) { |bytes| } */
static VALUE stream_on_data(int argc, VALUE *argv, VALUE self)
{
    struct stream *stream = pel_stream_get(self);
    VALUE buffer;

    rb_scan_args(argc, argv, "01", &buffer);
    pel_reactor_running("Stream#on_data");
    if (stream->reads.under_way)
        rb_raise(pel_eError, "a fiber reads this stream: on_data cannot get the same bytes");
    if (!NIL_P(buffer))
        StringValue(buffer);
    RB_OBJ_WRITE(self, &stream->delivery.on_data, rb_block_proc());
    RB_OBJ_WRITE(self, &stream->delivery.buffer, buffer);
    pel_stream_retain(stream, RETAINED_BY_DATA);
    pel_stream_queue_delivery(stream);
    return self;
}

/* deliver_to(object): as on_data, but calls the object's method _received. One object instead of many blocks saves
 * memory. */
static VALUE stream_deliver_to(VALUE self, VALUE object)
{
    struct stream *stream = pel_stream_get(self);

    RB_OBJ_WRITE(self, &stream->delivery.on_data, object);
    pel_stream_retain(stream, RETAINED_BY_DATA);
    pel_stream_queue_delivery(stream);
    return self;
}

static VALUE stream_on_end(VALUE self)
{
    RB_OBJ_WRITE(self, &pel_stream_get(self)->delivery.on_end, rb_block_proc());
    return self;
}

static VALUE stream_on_drain(VALUE self)
{
    RB_OBJ_WRITE(self, &pel_stream_get(self)->delivery.on_drain, rb_block_proc());
    return self;
}

/* pause: legal when closed, so that a callback need not check. */
static VALUE stream_pause(VALUE self)
{
    pel_stream_any(self)->delivery.paused = 1;
    return self;
}

static VALUE stream_resume(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    stream->delivery.paused = 0;
    pel_stream_queue_delivery(stream);
    return self;
}

static VALUE stream_paused_p(VALUE self)
{
    return pel_stream_any(self)->delivery.paused ? Qtrue : Qfalse;
}

void pel_init_stream_delivery(VALUE class)
{
    rb_define_method(class, "pause", stream_pause, 0);
    rb_define_method(class, "resume", stream_resume, 0);
    rb_define_method(class, "paused?", stream_paused_p, 0);
    rb_define_method(class, "on_data", stream_on_data, -1);
    rb_define_method(class, "deliver_to", stream_deliver_to, 1);
    rb_define_method(class, "on_end", stream_on_end, 0);
    rb_define_method(class, "on_drain", stream_on_drain, 0);
}
