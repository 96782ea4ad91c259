#include "stream_private.h"

#include <string.h>
#include "tls_context.h"

/*
 * TLS on a stream. The handshake goes on in the fiber that waits for it (direct style), or in jobs (callback style, and
 * streams that a listener accepts): never in the loop's events, because verifying a certificate and choosing a context
 * may call blocks of the user's, and they may wait.
 */

#ifdef HAVE_OPENSSL_SSL_H

#include "stream_tls.h"

/* ---- memory --------------------------------------------------------------------------------------------------- */

void pel_stream_tls_mark(const struct stream *stream)
{
    if (!stream->tls)
        return;
    rb_gc_mark(stream->tls->verify);
    rb_gc_mark(stream->tls->choose);
    if (stream->tls->operation)
        pel_operation_mark(stream->tls->operation);
}

void pel_stream_tls_free(struct stream *stream)
{
    if (!stream->tls)
        return;
    if (stream->tls->operation)
        pel_operation_release(stream->tls->operation);
    xfree(stream->tls);
}

VALUE pel_stream_tls_error(const struct stream *stream, const char *what)
{
    if (!stream->tls || !stream->tls->failure.code)
        return Qnil;
    return pel_error_with_text(stream->tls->failure.code, what, stream->tls->failure.text);
}

/* ---- beginning ------------------------------------------------------------------------------------------------ */

static const char *text_of(VALUE string)
{
    return NIL_P(string) ? NULL : StringValueCStr(string);
}

/* arguments: context, server, verify (0, 1, 2: core's), verify block, choose block, name, session. */
static struct stream *begin(VALUE self, VALUE arguments)
{
    struct stream *stream = pel_stream_get(self);
    struct pel_tls_context *context = pel_tls_context_get(RARRAY_AREF(arguments, 0));
    struct pel_tls_options options = {.server = RTEST(RARRAY_AREF(arguments, 1)),
                                      .verify = (enum pel_tls_verify)NUM2INT(RARRAY_AREF(arguments, 2)),
                                      .owner = stream};
    VALUE name = RARRAY_AREF(arguments, 5), session = RARRAY_AREF(arguments, 6);
    int code;

    options.name = text_of(name);
    options.session = text_of(session);
    if (stream->reading)
        rb_raise(pel_eError, "a fiber reads this stream: TLS cannot begin in the middle of that");
    if (stream->core.layer)
        rb_raise(pel_eError, "this stream speaks TLS already");
    if (!stream->tls) {
        RB_OBJ_WB_UNPROTECT(self);
        stream->tls = ZALLOC(struct stream_tls);
        stream->tls->stream = stream;
    }
    stream->tls->verify = RARRAY_AREF(arguments, 3);
    stream->tls->choose = RARRAY_AREF(arguments, 4);
    options.hooks = pel_stream_tls_hooks(stream->tls);
    options.failure = &stream->tls->failure;
    code = pel_tls_start(&stream->core, context, &options, pel_buffer_head(&stream->input),
                         pel_buffer_length(&stream->input));
    if (code == PEL_EARGUMENT)
        rb_raise(pel_eClosedError, "the stream is closed for writing: TLS cannot begin");
    if (code < 0)
        pel_raise(code, 0, "start_tls");
    pel_buffer_free(&stream->input);
    RB_GC_GUARD(name);
    RB_GC_GUARD(session);
    return stream;
}

/* One step. The stream may be closed by a block meanwhile. */
static int step(struct stream *stream)
{
    int code;

    stream->tls->stepping = 1;
    code = pel_tls_handshake(&stream->core);
    stream->tls->stepping = 0;
    return code;
}

/* What waited for the handshake goes on. */
static void opened(struct stream *stream)
{
    stream->tls->verify = stream->tls->choose = Qnil;
    pel_stream_wake_reader(stream);
    pel_stream_write_ready(stream);
    pel_stream_queue_delivery(stream);
}

static VALUE error_of(struct stream *stream, int code)
{
    return code == PEL_ECLOSED ? pel_error_new(PEL_ECLOSED, 0, "TLS handshake")
                               : pel_stream_error(stream, "TLS handshake");
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

static void wait_for_peer(struct stream *stream, int64_t deadline)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    int state;

    stream->tls->waiter = &waiter;
    state = pel_park_protected(stream->reactor, &waiter, deadline);
    stream->tls->waiter = NULL;
    if (state || waiter.timed_out)
        pel_stream_finish(stream);
    if (state)
        pel_rethrow(state);
    if (waiter.timed_out)
        pel_raise(PEL_ETIMEOUT, 0, "TLS handshake");
    if (stream->closing && !pel_stream_open_p(&stream->core))
        rb_exc_raise(error_of(stream, PEL_ECLOSED));
}

/* _start_tls(arguments, timeout): parks until the handshake is done. */
static VALUE stream_start_tls(VALUE self, VALUE arguments, VALUE timeout)
{
    struct stream *stream = begin(self, arguments);
    int64_t deadline = pel_stream_deadline(stream, timeout);
    int code, state;

    while ((code = step(stream)) == PEL_EAGAIN && !stream->tls->state)
        wait_for_peer(stream, deadline);
    if (code == 0) {
        opened(stream);
        return self;
    }
    state = stream->tls->state;
    if (state) {
        pel_stream_finish(stream);
        pel_rethrow(state);
    }
    arguments = error_of(stream, code);
    pel_stream_finish(stream);
    rb_exc_raise(arguments);
}

