#include "ruby/stream/stream_private.h"

/*
 * TLS on a stream. The fiber that waits for the handshake performs it (direct style), or jobs do (callback style, and
 * streams that a listener accepts). It is never performed in the loop's events: verifying a certificate and choosing a
 * context may call the user's blocks, which may wait.
 */

#ifdef HAVE_OPENSSL_SSL_H

#include "ruby/tls/ruby_tls.h"

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void stream_tls_mark(const struct stream *stream)
{
    rb_gc_mark(stream->tls->verify);
    rb_gc_mark(stream->tls->choose);
    rb_gc_mark(stream->tls->choice);
    if (stream->tls->operation)
        pel_operation_mark(stream->tls->operation);
}

static void stream_tls_free(struct stream *stream)
{
    if (stream->tls->operation)
        pel_operation_release(stream->tls->operation);
    PEL_FREE(stream->tls);
}

static VALUE stream_tls_error(const struct stream *stream, const char *what)
{
    if (!stream->tls->failure.code)
        return Qnil;
    return pel_error_with_text(stream->tls->failure.code, what, stream->tls->failure.text);
}

/* ---- beginning ------------------------------------------------------------------------------------------------ */

/* arguments: context, server, verify (core's enum pel_tls_verify), verify block, choose block, name, session. */
static struct stream *begin_tls(VALUE self, VALUE arguments)
{
    struct stream *stream = pel_stream_get(self);
    struct pel_tls_context *context = pel_tls_context_get(RARRAY_AREF(arguments, 0));
    struct pel_tls_options options = {.server = RTEST(RARRAY_AREF(arguments, 1)),
                                      .verify = (enum pel_tls_verify)NUM2INT(RARRAY_AREF(arguments, 2)),
                                      .owner = stream};
    VALUE name = RARRAY_AREF(arguments, 5), session = RARRAY_AREF(arguments, 6);
    int code;

