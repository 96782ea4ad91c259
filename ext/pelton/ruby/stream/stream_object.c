#include "ruby/stream/stream_private.h"

/* What a Pelton::Stream wraps: its memory, and the fibers that wait for it. */

struct pel_stream_tls_hooks pel_stream_tls_hooks;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void stream_mark(void *data)
{
    struct stream *stream = data;

    rb_gc_mark(stream->self); /* pinned: C keeps the reference */
    rb_gc_mark(stream->reactor_object);
    rb_gc_mark(stream->delivery.on_connect);
    rb_gc_mark(stream->delivery.on_data);
    rb_gc_mark(stream->delivery.on_end);
    rb_gc_mark(stream->delivery.on_close);
    rb_gc_mark(stream->delivery.on_drain);
    rb_gc_mark(stream->delivery.buffer);
    for (struct write_operation *write = stream->writes.first; write; write = write->next)
        pel_operation_mark(write->operation);
    for (struct pel_borrowed *borrowed = stream->core.borrowed.first; borrowed; borrowed = borrowed->next)
        if (!borrowed->lender)
            rb_gc_mark((VALUE)borrowed->owner); /* pinned: its bytes are being sent */
    if (stream->tls)
        pel_stream_tls_hooks.mark(stream);
}

static void stream_free(void *data)
{
    struct stream *stream = data;

    /* An open descriptor whose handle is unregistered: the loop was closed before. A child after a fork must not touch
     * its parent's timers. */
    if (stream->core.handle.slot != PEL_UNREGISTERED && !pel_loop_inherited(&stream->reactor->loop))
        pel_timer_cancel(&stream->reactor->loop.timers, &stream->close.timer.entry);
    pel_stream_free_carrier(&stream->core);
    pel_stream_close(&stream->core);
    pel_buffer_free(&stream->input);
    if (stream->tls)
        pel_stream_tls_hooks.free(stream);
    while (stream->writes.first) {
        struct write_operation *write = stream->writes.first;
        stream->writes.first = write->next;
        pel_operation_release(write->operation);
        PEL_FREE(write);
    }
    PEL_FREE(stream);
}

static size_t stream_size(const void *data)
{
    const struct stream *stream = data;
    return sizeof *stream + stream->core.output.capacity + stream->input.capacity;
}

/* Protected by write barriers, or each minor collection would mark every idle stream. The first write operation or TLS
 * handshake takes the protection away: other code writes the references of those without a barrier. */
const rb_data_type_t pel_stream_type = {.wrap_struct_name = "Pelton::Stream",
                                        .function = {.dmark = stream_mark, .dfree = stream_free, .dsize = stream_size},
                                        .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

struct stream *pel_stream_any(VALUE self)
{
    return rb_check_typeddata(self, &pel_stream_type);
}

struct stream *pel_stream_get(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    if (stream->close.begun || !pel_stream_open_p(&stream->core))
        rb_raise(pel_eClosedError, "the stream is closed");
    if (pel_loop_inherited(&stream->reactor->loop))
        rb_raise(pel_eClosedError, "this stream belongs to the parent process: open one in the child");
    if (stream->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a stream can be used only on the thread that opened it");
    return stream;
}

void pel_stream_retain(struct stream *stream, enum stream_retainer retainer)
{
    if (!stream->retainers) {
        pel_roots_add(&stream->reactor->roots, &stream->root, stream->self);
        stream->reactor->references++;
    }
    stream->retainers |= retainer;
}

void pel_stream_release(struct stream *stream, enum stream_retainer retainers)
{
    if (!stream->retainers)
        return;
    stream->retainers &= ~retainers;
    if (stream->retainers)
        return;
    pel_roots_remove(&stream->reactor->roots, &stream->root);
    stream->reactor->references--;
}

/* ---- shared by the other files -------------------------------------------------------------------------------- */

int64_t pel_stream_deadline(const struct stream *stream, VALUE timeout)
{
    int64_t time = NIL_P(timeout) ? stream->timeout : pel_nanoseconds(timeout);
    return time == PEL_FOREVER ? time : pel_now() + time;
}

VALUE pel_stream_error(const struct stream *stream, const char *what)
{
    int error = stream->core.error;
    VALUE failure = stream->tls ? pel_stream_tls_hooks.error(stream, what) : Qnil;

    if (!NIL_P(failure))
        return failure;
    return error ? pel_error_new(error == ETIMEDOUT ? PEL_ETIMEOUT : PEL_ESYSTEM, error, what)
                 : pel_error_new(PEL_ECLOSED, 0, what);
}

void pel_stream_wake_reader(struct stream *stream)
{
    if (stream->reads.waiter)
        pel_waiter_fire(stream->reactor, stream->reads.waiter);
}

void pel_stream_wake_all(struct stream *stream)
{
    pel_stream_wake_reader(stream);
    pel_turns_fire_all(stream->reactor, &stream->reads.queue);
    pel_turns_fire_all(stream->reactor, &stream->writes.waiters);
}

VALUE pel_stream_call(VALUE callback, enum pel_upcall method, int argc, const VALUE *argument)
{
    VALUE argv[] = {callback, argc ? *argument : Qnil};

    return rb_obj_is_proc(callback) ? rb_proc_call_with_block(callback, argc, argument, Qnil)
                                    : pel_upcallv(method, argc + 1, argv);
}
