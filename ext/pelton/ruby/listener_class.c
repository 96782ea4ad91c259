#include "stream.h"

#include <errno.h>
#include <unistd.h>
#include "error.h"
#include "protect.h"

/*
 * Pelton::Listener: accepts connections. With a block each one becomes a job of its own, so that a handler that waits
 * holds up nobody. When descriptors run out it pauses instead of spinning.
 */

#define ACCEPTS_A_TURN 64
#define PAUSE_NS (100 * 1000 * 1000)

struct listener {
    struct pel_handle handle; /* first */
    struct pel_alarm pause;
    struct pel_reactor *reactor;
    VALUE self, reactor_object, block;
    struct pel_waiter *waiter; /* in accept */
    struct pel_listed listed;
    uint64_t accepted, pauses;
    unsigned ready : 1, turn_queued : 1;
};

static void listener_mark(void *data)
{
    struct listener *listener = data;

    rb_gc_mark(listener->block);
    rb_gc_mark(listener->reactor_object);
}

static void listener_free(void *data)
{
    struct listener *listener = data;

    if (listener->handle.slot != PEL_UNREGISTERED) {
        pel_timer_cancel(&listener->reactor->loop.timers, &listener->pause.timer);
        pel_loop_disarm(&listener->reactor->loop, &listener->handle);
    }
    if (listener->handle.fd >= 0)
        close(listener->handle.fd);
    xfree(listener);
}

static size_t listener_size(const void *data)
{
    return sizeof(struct listener);
}

static const rb_data_type_t listener_type = {
    .wrap_struct_name = "Pelton::Listener",
    .function = {.dmark = listener_mark, .dfree = listener_free, .dsize = listener_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static struct listener *get(VALUE self)
{
    struct listener *listener = rb_check_typeddata(self, &listener_type);

    if (listener->handle.fd < 0)
        rb_raise(pel_eClosedError, "the listener is closed");
    return listener;
}

/* A descriptor, PEL_EAGAIN, or PEL_ESYSTEM. Out of descriptors or memory: like PEL_EAGAIN, until the pause is over. */
static int accept_one(struct listener *listener)
{
    int fd;

    if (!listener->ready || pel_timer_active(&listener->pause.timer))
        return PEL_EAGAIN;
    fd = pel_socket_accept(listener->handle.fd);
    if (fd >= 0) {
        listener->accepted++;
        return fd;
    }
    if (fd == PEL_EAGAIN) {
        listener->ready = 0;
        pel_loop_rearm(&listener->reactor->loop, &listener->handle, PEL_READABLE);
        return fd;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        listener->pauses++;
        pel_timer_add(&listener->reactor->loop.timers, &listener->pause.timer, pel_now() + PAUSE_NS);
        return PEL_EAGAIN;
    }
    return fd;
}

static void run_handler(struct pel_reactor *reactor, void *data)
{
    VALUE pair = (VALUE)data, stream = RARRAY_AREF(pair, 1);

    rb_proc_call_with_block(RARRAY_AREF(pair, 0), 1, &stream, Qnil);
    RB_GC_GUARD(pair);
}

static void mark_value(void *data)
{
    rb_gc_mark((VALUE)data);
}

static void run_turn(struct pel_reactor *reactor, void *data);

static void mark_listener(void *data)
{
    rb_gc_mark(((struct listener *)data)->self);
}

/* Accepts what is there, with no Ruby but the new objects. */
static void accept_turn(struct listener *listener)
{
    struct pel_reactor *reactor = listener->reactor;

    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        VALUE pair;
        int fd = accept_one(listener);
        if (fd < 0)
            return;
        pair = rb_assoc_new(listener->block, pel_stream_object(reactor, fd));
        pel_enqueue(reactor, (struct pel_job){.run = run_handler, .mark = mark_value, .data = (void *)pair});
        RB_GC_GUARD(pair);
    }
    if (!listener->turn_queued) {
        listener->turn_queued = 1;
        pel_enqueue(reactor, (struct pel_job){.run = run_turn, .mark = mark_listener, .data = listener});
    }
}

static void run_turn(struct pel_reactor *reactor, void *data)
{
    struct listener *listener = data;
    VALUE self = listener->self;

    listener->turn_queued = 0;
    if (listener->handle.fd >= 0)
        accept_turn(listener);
    RB_GC_GUARD(self);
}

static void tell(struct listener *listener)
{
    if (listener->waiter)
        pel_waiter_fire(listener->reactor, listener->waiter);
    if (!NIL_P(listener->block))
        accept_turn(listener);
}

static void on_event(struct pel_handle *handle, unsigned events)
{
    struct listener *listener = (struct listener *)handle;

    listener->ready = 1;
    tell(listener);
}

static void end_of_pause(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct listener *listener = (struct listener *)((char *)alarm - offsetof(struct listener, pause));
    /* accept_turn makes Ruby objects, which an alarm must not: a job does it. */
    if (listener->waiter)
        pel_waiter_fire(reactor, listener->waiter);
    if (!NIL_P(listener->block) && !listener->turn_queued) {
        listener->turn_queued = 1;
        pel_enqueue(reactor, (struct pel_job){.run = run_turn, .mark = mark_listener, .data = listener});
    }
}

static void shut(struct listener *listener)
{
    struct pel_reactor *reactor = listener->reactor;

    if (listener->handle.fd < 0)
        return;
    if (reactor->fork_generation == pel_fork_generation) {
        pel_timer_cancel(&reactor->loop.timers, &listener->pause.timer);
        pel_loop_disarm(&reactor->loop, &listener->handle);
    } else {
        listener->handle.slot = PEL_UNREGISTERED;
    }
    close(listener->handle.fd);
    listener->handle.fd = -1;
    if (listener->waiter)
        pel_waiter_fire(reactor, listener->waiter);
}

static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    reactor->references--;
    shut((struct listener *)((char *)listed - offsetof(struct listener, listed)));
}

