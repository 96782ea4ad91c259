#include "ruby/stream/stream_private.h"

#include <unistd.h>
#include "core/stream/socket.h"

/*
 * Pelton::Stream: a connected descriptor with buffers. In direct style read and write calls park until they are done;
 * in callback style on_data delivers the bytes that come. This file handles the loop's events, makes streams and
 * defines the class.
 */

VALUE pel_cStream;

/* ---- events of the loop: C only ------------------------------------------------------------------------------- */

static void stream_on_ready(struct pel_stream *core, unsigned events)
{
    struct stream *stream = (struct stream *)core;
    VALUE self = stream->self; /* the calls below may drop the last reference */

    if (stream->connector && !core->connecting)
        pel_waiter_fire(stream->reactor, stream->connector);
    pel_stream_queue_connect(stream);
    if (pel_stream_securing_p(core))
        pel_stream_tls_hooks.ready(stream);
    if (events & (PEL_READABLE | PEL_HANGUP) || core->error)
        pel_stream_wake_reader(stream);
    if (events & PEL_WRITABLE || core->error)
        pel_stream_write_ready(stream);
    if (stream->close.begun && (core->error || !pel_stream_unsent_p(core)))
        pel_stream_finish_or_linger(stream);
    else if (events & (PEL_READABLE | PEL_HANGUP) || core->error)
        pel_stream_queue_delivery(stream);
    RB_GC_GUARD(self);
}

/* The reactor stops. */
static void stop_stream(struct pel_reactor *reactor, struct pel_root *root)
{
    struct stream *stream = PEL_LINKED(struct stream, root, root);

    reactor->references--;
    stream->retainers = 0;
    pel_stream_flush(&stream->core);
    pel_stream_finish(stream);
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

/* A new stream without a descriptor. */
static struct stream *new_stream(struct pel_reactor *reactor, VALUE class)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(class, struct stream, &pel_stream_type, stream);

    stream->core.handle.fd = -1;
    stream->core.handle.slot = PEL_UNREGISTERED;
    stream->core.on_ready = stream_on_ready;
    stream->core.notify_sent = 1;
    stream->reactor = reactor;
    stream->self = self;
    RB_OBJ_WRITE(self, &stream->reactor_object, reactor->self);
    stream->delivery.on_connect = stream->delivery.on_data = stream->delivery.on_end = stream->delivery.on_close =
        stream->delivery.on_drain = Qnil;
    stream->delivery.buffer = Qnil;
    stream->root.stop = stop_stream;
    stream->writes.tail = &stream->writes.first;
    stream->timeout = PEL_FOREVER;
    stream->close.timer.on_timeout = pel_stream_linger_on_timeout;
    return stream;
}

static VALUE adopt_descriptor(struct pel_reactor *reactor, VALUE class, int fd)
{
    struct stream *stream = new_stream(reactor, class);
    int code = pel_stream_open(&stream->core, &reactor->loop, fd);

    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "cannot open a stream on this descriptor");
    return stream->self;
}

struct adoption {
    struct pel_reactor *reactor;
    int fd;
};

static VALUE adopt_protected(VALUE argument)
{
    struct adoption *adoption = (struct adoption *)argument;
    return adopt_descriptor(adoption->reactor, pel_cStream, adoption->fd);
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

VALUE pel_stream_on_carrier(struct pel_reactor *reactor, const struct pel_carrier_type *type, size_t size, int fd)
{
    struct stream *stream = new_stream(reactor, pel_cStream);
    VALUE self = stream->self;
    struct pel_carrier *carrier = ruby_xcalloc(1, size);

    carrier->type = type;
    pel_stream_open_carried(&stream->core, &reactor->loop, carrier, fd);
    pel_stream_retain(stream, RETAINED_BY_CARRIER);
    return self;
}

/* for_fd(fd): takes over a connected descriptor. */
static VALUE stream_s_for_fd(VALUE class, VALUE fd)
{
    struct pel_reactor *reactor = pel_reactor_current();

    if (pel_socket_prepare(NUM2INT(fd)) < 0)
        pel_raise(PEL_ESYSTEM, errno, "cannot open a stream on this descriptor");
    return adopt_descriptor(reactor, class, NUM2INT(fd));
}

static int begin_connect(struct stream *stream, VALUE address, VALUE local)
{
    const struct sockaddr *from = NIL_P(local) ? NULL : (const struct sockaddr *)RSTRING_PTR(local);
    socklen_t from_length = NIL_P(local) ? 0 : (socklen_t)RSTRING_LEN(local);

    return pel_stream_connect(&stream->core, &stream->reactor->loop, (const struct sockaddr *)RSTRING_PTR(address),
                              (socklen_t)RSTRING_LEN(address), from, from_length);
}

/* begin_connect(packed address, packed local address or nil): a stream that is connected or connecting. */
static VALUE stream_s_connect(VALUE class, VALUE address, VALUE local)
{
    struct pel_reactor *reactor = pel_reactor_current();
    struct stream *stream = new_stream(reactor, class);
    VALUE self = stream->self;
    int code;

    StringValue(address);
    if (!NIL_P(local))
        StringValue(local);
    code = begin_connect(stream, address, local);
    if (pel_try_again_p(reactor, code))
        code = begin_connect(stream, address, local);
    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "connect");
    RB_GC_GUARD(address);
    RB_GC_GUARD(local);
    return self;
}

