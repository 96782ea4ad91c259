#include "ruby/stream/listener.h"

#include <errno.h>
#include <unistd.h>
#include "core/stream/socket.h"
#include "ruby/base/exception.h"

/* Pelton::Listener: opening, closing, and the class. */

/* ---- opening and closing -------------------------------------------------------------------------------------- */

static void close_listener(struct listener *listener)
{
    struct pel_reactor *reactor = listener->reactor;

    if (listener->handle.fd < 0)
        return;
    pel_timer_cancel(&reactor->loop.timers, &listener->pause.entry);
    pel_loop_disarm(&reactor->loop, &listener->handle);
    close(listener->handle.fd);
    listener->handle.fd = -1;
    pel_turns_fire_all(reactor, &listener->acceptors);
}

static void stop_listener(struct pel_reactor *reactor, struct pel_root *root)
{
    reactor->references--;
    close_listener(PEL_LINKED(struct listener, root, root));
}

static VALUE new_listener(VALUE class, struct pel_reactor *reactor)
{
    struct listener *listener;
    VALUE self = TypedData_Make_Struct(class, struct listener, &pel_listener_type, listener);

    listener->handle = (struct pel_handle){.fd = -1, .slot = PEL_UNREGISTERED, .on_event = pel_listener_on_event};
    listener->pause.on_timeout = pel_listener_pause_on_timeout;
    listener->reactor = reactor;
    listener->self = self;
    listener->reactor_object = reactor->self;
    listener->block = Qnil;
    listener->ready = 1;
    return self;
}

/* Takes the descriptor over and registers it. 0; or an error code, and the descriptor is the caller's. */
static int watch_listener(struct listener *listener, int fd)
{
    int code;

    listener->handle.fd = fd;
    if ((code = pel_loop_arm(&listener->reactor->loop, &listener->handle, PEL_READABLE, PEL_EDGE)) < 0) {
        listener->handle.fd = -1;
        return code;
    }
    if (rb_block_given_p()) {
        listener->block = rb_block_proc();
        listener->root.stop = stop_listener;
        pel_roots_add(&listener->reactor->roots, &listener->root, listener->self);
        listener->reactor->references++;
    }
    return 0;
}

static int open_socket(VALUE address, int backlog, int reuse_port)
{
    return pel_socket_listen((const struct sockaddr *)RSTRING_PTR(address), (socklen_t)RSTRING_LEN(address), backlog,
                             reuse_port);
}

/* _open(packed address, backlog, reuse_port) { |stream| } */
static VALUE listener_s_open(VALUE class, VALUE address, VALUE backlog, VALUE reuse_port)
{
    struct pel_reactor *reactor = pel_reactor_current();
    VALUE self = new_listener(class, reactor);
    int fd, code, queue = NUM2INT(backlog);

    StringValue(address);
    fd = open_socket(address, queue, RTEST(reuse_port));
    if (pel_try_again_p(reactor, fd))
        fd = open_socket(address, queue, RTEST(reuse_port));
    if (fd < 0)
        pel_raise(PEL_ESYSTEM, errno, NULL);
    if ((code = watch_listener(pel_listener_get(self), fd)) < 0) {
        int error = errno;
        close(fd);
        pel_raise(code, code == PEL_ESYSTEM ? error : 0, NULL);
    }
    RB_GC_GUARD(address);
    return self;
}

/* _for_fd(fd, shared) { |stream| } */
static VALUE listener_s_for_fd(VALUE class, VALUE fd, VALUE shared)
{
    VALUE self = new_listener(class, pel_reactor_current());
    int code = pel_socket_prepare(NUM2INT(fd));

    pel_listener_get(self)->shared = RTEST(shared);
    if (code == 0)
        code = watch_listener(pel_listener_get(self), NUM2INT(fd));
    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "cannot listen on this descriptor");
    return self;
}

static VALUE listener_close(VALUE self)
{
    struct listener *listener = pel_listener_get(self);

    if (listener->handle.fd >= 0 && !pel_loop_inherited(&listener->reactor->loop) &&
        listener->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a listener can be closed only on the thread that opened it: see Reactor#schedule");
    if (listener->root.next) {
        pel_roots_remove(&listener->reactor->roots, &listener->root);
        listener->reactor->references--;
    }
    close_listener(listener);
    return Qnil;
}

/* finish: accepts the rest of the backlog, then closes. */
static VALUE listener_finish(VALUE self)
{
    struct listener *listener = pel_listener_get(self);

    if (listener->handle.fd >= 0 && !NIL_P(listener->block))
        pel_listener_accept_rest(pel_listener_get_open(self));
    return listener_close(self);
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

static VALUE listener_closed_p(VALUE self)
{
    return pel_listener_get(self)->handle.fd < 0 ? Qtrue : Qfalse;
}

/* fileno: also of an inherited listener, so that a child can open its own on the descriptor. */
static VALUE listener_fileno(VALUE self)
{
    struct listener *listener = pel_listener_get(self);

    if (listener->handle.fd < 0)
        rb_raise(pel_eClosedError, "the listener is closed");
    return INT2FIX(listener->handle.fd);
}

/* _queued: the number of accepted connections whose handler has not begun. */
static VALUE listener_queued(VALUE self)
{
    return UINT2NUM(pel_listener_get(self)->queued);
}

static VALUE listener_stats(VALUE self)
{
    struct listener *listener = pel_listener_get(self);
    VALUE stats = rb_hash_new();

    rb_hash_aset(stats, ID2SYM(rb_intern("accepted")), ULL2NUM(listener->accepted));
    rb_hash_aset(stats, ID2SYM(rb_intern("pauses")), ULL2NUM(listener->pauses));
    return stats;
}

void pel_init_listener(void)
{
    VALUE class = rb_define_class_under(pel_mPelton, "Listener", rb_cObject);

    rb_undef_alloc_func(class);
    rb_define_singleton_method(class, "_open", listener_s_open, 3);
    rb_define_singleton_method(class, "_for_fd", listener_s_for_fd, 2);
    rb_define_private_method(class, "_queued", listener_queued, 0);
    rb_define_method(class, "close", listener_close, 0);
    rb_define_method(class, "finish", listener_finish, 0);
    rb_define_method(class, "closed?", listener_closed_p, 0);
    rb_define_method(class, "fileno", listener_fileno, 0);
    rb_define_method(class, "stats", listener_stats, 0);
    pel_init_listener_accept(class);
}