static VALUE new_listener(VALUE class, struct pel_reactor *reactor, int fd)
{
    struct listener *listener;
    VALUE self = TypedData_Make_Struct(class, struct listener, &listener_type, listener);

    listener->handle = (struct pel_handle){.fd = fd, .slot = PEL_UNREGISTERED, .on_event = on_event};
    listener->pause.ring = end_of_pause;
    listener->reactor = reactor;
    listener->self = self;
    listener->reactor_object = reactor->self;
    listener->block = Qnil;
    listener->ready = 1;
    return self;
}

static VALUE open_listener(VALUE self)
{
    struct listener *listener = rb_check_typeddata(self, &listener_type);
    struct pel_reactor *reactor = listener->reactor;

    if (pel_loop_arm(&reactor->loop, &listener->handle, PEL_READABLE, PEL_EDGE) < 0)
        pel_raise(PEL_ESYSTEM, errno, "cannot watch a listener");
    if (rb_block_given_p()) {
        listener->block = rb_block_proc();
        listener->listed.stop = stop;
        pel_list_add(reactor, &listener->listed, self);
        reactor->references++;
    }
    return self;
}

/* _open(packed address, backlog, reuse_port) { |stream| } */
static VALUE listener_s_open(VALUE class, VALUE address, VALUE backlog, VALUE reuse_port)
{
    struct pel_reactor *reactor = pel_reactor_current();
    VALUE self = new_listener(class, reactor, -1);
    struct listener *listener = rb_check_typeddata(self, &listener_type);
    int fd;

    StringValue(address);
    fd = pel_socket_listen((const struct sockaddr *)RSTRING_PTR(address), (socklen_t)RSTRING_LEN(address),
                           NUM2INT(backlog), RTEST(reuse_port));
    if (fd < 0)
        pel_raise(PEL_ESYSTEM, errno, "listen");
    listener->handle.fd = fd;
    return open_listener(self);
}

/* for_fd(fd) { |stream| }: takes a listening descriptor over, such as an inherited one. */
static VALUE listener_s_for_fd(VALUE class, VALUE fd)
{
    return open_listener(new_listener(class, pel_reactor_current(), NUM2INT(fd)));
}

/* _accept(timeout): parks. */
static VALUE listener_accept(VALUE self, VALUE timeout)
{
    struct listener *listener = get(self);
    int64_t deadline = NIL_P(timeout) ? PEL_FOREVER : pel_now() + pel_nanoseconds(timeout);

    if (!NIL_P(listener->block))
        rb_raise(pel_eError, "this listener has a block: it accepts by itself");
    for (;;) {
        struct pel_waiter waiter = {.exception = Qfalse};
        int fd = accept_one(listener), state;
        if (fd >= 0)
            return pel_stream_object(listener->reactor, fd);
        if (fd != PEL_EAGAIN)
            pel_raise(fd, errno, "accept");
        if (listener->waiter)
            rb_raise(pel_eError, "another fiber is in accept: use one");
        listener->waiter = &waiter;
        state = pel_park_protected(listener->reactor, &waiter, deadline);
        listener->waiter = NULL;
        if (state)
            pel_rethrow(state);
        if (waiter.timed_out)
            pel_raise(PEL_ETIMEOUT, 0, "accept");
        get(self);
    }
}

static VALUE listener_close(VALUE self)
{
    struct listener *listener = rb_check_typeddata(self, &listener_type);

    if (listener->listed.next) {
        pel_list_remove(listener->reactor, &listener->listed);
        listener->reactor->references--;
    }
    shut(listener);
    return Qnil;
}

static VALUE listener_closed_p(VALUE self)
{
    return ((struct listener *)rb_check_typeddata(self, &listener_type))->handle.fd < 0 ? Qtrue : Qfalse;
}

static VALUE listener_fileno(VALUE self)
{
    return INT2FIX(get(self)->handle.fd);
}

static VALUE listener_stats(VALUE self)
{
    struct listener *listener = rb_check_typeddata(self, &listener_type);
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
    rb_define_singleton_method(class, "for_fd", listener_s_for_fd, 1);
    rb_define_private_method(class, "_accept", listener_accept, 1);
    rb_define_method(class, "close", listener_close, 0);
    rb_define_method(class, "closed?", listener_closed_p, 0);
    rb_define_method(class, "fileno", listener_fileno, 0);
    rb_define_method(class, "stats", listener_stats, 0);
}
