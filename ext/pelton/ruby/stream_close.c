#include "stream_private.h"

/* Closing: at once, or when what is queued was sent. */

/* For the output of a stream without a timeout of its own, as long as it makes no progress. */
#define PATIENCE (INT64_C(30) * 1000 * 1000 * 1000)

void pel_stream_wake_all(struct stream *stream)
{
    pel_stream_wake_reader(stream);
    pel_stream_wake_turns(stream);
    for (struct write_waiter *writer = stream->writers; writer; writer = writer->next)
        pel_waiter_fire(stream->reactor, writer->waiter);
}

void pel_stream_finish(struct stream *stream)
{
    VALUE self = stream->self;

    if (!pel_stream_open_p(&stream->core))
        return;
    pel_timer_cancel(&stream->reactor->loop.timers, &stream->linger.timer);
    stream->closing = 1;
    stream->unsent = pel_stream_pending(&stream->core);
    pel_stream_queue_close(stream);
    pel_stream_close(&stream->core);
    pel_stream_wake_all(stream);
    if (stream->connector)
        pel_waiter_fire(stream->reactor, stream->connector);
    pel_stream_tls_closed(stream);
    pel_stream_release(stream, HELD_BY_DATA | HELD_BY_OUTPUT | HELD_BY_CONNECT | HELD_BY_HANDSHAKE);
    stream->on_connect = stream->on_data = stream->on_end = stream->on_drain = stream->buffer = Qnil;
    pel_stream_write_ready(stream);
    RB_GC_GUARD(self);
}

/* When a closed stream whose output makes no progress is given up. */
static int64_t patience_end(const struct stream *stream)
{
    return stream->timeout == PEL_FOREVER ? pel_now() + PATIENCE : pel_stream_deadline(stream, Qnil);
}

void pel_stream_ring_linger(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct stream *stream = (struct stream *)((char *)alarm - offsetof(struct stream, linger));
    size_t pending = pel_stream_pending(&stream->core);

    if (pending < stream->lingering) {
        stream->lingering = pending;
        pel_timer_add(&reactor->loop.timers, &alarm->timer, patience_end(stream));
        return;
    }
    stream->core.error = ETIMEDOUT;
    pel_stream_finish(stream);
}

static VALUE send_rest(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    pel_stream_wait_below(stream, 0, patience_end(stream));
    return Qnil;
}

static VALUE finish(VALUE self)
{
    pel_stream_finish(pel_stream_any(self));
    return Qnil;
}

void pel_stream_close_gently(struct stream *stream)
{
    struct pel_reactor *reactor = stream->reactor;
    int more;

    if (stream->closing || !pel_stream_open_p(&stream->core))
        return;
    /* TLS says farewell, unless nothing was said yet. */
    if (stream->core.layer && (!pel_stream_securing_p(&stream->core) || pel_stream_pending(&stream->core)))
        stream->core.shut_when_sent = 1;
    more = (pel_stream_unsent_p(&stream->core) || stream->core.shut_when_sent) && !stream->core.error &&
           pel_stream_flush(&stream->core) == 1;
    if (!more) {
        pel_stream_finish(stream);
    } else if (reactor->phase == PEL_IDLE) {
        rb_ensure(send_rest, stream->self, finish, stream->self);
    } else {
        stream->closing = 1;
        stream->lingering = pel_stream_pending(&stream->core);
        pel_timer_add(&reactor->loop.timers, &stream->linger.timer, patience_end(stream));
        pel_stream_hold(stream, HELD_BY_OUTPUT);
        if (stream->core.writable)
            pel_stream_flush_later(&stream->core);
        pel_stream_wake_all(stream);
    }
}

/* Whether there is something to close. What a child inherited is closed at once, and not told to anybody: the
 * connection is the parent's. */
static int closable(struct stream *stream)
{
    if (!pel_stream_open_p(&stream->core))
        return 0;
    if (pel_loop_inherited(&stream->reactor->loop)) {
        pel_stream_close(&stream->core);
        return 0;
    }
    if (stream->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a stream is closed on the thread that opened it: see Reactor#schedule");
    return 1;
}

static VALUE stream_close(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    if (closable(stream)) {
        pel_stream_close_gently(stream);
        pel_stream_tell_close(stream);
    }
    return Qnil;
}

/* Closes at once; queued output is dropped. */
static VALUE stream_abort(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    if (closable(stream)) {
        pel_stream_finish(stream);
        pel_stream_tell_close(stream);
    }
    return Qnil;
}

static VALUE stream_closed_p(VALUE self)
{
    struct stream *stream = pel_stream_any(self);
    return stream->closing || !pel_stream_open_p(&stream->core) ? Qtrue : Qfalse;
}

void pel_init_stream_close(VALUE class)
{
    rb_define_method(class, "close", stream_close, 0);
    rb_define_method(class, "abort", stream_abort, 0);
    rb_define_method(class, "closed?", stream_closed_p, 0);
}