    options.name = pel_tls_optional_text(name);
    options.session = pel_tls_optional_text(session);
    if (stream->reads.under_way)
        rb_raise(pel_eError, "a fiber reads this stream: TLS cannot begin before the read is done");
    if (stream->core.layer)
        rb_raise(pel_eError, "this stream uses TLS already");
    if (!stream->tls) {
        RB_OBJ_WB_UNPROTECT(self);
        stream->tls = ZALLOC(struct stream_tls);
        stream->tls->stream = stream;
    }
    stream->tls->verify = RARRAY_AREF(arguments, 3);
    stream->tls->choose = RARRAY_AREF(arguments, 4);
    stream->tls->choice = Qnil;
    options.hooks = pel_tls_handshake_hooks(stream->tls);
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

/* Goes on with the handshake. A block may close the stream meanwhile. */
static int handshake_step(struct stream *stream)
{
    int code;

    stream->tls->stepping = 1;
    code = pel_tls_handshake(&stream->core);
    stream->tls->stepping = 0;
    return code;
}

/* The handshake is done: reads, writes and on_data go on. */
static void handshake_done(struct stream *stream)
{
    stream->tls->verify = stream->tls->choose = Qnil;
    pel_stream_wake_reader(stream);
    pel_stream_write_ready(stream);
    pel_stream_queue_delivery(stream);
}

static VALUE handshake_error(struct stream *stream, int code)
{
    return code == PEL_ECLOSED ? pel_error_new(PEL_ECLOSED, 0, "TLS handshake")
                               : pel_stream_error(stream, "TLS handshake");
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

static void wait_for_peer(struct stream *stream, int64_t deadline)
{
    int timed_out, state = pel_park_at(stream->reactor, &stream->tls->waiter, deadline, &timed_out);

    if (state || timed_out)
        pel_stream_finish(stream);
    if (state)
        pel_rethrow(state);
    if (timed_out)
        pel_raise(PEL_ETIMEOUT, 0, "TLS handshake");
    if (stream->close.begun && !pel_stream_open_p(&stream->core))
        rb_exc_raise(handshake_error(stream, PEL_ECLOSED));
}

/* _start_tls(arguments, timeout): parks until the handshake is done. */
static VALUE stream_start_tls(VALUE self, VALUE arguments, VALUE timeout)
{
    struct stream *stream = begin_tls(self, arguments);
    int64_t deadline = pel_stream_deadline(stream, timeout);
    int code, state;

    while ((code = handshake_step(stream)) == PEL_EAGAIN && !stream->tls->state)
        wait_for_peer(stream, deadline);
    if (code == 0) {
        handshake_done(stream);
        return self;
    }
    state = stream->tls->state;
    if (state) {
        pel_stream_finish(stream);
        pel_rethrow(state);
    }
    arguments = handshake_error(stream, code);
    pel_stream_finish(stream);
    rb_exc_raise(arguments);
}

/* ---- in jobs -------------------------------------------------------------------------------------------------- */

/* Settles the operation of callback style. Legal when it was settled before. */
static void settle_handshake(struct stream *stream, VALUE error)
{
    struct stream_tls *tls = stream->tls;
    struct pel_operation *operation = tls->operation;

    if (!operation)
        return;
    pel_timer_cancel(&stream->reactor->loop.timers, &tls->timer.entry);
    tls->operation = NULL;
    if (NIL_P(error))
        pel_operation_succeed(operation, stream->self);
    else
        pel_operation_fail(operation, error);
    pel_operation_release(operation);
    pel_stream_release(stream, RETAINED_BY_HANDSHAKE);
}

static void end_handshake(struct stream *stream, VALUE error)
{
    VALUE self = stream->self;

    if (NIL_P(error))
        handshake_done(stream);
    settle_handshake(stream, error);
    if (!NIL_P(error))
        pel_stream_finish(stream);
    RB_GC_GUARD(self);
}

static void queue_handshake_step(struct stream *stream);

static void run_handshake_step(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    struct stream_tls *tls = stream->tls;
    VALUE self = stream->self, error = Qnil;
    int code;

    tls->queued = 0;
    if (!tls->operation)
        return;
    code = handshake_step(stream);
    if (tls->state) {
        int state = tls->state;
        error = pel_take_error(state);
        if (NIL_P(error)) {
            pel_stream_finish(stream);
            pel_rethrow(state);
        }
    } else if (code < 0 && code != PEL_EAGAIN) {
        error = handshake_error(stream, code);
    }
    if (code == PEL_EAGAIN && NIL_P(error)) {
        if (stream->core.readable)
            queue_handshake_step(stream);
    } else {
        end_handshake(stream, error);
    }
    RB_GC_GUARD(self);
}

static void drop_handshake_step(void *data)
{
    ((struct stream *)data)->tls->queued = 0;
}

static void queue_handshake_step(struct stream *stream)
{
    if (stream->tls->queued || stream->tls->stepping)
        return;
    stream->tls->queued = 1;
    pel_enqueue(stream->reactor,
                (struct pel_job){
                    .run = run_handshake_step, .drop = drop_handshake_step, .data = stream, .object = stream->self});
}

static void handshake_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct stream_tls *tls = PEL_LINKED(struct stream_tls, timer, timer);
    struct stream *stream = tls->stream;

    (void)reactor;
    end_handshake(stream, pel_error_new(PEL_ETIMEOUT, 0, "TLS handshake"));
}

/* _start_tls_later(arguments, timeout, block or nil): returns the Operation. */
static VALUE stream_start_tls_later(VALUE self, VALUE arguments, VALUE timeout, VALUE block)
{
    struct stream *stream = begin_tls(self, arguments);
    struct stream_tls *tls = stream->tls;
    int64_t deadline = pel_stream_deadline(stream, timeout);
    struct pel_operation *operation = pel_operation_new(stream->reactor, 1);
    VALUE object;

    tls->operation = operation;
    operation->references++;
    tls->timer = (struct pel_reactor_timer){.on_timeout = handshake_on_timeout};
    if (deadline != PEL_FOREVER)
        pel_timer_add(&stream->reactor->loop.timers, &tls->timer.entry, deadline);
    pel_stream_retain(stream, RETAINED_BY_HANDSHAKE);
    queue_handshake_step(stream);
    object = pel_operation_finish(stream->reactor, operation, block, 1, deadline);
    pel_operation_release(operation);
    RB_GC_GUARD(self);
    return object;
}

/* ---- events of the stream: C only ----------------------------------------------------------------------------- */

static void stream_tls_ready(struct stream *stream)
{
    if (stream->tls->waiter)
        pel_waiter_fire(stream->reactor, stream->tls->waiter);
    else if (stream->tls->operation)
        queue_handshake_step(stream);
}

static void stream_tls_closed(struct stream *stream)
{
    if (stream->tls->waiter)
        pel_waiter_fire(stream->reactor, stream->tls->waiter);
    if (stream->tls->operation)
        settle_handshake(stream, pel_stream_error(stream, "TLS handshake"));
}

void pel_init_tls_stream(void)
{
    pel_stream_tls_hooks = (struct pel_stream_tls_hooks){.mark = stream_tls_mark,
                                                         .free = stream_tls_free,
                                                         .ready = stream_tls_ready,
                                                         .closed = stream_tls_closed,
                                                         .error = stream_tls_error};
    rb_define_private_method(pel_cStream, "_start_tls", stream_start_tls, 2);
    rb_define_private_method(pel_cStream, "_start_tls_later", stream_start_tls_later, 3);
}

#else

void pel_init_tls_stream(void)
{
}

#endif
