#include "stream_private.h"

#include <unistd.h>
#include "../core/socket.h"

/*
 * Pelton::Stream: a connected descriptor with buffers. Direct style: read and write calls park until they are done.
 * Callback style: on_data delivers what comes. This file is the object itself: its memory, its life, its events.
 */

static VALUE cStream;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void stream_mark(void *data)
{
    struct stream *stream = data;

    rb_gc_mark(stream->self); /* pinned: C keeps it */
    rb_gc_mark(stream->reactor_object);
    rb_gc_mark(stream->on_connect);
    rb_gc_mark(stream->on_data);
    rb_gc_mark(stream->on_end);
    rb_gc_mark(stream->on_close);
    rb_gc_mark(stream->on_drain);
    rb_gc_mark(stream->buffer);
    for (struct write_operation *write = stream->writes; write; write = write->next)
        pel_operation_mark(write->operation);
    for (struct pel_loan *loan = stream->core.loans.first; loan; loan = loan->next)
        rb_gc_mark((VALUE)loan->lender); /* pinned: its bytes are being sent */
    pel_stream_tls_mark(stream);
}

static void stream_free(void *data)
{
    struct stream *stream = data;

    /* An unregistered handle with an open descriptor: the loop was closed before. A child leaves its timers alone. */
    if (stream->core.handle.slot != PEL_UNREGISTERED && !pel_loop_inherited(&stream->reactor->loop))
        pel_timer_cancel(&stream->reactor->loop.timers, &stream->linger.timer);
    pel_stream_close(&stream->core);
    pel_buffer_free(&stream->input);
    pel_stream_tls_free(stream);
    while (stream->writes) {
        struct write_operation *write = stream->writes;
        stream->writes = write->next;
        pel_operation_release(write->operation);
        xfree(write);
    }
    xfree(stream);
}

static size_t stream_size(const void *data)
{
    const struct stream *stream = data;
    return sizeof *stream + stream->core.output.capacity + stream->input.capacity;
}

/* Protected by write barriers, or each minor collection would mark all that are idle; until its first operation or
 * handshake, what those refer to is written by others. */
