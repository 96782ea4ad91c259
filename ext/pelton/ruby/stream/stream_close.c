#include "ruby/stream/stream_private.h"

#include "core/stream/socket.h"

/* Closing: at once, or after the queued output was sent and, with TLS, has arrived. */

#define SECOND (INT64_C(1000) * 1000 * 1000)

/* Nanoseconds that the output of a closed stream without a timeout of its own may make no progress. */
#define LINGER_NS (30 * SECOND)

/* Nanoseconds without progress after which a peer that has not acknowledged everything is left alone, and after which
 * it is looked for progress. */
#define ACKNOWLEDGE_NS SECOND
#define ASK_NS (SECOND / 200)

/* ---- on_close ------------------------------------------------------------------------------------------------- */

/* Calls on_close, once. */
static void run_on_close(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE self = stream->self, callback = stream->delivery.on_close;
    VALUE error = stream->core.error ? pel_stream_error(stream, "the connection failed") : Qnil;

    stream->delivery.on_close = Qnil;
    if (!NIL_P(callback))
        pel_stream_call(callback, PEL_UPCALL_stream_closed, 1, &error);
    RB_GC_GUARD(self);
    RB_GC_GUARD(callback);
}

static void queue_on_close(struct stream *stream)
{
    if (!NIL_P(stream->delivery.on_close))
        pel_enqueue(stream->reactor, (struct pel_job){.run = run_on_close, .data = stream, .object = stream->self});
}

/* Calls on_close of a closed stream at once where no reactor runs to do so. */
static void run_on_close_without_reactor(struct stream *stream)
{
    if (stream->reactor->phase == PEL_IDLE && !pel_stream_open_p(&stream->core))
        run_on_close(stream->reactor, stream);
}

static VALUE stream_on_close(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    RB_OBJ_WRITE(self, &stream->delivery.on_close, rb_block_proc());
    if (pel_stream_open_p(&stream->core))
        return self;
    if (stream->reactor->phase == PEL_IDLE)
        run_on_close(stream->reactor, stream);
    else
        queue_on_close(stream);
    return self;
}

/* tell_closed(object): as on_close, but calls the object's method _closed. */
static VALUE stream_tell(VALUE self, VALUE object)
{
    struct stream *stream = pel_stream_get(self);

    RB_OBJ_WRITE(self, &stream->delivery.on_close, object);
    return self;
}

/* ---- closing -------------------------------------------------------------------------------------------------- */

void pel_stream_finish(struct stream *stream)
{
    VALUE self = stream->self;

    if (!pel_stream_open_p(&stream->core))
        return;
    pel_timer_cancel(&stream->reactor->loop.timers, &stream->close.timer.entry);
    stream->close.begun = 1;
    stream->writes.unsent = pel_stream_pending(&stream->core);
    queue_on_close(stream);
    pel_stream_close(&stream->core);
    pel_stream_wake_all(stream);
    if (stream->connector)
        pel_waiter_fire(stream->reactor, stream->connector);
    if (stream->tls)
        pel_stream_tls_hooks.closed(stream);
    pel_stream_release(stream, RETAINED_BY_ANY);
    stream->delivery.on_connect = stream->delivery.on_data = stream->delivery.on_end = stream->delivery.on_drain =
        stream->delivery.buffer = Qnil;
    pel_stream_write_ready(stream);
    RB_GC_GUARD(self);
}

/* The instant at which a closed stream is given up if its output makes no progress until then. */
static int64_t linger_deadline(const struct stream *stream)
{
    return stream->timeout == PEL_FOREVER ? pel_now() + LINGER_NS : pel_stream_deadline(stream, Qnil);
}

/* All was sent. Whether the stream stays open for now, because its peer acknowledges the bytes little by little. */
static int lingers(struct stream *stream)
{
    size_t left = stream->close.lags ? (size_t)pel_stream_lingers(&stream->core) : 0;
    int64_t now = pel_now();

    if (!stream->close.acknowledging || left < stream->close.pending) {
        stream->close.acknowledging = 1;
        stream->close.pending = left;
        stream->close.until = now + (stream->timeout < ACKNOWLEDGE_NS ? stream->timeout : ACKNOWLEDGE_NS);
    }
    return left && now < stream->close.until;
}