/* ---- in jobs -------------------------------------------------------------------------------------------------- */

/* Legal when it was settled before. */
static void settle(struct stream *stream, VALUE error)
{
    struct stream_tls *tls = stream->tls;
    struct pel_operation *operation = tls->operation;

    if (!operation)
        return;
    pel_timer_cancel(&stream->reactor->loop.timers, &tls->alarm.timer);
    tls->operation = NULL;
    if (NIL_P(error))
        pel_operation_succeed(operation, stream->self);
    else
        pel_operation_fail(operation, error);
    pel_operation_release(operation);
    pel_stream_release(stream, HELD_BY_HANDSHAKE);
}

static void end_in_job(struct stream *stream, VALUE error)
{
    VALUE self = stream->self;

    if (NIL_P(error))
        opened(stream);
    settle(stream, error);
    if (!NIL_P(error))
        pel_stream_finish(stream);
    RB_GC_GUARD(self);
}

static void queue_step(struct stream *stream);

static void run_step(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    struct stream_tls *tls = stream->tls;
    VALUE self = stream->self, error = Qnil;
    int code;

    tls->queued = 0;
    if (!tls->operation)
        return;
    code = step(stream);
    if (tls->state) {
        int state = tls->state;
        error = pel_take_error(state);
        if (NIL_P(error)) {
            pel_stream_finish(stream);
            pel_rethrow(state);
        }
    } else if (code < 0 && code != PEL_EAGAIN) {
        error = error_of(stream, code);
    }
    if (code == PEL_EAGAIN && NIL_P(error)) {
        if (stream->core.readable)
            queue_step(stream);
    } else {
        end_in_job(stream, error);
    }
    RB_GC_GUARD(self);
}

static void drop_step(void *data)
{
    ((struct stream *)data)->tls->queued = 0;
}

static void queue_step(struct stream *stream)
{
    if (stream->tls->queued || stream->tls->stepping)
        return;
    stream->tls->queued = 1;
    pel_enqueue(stream->reactor,
                (struct pel_job){.run = run_step, .mark = pel_stream_mark_job, .drop = drop_step, .data = stream});
}

static void ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct stream_tls *tls = (struct stream_tls *)((char *)alarm - offsetof(struct stream_tls, alarm));
    struct stream *stream = tls->stream;

    (void)reactor;
    end_in_job(stream, pel_error_new(PEL_ETIMEOUT, 0, "TLS handshake"));
}

/* _start_tls_later(arguments, timeout, block or nil): the Operation. */
static VALUE stream_start_tls_later(VALUE self, VALUE arguments, VALUE timeout, VALUE block)
{
    struct stream *stream = begin(self, arguments);
    struct stream_tls *tls = stream->tls;
    int64_t deadline = pel_stream_deadline(stream, timeout);
    struct pel_operation *operation = pel_operation_new(stream->reactor, 1);
    VALUE object;

    tls->operation = operation;
    operation->references++;
    tls->alarm = (struct pel_alarm){.ring = ring};
    if (deadline != PEL_FOREVER)
        pel_timer_add(&stream->reactor->loop.timers, &tls->alarm.timer, deadline);
    pel_stream_hold(stream, HELD_BY_HANDSHAKE);
    queue_step(stream);
    object = pel_operation_finish(stream->reactor, operation, block, 1, deadline);
    pel_operation_release(operation);
    RB_GC_GUARD(self);
    return object;
}

/* ---- events: C only ------------------------------------------------------------------------------------------- */

void pel_stream_tls_ready(struct stream *stream)
{
    if (stream->tls->waiter)
        pel_waiter_fire(stream->reactor, stream->tls->waiter);
    else if (stream->tls->operation)
        queue_step(stream);
}

void pel_stream_tls_closed(struct stream *stream)
{
    if (!stream->tls)
        return;
    if (stream->tls->waiter)
        pel_waiter_fire(stream->reactor, stream->tls->waiter);
    if (stream->tls->operation)
        settle(stream, pel_stream_error(stream, "TLS handshake"));
}

void pel_init_stream_tls(VALUE class)
{
    rb_define_private_method(class, "_start_tls", stream_start_tls, 2);
    rb_define_private_method(class, "_start_tls_later", stream_start_tls_later, 3);
}

#else /* without OpenSSL lib/pelton/tls.rb says so before any of these matters */

void pel_stream_tls_mark(const struct stream *stream)
{
}

void pel_stream_tls_free(struct stream *stream)
{
}

VALUE pel_stream_tls_error(const struct stream *stream, const char *what)
{
    return Qnil;
}

void pel_stream_tls_ready(struct stream *stream)
{
}

void pel_stream_tls_closed(struct stream *stream)
{
}

void pel_init_stream_tls(VALUE class)
{
}

#endif