static const rb_data_type_t stream_type = {
    .wrap_struct_name = "Pelton::Stream",
    .function = {.dmark = stream_mark, .dfree = stream_free, .dsize = stream_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

struct stream *pel_stream_any(VALUE self)
{
    return rb_check_typeddata(self, &stream_type);
}

struct stream *pel_stream_get(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    if (stream->closing || !pel_stream_open_p(&stream->core))
        rb_raise(pel_eClosedError, "the stream is closed");
    if (pel_loop_inherited(&stream->reactor->loop))
        rb_raise(pel_eClosedError, "this stream belongs to the parent process: open one in the child");
    if (stream->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a stream is used on the thread that opened it");
    return stream;
}

void pel_stream_mark_job(void *data)
{
    rb_gc_mark(((struct stream *)data)->self);
}

/* ---- events, from the loop: C only ---------------------------------------------------------------------------- */

static void on_ready(struct pel_stream *core, unsigned events)
{
    struct stream *stream = (struct stream *)core;
    VALUE self = stream->self; /* the last reference may be one that is given up here */

    if (stream->connector && !core->connecting)
        pel_waiter_fire(stream->reactor, stream->connector);
    pel_stream_queue_connect(stream);
    if (pel_stream_securing_p(core))
        pel_stream_tls_ready(stream);
    if (events & (PEL_READABLE | PEL_HANGUP) || core->error)
        pel_stream_wake_reader(stream);
    if (events & PEL_WRITABLE || core->error)
        pel_stream_write_ready(stream);
    if (stream->closing && (core->error || !pel_stream_unsent_p(core)))
        pel_stream_finish(stream);
    else if (events & (PEL_READABLE | PEL_HANGUP) || core->error)
        pel_stream_queue_delivery(stream);
    RB_GC_GUARD(self);
}

/* ---- being held ----------------------------------------------------------------------------------------------- */

static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    struct stream *stream = (struct stream *)((char *)listed - offsetof(struct stream, listed));

    reactor->references--;
    stream->holds = 0;
    pel_stream_flush(&stream->core);
    pel_stream_finish(stream);
}

void pel_stream_hold(struct stream *stream, enum stream_hold hold)
{
    if (!stream->holds) {
        stream->listed.stop = stop;
        pel_list_add(&stream->reactor->list, &stream->listed, stream->self);
        stream->reactor->references++;
    }
    stream->holds |= hold;
}

void pel_stream_release(struct stream *stream, enum stream_hold hold)
{
    if (!stream->holds)
        return;
    stream->holds &= ~hold;
    if (stream->holds)
        return;
    pel_list_remove(&stream->reactor->list, &stream->listed);
    stream->reactor->references--;
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

struct stream *pel_stream_new(struct pel_reactor *reactor, VALUE class)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(class, struct stream, &stream_type, stream);

    stream->core.handle.fd = -1;
    stream->core.handle.slot = PEL_UNREGISTERED;
    stream->core.on_ready = on_ready;
    stream->core.tell_sent = 1;
    stream->reactor = reactor;
    stream->self = self;
    RB_OBJ_WRITE(self, &stream->reactor_object, reactor->self);
    stream->on_connect = stream->on_data = stream->on_end = stream->on_close = stream->on_drain = Qnil;
    stream->buffer = Qnil;
    stream->writes_tail = &stream->writes;
    stream->timeout = PEL_FOREVER;
    stream->linger.ring = pel_stream_ring_linger;
    return stream;
}

static VALUE adopt(struct pel_reactor *reactor, VALUE class, int fd)
{
    struct stream *stream = pel_stream_new(reactor, class);
    int code = pel_stream_open(&stream->core, &reactor->loop, fd);

    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "cannot make a stream of a descriptor");
    return stream->self;
}

struct adoption {
    struct pel_reactor *reactor;
    int fd;
};

static VALUE adopt_protected(VALUE argument)
{
    struct adoption *adoption = (struct adoption *)argument;
    return adopt(adoption->reactor, cStream, adoption->fd);
}

VALUE pel_stream_object(struct pel_reactor *reactor, int fd)
{
    struct adoption adoption = {.reactor = reactor, .fd = fd};
    int state;
    VALUE self = pel_protect(adopt_protected, (VALUE)&adoption, &state);

    if (state) {
        close(fd);
        pel_rethrow(state);
    }
    return self;
}

/* for_fd(fd): takes a connected descriptor over. */
static VALUE stream_s_for_fd(VALUE class, VALUE fd)
{
    struct pel_reactor *reactor = pel_reactor_current();

    if (pel_socket_prepare(NUM2INT(fd)) < 0)
        pel_raise(PEL_ESYSTEM, errno, "cannot make a stream of a descriptor");
    return adopt(reactor, class, NUM2INT(fd));
}

/* _detach: the descriptor, which is the caller's from now on; what was read and not taken is lost. */
static VALUE stream_detach(VALUE self)
{
    struct stream *stream = pel_stream_get(self);
    int fd;

    stream->unsent = pel_stream_pending(&stream->core);
    fd = pel_stream_detach(&stream->core);
    stream->closing = 1;
    pel_stream_wake_all(stream);
    pel_stream_tls_closed(stream);
    pel_stream_release(stream, HELD_BY_DATA | HELD_BY_OUTPUT | HELD_BY_CONNECT | HELD_BY_HANDSHAKE);
    pel_stream_write_ready(stream);
    return INT2FIX(fd);
}

int pel_stream_give_away(VALUE self, struct pel_layer **layer)
{
    *layer = pel_stream_take_layer(&pel_stream_get(self)->core);
    return FIX2INT(stream_detach(self));
}

/* ---- attributes and errors ------------------------------------------------------------------------------------ */

VALUE pel_stream_error(const struct stream *stream, const char *what)
{
    int error = stream->core.error;
    VALUE failure = pel_stream_tls_error(stream, what);

    if (!NIL_P(failure))
        return failure;
    return error ? pel_error_new(error == ETIMEDOUT ? PEL_ETIMEOUT : PEL_ESYSTEM, error, what)
                 : pel_error_new(PEL_ECLOSED, 0, what);
}

int64_t pel_stream_deadline(const struct stream *stream, VALUE timeout)
{
    int64_t time = NIL_P(timeout) ? stream->timeout : pel_nanoseconds(timeout);
    return time == PEL_FOREVER ? time : pel_now() + time;
}

static VALUE stream_timeout(VALUE self)
{
    int64_t timeout = pel_stream_any(self)->timeout;
    return timeout == PEL_FOREVER ? Qnil : DBL2NUM((double)timeout / 1e9);
}

static VALUE stream_set_timeout(VALUE self, VALUE timeout)
{
    pel_stream_any(self)->timeout = NIL_P(timeout) ? PEL_FOREVER : pel_nanoseconds(timeout);
    return timeout;
}

static VALUE stream_fileno(VALUE self)
{
    return INT2FIX(pel_stream_get(self)->core.handle.fd);
}

/* _quiet?: open, and nothing came that nobody has read, not even the end. Where no reactor runs nobody has looked; and
 * who has read just what was there does not know yet that it was all. */
static VALUE stream_quiet_p(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    if (stream->reactor->phase == PEL_IDLE && stream->reactor == pel_reactor_existing())
        pel_look(stream->reactor);
    if (pel_stream_open_p(&stream->core) && !pel_buffer_length(&stream->input) &&
        pel_stream_receivable_p(&stream->core))
        pel_stream_fill(stream);
    return pel_stream_open_p(&stream->core) && !stream->closing && !pel_buffer_length(&stream->input) &&
                   !pel_stream_receivable_p(&stream->core)
               ? Qtrue
               : Qfalse;
}

void pel_init_stream(void)
{
    cStream = rb_define_class_under(pel_mPelton, "Stream", rb_cObject);
    rb_undef_alloc_func(cStream);
    rb_define_singleton_method(cStream, "for_fd", stream_s_for_fd, 1);
    rb_define_method(cStream, "_detach", stream_detach, 0);
    rb_define_method(cStream, "timeout", stream_timeout, 0);
    rb_define_method(cStream, "timeout=", stream_set_timeout, 1);
    rb_define_method(cStream, "fileno", stream_fileno, 0);
    rb_define_method(cStream, "_quiet?", stream_quiet_p, 0);
    pel_init_stream_close(cStream);
    pel_init_stream_connect(cStream);
    pel_init_stream_tls(cStream);
    pel_init_stream_tls_info(cStream);
    pel_init_stream_read(cStream);
    pel_init_stream_write(cStream);
    pel_init_stream_file(cStream);
    pel_init_stream_splice(cStream);
    pel_init_stream_delivery(cStream);
}