void pel_stream_finish_or_linger(struct stream *stream)
{
    if (!stream->core.error && lingers(stream))
        pel_timer_add(&stream->reactor->loop.timers, &stream->close.timer.entry, pel_now() + ASK_NS);
    else
        pel_stream_finish(stream);
}

void pel_stream_linger_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct stream *stream = PEL_LINKED(struct stream, close.timer, timer);
    size_t pending = pel_stream_pending(&stream->core);

    if (stream->close.acknowledging) {
        pel_stream_finish_or_linger(stream);
        return;
    }
    if (pending < stream->close.pending) {
        stream->close.pending = pending;
        pel_timer_add(&reactor->loop.timers, &timer->entry, linger_deadline(stream));
        return;
    }
    stream->core.error = ETIMEDOUT;
    pel_stream_finish(stream);
}

static VALUE send_rest(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    pel_stream_wait_below(stream, 0, linger_deadline(stream));
    while (lingers(stream)) {
        struct pel_waiter waiter = {.exception = Qfalse};
        pel_park(stream->reactor, &waiter, pel_now() + ASK_NS);
    }
    return Qnil;
}

static VALUE finish_stream(VALUE self)
{
    pel_stream_finish(pel_stream_any(self));
    return Qnil;
}

/* Sends what can be sent at once. Returns whether nothing is left that could be sent later. */
static int send_first(struct stream *stream)
{
    struct pel_stream *core = &stream->core;

    /* TLS sends close_notify, but not in the middle of a handshake with nothing queued after it. */
    if (core->layer && (!pel_stream_securing_p(core) || pel_stream_pending(core))) {
        stream->close.lags = pel_stream_unsent_p(core) || pel_socket_unacknowledged(core->handle.fd);
        core->shut_when_sent = 1;
    }
    return (!pel_stream_unsent_p(core) && !core->shut_when_sent) || core->error || pel_stream_flush(core) != 1;
}

void pel_stream_close_gently(struct stream *stream)
{
    struct pel_reactor *reactor = stream->reactor;
    int all_sent;

    if (stream->close.begun || !pel_stream_open_p(&stream->core))
        return;
    all_sent = send_first(stream);
    if (all_sent && !stream->close.lags) {
        pel_stream_finish(stream);
    } else if (reactor->phase == PEL_IDLE) {
        rb_ensure(send_rest, stream->self, finish_stream, stream->self);
    } else {
        stream->close.begun = 1;
        stream->close.pending = pel_stream_pending(&stream->core);
        pel_stream_retain(stream, RETAINED_BY_CLOSE);
        pel_stream_wake_all(stream);
        if (all_sent) {
            pel_stream_finish_or_linger(stream);
            return;
        }
        pel_timer_add(&reactor->loop.timers, &stream->close.timer.entry, linger_deadline(stream));
        if (stream->core.writable)
            pel_stream_flush_later(&stream->core);
    }
}

/* Whether the stream is open and this thread's to close. A stream that a child inherited is closed at once and without
 * callbacks: the connection is the parent's. Raises on another thread. */
static int closable(struct stream *stream)
{
    if (!pel_stream_open_p(&stream->core))
        return 0;
    if (pel_loop_inherited(&stream->reactor->loop)) {
        pel_stream_close(&stream->core);
        return 0;
    }
    if (stream->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a stream can be closed only on the thread that opened it: see Reactor#schedule");
    return 1;
}

static VALUE close_by(VALUE self, void (*close)(struct stream *stream))
{
    struct stream *stream = pel_stream_any(self);

    if (closable(stream)) {
        close(stream);
        run_on_close_without_reactor(stream);
    }
    return Qnil;
}

static VALUE stream_close(VALUE self)
{
    return close_by(self, pel_stream_close_gently);
}

/* abort: closes at once. Queued output is dropped. */
static VALUE stream_abort(VALUE self)
{
    return close_by(self, pel_stream_finish);
}

static VALUE stream_closed_p(VALUE self)
{
    struct stream *stream = pel_stream_any(self);
    return stream->close.begun || !pel_stream_open_p(&stream->core) ? Qtrue : Qfalse;
}

void pel_init_stream_close(VALUE class)
{
    rb_define_method(class, "close", stream_close, 0);
    rb_define_method(class, "abort", stream_abort, 0);
    rb_define_method(class, "closed?", stream_closed_p, 0);
    rb_define_method(class, "on_close", stream_on_close, 0);
    rb_define_method(class, "tell_closed", stream_tell, 1);
}