/* detach: returns the descriptor, which is the caller's from now on. Bytes that were received and not read are lost.
 */
static VALUE stream_detach(VALUE self)
{
    struct stream *stream = pel_stream_get(self);
    int fd;

    if (stream->core.carrier)
        rb_raise(pel_eError, "this stream is one of several on its connection: it has no descriptor of its own");
    stream->writes.unsent = pel_stream_pending(&stream->core);
    fd = pel_stream_detach(&stream->core);
    stream->close.begun = 1;
    pel_stream_wake_all(stream);
    if (stream->tls)
        pel_stream_tls_hooks.closed(stream);
    pel_stream_release(stream, RETAINED_BY_ANY);
    pel_stream_write_ready(stream);
    return INT2FIX(fd);
}

int pel_stream_give_away(VALUE self, struct pel_layer **layer)
{
    *layer = pel_stream_take_layer(&pel_stream_get(self)->core);
    return FIX2INT(stream_detach(self));
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

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

/* idle: seconds since bytes were last received or sent. */
static VALUE stream_idle(VALUE self)
{
    int64_t idle = pel_now() - pel_stream_any(self)->core.active_at;
    return DBL2NUM(idle > 0 ? (double)idle / 1e9 : 0.0);
}

/* quiet?: whether the stream is open and has received nothing that is still to be read, not even the end. This polls
 * and receives by itself: where no reactor runs, the loop has not looked; and a read that found exactly the bytes it
 * asked for has not met EAGAIN, so the stream still counts as readable. */
static VALUE stream_quiet_p(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    if (stream->reactor->phase == PEL_IDLE && stream->reactor == pel_reactor_existing())
        pel_poll(stream->reactor);
    if (pel_stream_open_p(&stream->core) && !pel_buffer_length(&stream->input) &&
        pel_stream_receivable_p(&stream->core))
        pel_stream_fill(stream);
    return pel_stream_open_p(&stream->core) && !stream->close.begun && !pel_buffer_length(&stream->input) &&
                   !pel_stream_receivable_p(&stream->core)
               ? Qtrue
               : Qfalse;
}

void pel_init_stream(void)
{
    pel_cStream = rb_define_class_under(pel_mPelton, "Stream", rb_cObject);
    rb_undef_alloc_func(pel_cStream);
    rb_define_singleton_method(pel_cStream, "for_fd", stream_s_for_fd, 1);
    rb_define_singleton_method(pel_cStream, "begin_connect", stream_s_connect, 2);
    rb_define_method(pel_cStream, "detach", stream_detach, 0);
    rb_define_method(pel_cStream, "timeout", stream_timeout, 0);
    rb_define_method(pel_cStream, "timeout=", stream_set_timeout, 1);
    rb_define_method(pel_cStream, "fileno", stream_fileno, 0);
    rb_define_method(pel_cStream, "idle", stream_idle, 0);
    rb_define_method(pel_cStream, "quiet?", stream_quiet_p, 0);
    pel_init_stream_close(pel_cStream);
    pel_init_stream_connect(pel_cStream);
    pel_init_stream_read(pel_cStream);
    pel_init_stream_write(pel_cStream);
    pel_init_stream_file(pel_cStream);
    pel_init_stream_splice(pel_cStream);
    pel_init_stream_delivery(pel_cStream);
}
