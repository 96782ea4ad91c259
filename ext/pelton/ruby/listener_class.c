#include "stream.h"

#include <errno.h>
#include <unistd.h>
#include "../core/socket.h"
#include "error.h"
#include "protect.h"

/*
 * Pelton::Listener: accepts connections. With a block each one becomes a job of its own, so that a handler that waits
 * holds up nobody. When descriptors run out it pauses instead of spinning: what waits in the backlog is accepted later.
 */

#define ACCEPTS_A_TURN 64 /* 1 when it is shared: what an idle process could take is not taken by a busy one */
#define PAUSE_NS (100 * 1000 * 1000)

/* A fiber in accept. */
struct acceptor {
    struct pel_waiter waiter;
    struct acceptor *next;
};

struct listener {
    struct pel_handle handle; /* first */
    struct pel_alarm pause;
    struct pel_reactor *reactor;
    VALUE self, reactor_object, block;
    struct acceptor *acceptors; /* in their order */
    struct pel_listed listed;
    uint64_t accepted, pauses;
    uint32_t queued; /* connections whose handler's turn has not come */
    unsigned ready : 1, turn_queued : 1, shared : 1;
};

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void listener_mark(void *data)
{
    struct listener *listener = data;

    rb_gc_mark(listener->self); /* pinned: C keeps it */
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

static struct listener *get_any(VALUE self)
{
    return rb_check_typeddata(self, &listener_type);
}

static struct listener *get(VALUE self)
{
    struct listener *listener = get_any(self);

    if (listener->handle.fd < 0)
        rb_raise(pel_eClosedError, "the listener is closed");
    if (pel_loop_inherited(&listener->reactor->loop))
        rb_raise(pel_eClosedError, "this listener belongs to the parent process: "
                                   "use Listener.for_fd(listener.fileno) in the child");
    if (listener->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a listener is used on the thread that opened it");
    return listener;
}

/* ---- accepting ------------------------------------------------------------------------------------------------ */

static void pause_accepting(struct listener *listener)
{
    listener->pauses++;
    pel_timer_add(&listener->reactor->loop.timers, &listener->pause.timer, pel_now() + PAUSE_NS);
}

/* A descriptor, PEL_EAGAIN, or PEL_ESYSTEM. Out of descriptors or memory: like PEL_EAGAIN, until the pause is over. */
static int accept_one(struct listener *listener)
{
    int fd;

    if (!listener->ready || pel_timer_active(&listener->pause.timer))
        return PEL_EAGAIN;
    fd = pel_socket_accept(listener->handle.fd);
    if (fd == PEL_ESYSTEM && (errno == EMFILE || errno == ENFILE) && pel_spare(listener->reactor))
        fd = pel_socket_accept(listener->handle.fd);
    if (fd >= 0) {
        listener->accepted++;
        return fd;
    }
    if (fd == PEL_EAGAIN) {
        listener->ready = 0;
        pel_loop_rearm(&listener->reactor->loop, &listener->handle, PEL_READABLE);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pause_accepting(listener);
        fd = PEL_EAGAIN;
    }
    return fd;
}

static void run_handler(struct pel_reactor *reactor, void *data)
{
    VALUE pair = (VALUE)data, stream = RARRAY_AREF(pair, 1);
    struct listener *listener = get_any(RARRAY_AREF(pair, 0));

    listener->queued--;
    rb_proc_call_with_block(listener->block, 1, &stream, Qnil);
    RB_GC_GUARD(pair);
}

static void drop_handler(void *data)
{
    get_any(RARRAY_AREF((VALUE)data, 0))->queued--;
}

static void mark_value(void *data)
{
    rb_gc_mark((VALUE)data);
}

static void queue_turn(struct listener *listener);

/* Accepts what is there, at most a turn's share. */
static void run_turn(struct pel_reactor *reactor, void *data)
{
    struct listener *listener = data;
    VALUE self = listener->self;

    listener->turn_queued = 0;
    for (int left = listener->shared ? 1 : ACCEPTS_A_TURN; left > 0 && listener->handle.fd >= 0; left--) {
        VALUE pair;
        int fd = accept_one(listener);
        if (fd == PEL_EAGAIN)
            return;
        if (fd < 0) { /* not expected: told, and tried again later */
            int error = errno;
            pause_accepting(listener);
            pel_raise(fd, error, "accept");
        }
        pair = rb_assoc_new(self, pel_stream_object(reactor, fd));
        pel_enqueue(reactor, (struct pel_job){
                                 .run = run_handler, .mark = mark_value, .drop = drop_handler, .data = (void *)pair});
        listener->queued++;
        RB_GC_GUARD(pair);
    }
    if (listener->handle.fd >= 0)
        queue_turn(listener);
    RB_GC_GUARD(self);
}

static void mark_listener(void *data)
{
    rb_gc_mark(((struct listener *)data)->self);
}

static void drop_turn(void *data)
{
    ((struct listener *)data)->turn_queued = 0;
}

static void queue_turn(struct listener *listener)
{
    if (listener->turn_queued)
        return;
    listener->turn_queued = 1;
    pel_enqueue(listener->reactor,
                (struct pel_job){.run = run_turn, .mark = mark_listener, .drop = drop_turn, .data = listener});
}

/* Something may be there to accept. */
static void tell(struct listener *listener)
{
    if (listener->acceptors)
        pel_waiter_fire(listener->reactor, &listener->acceptors->waiter);
    if (!NIL_P(listener->block))
        queue_turn(listener);
}

static void on_event(struct pel_handle *handle, unsigned events)
{
    struct listener *listener = (struct listener *)handle;

    listener->ready = 1;
    tell(listener);
}

static void end_of_pause(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    tell((struct listener *)((char *)alarm - offsetof(struct listener, pause)));
}

static void remove_acceptor(struct listener *listener, struct acceptor *acceptor)
{
    struct acceptor **link = &listener->acceptors;

    while (*link != acceptor)
        link = &(*link)->next;
    *link = acceptor->next;
}

static int wait_for_connection(struct listener *listener, int64_t deadline)
{
    struct acceptor acceptor = {.waiter.exception = Qfalse}, **link = &listener->acceptors;
    int state;

    while (*link)
        link = &(*link)->next;
    *link = &acceptor;
    state = pel_park_protected(listener->reactor, &acceptor.waiter, deadline);
    remove_acceptor(listener, &acceptor);
    if (state) {
        if (listener->acceptors) /* this one's wake-up is another's */
            pel_waiter_fire(listener->reactor, &listener->acceptors->waiter);
        pel_rethrow(state);
    }
    return acceptor.waiter.timed_out;
}

/* _accept(timeout): parks. */
static VALUE listener_accept(VALUE self, VALUE timeout)
{
    struct listener *listener = get(self);
    int64_t deadline = NIL_P(timeout) ? PEL_FOREVER : pel_now() + pel_nanoseconds(timeout);

    if (!NIL_P(listener->block))
        rb_raise(pel_eError, "this listener has a block: it accepts by itself");
    for (;;) {
        int fd = accept_one(listener), error = errno;
        if (fd != PEL_EAGAIN && listener->acceptors) /* there may be another one, for the next fiber */
            pel_waiter_fire(listener->reactor, &listener->acceptors->waiter);
        if (fd >= 0)
            return pel_stream_object(listener->reactor, fd);
        if (fd != PEL_EAGAIN)
            pel_raise(fd, error, "accept");
        if (wait_for_connection(listener, deadline))
            pel_raise(PEL_ETIMEOUT, 0, "accept");
        get(self);
    }
}

/* ---- opening and closing -------------------------------------------------------------------------------------- */

static void shut(struct listener *listener)
{
    struct pel_reactor *reactor = listener->reactor;

    if (listener->handle.fd < 0)
        return;
    pel_timer_cancel(&reactor->loop.timers, &listener->pause.timer);
    pel_loop_disarm(&reactor->loop, &listener->handle);
    close(listener->handle.fd);
    listener->handle.fd = -1;
    for (struct acceptor *acceptor = listener->acceptors; acceptor; acceptor = acceptor->next)
        pel_waiter_fire(reactor, &acceptor->waiter);
}

static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    reactor->references--;
    shut((struct listener *)((char *)listed - offsetof(struct listener, listed)));
}

static VALUE new_listener(VALUE class, struct pel_reactor *reactor)
{
    struct listener *listener;
    VALUE self = TypedData_Make_Struct(class, struct listener, &listener_type, listener);

    listener->handle = (struct pel_handle){.fd = -1, .slot = PEL_UNREGISTERED, .on_event = on_event};
    listener->pause.ring = end_of_pause;
    listener->reactor = reactor;
    listener->self = self;
    listener->reactor_object = reactor->self;
    listener->block = Qnil;
    listener->ready = 1;
    return self;
}

/* Takes fd over, if it succeeds. */
static int watch(struct listener *listener, int fd)
{
    int code;

    listener->handle.fd = fd;
    if ((code = pel_loop_arm(&listener->reactor->loop, &listener->handle, PEL_READABLE, PEL_EDGE)) < 0) {
        listener->handle.fd = -1;
        return code;
    }
    if (rb_block_given_p()) {
        listener->block = rb_block_proc();
        listener->listed.stop = stop;
        pel_list_add(listener->reactor, &listener->listed, listener->self);
        listener->reactor->references++;
    }
    return 0;
}

/* _open(packed address, backlog, reuse_port) { |stream| } */
static VALUE listener_s_open(VALUE class, VALUE address, VALUE backlog, VALUE reuse_port)
{
    VALUE self = new_listener(class, pel_reactor_current());
    int fd, code, queue = NUM2INT(backlog);

    StringValue(address);
    fd = pel_socket_listen((const struct sockaddr *)RSTRING_PTR(address), (socklen_t)RSTRING_LEN(address), queue,
                           RTEST(reuse_port));
    if (fd < 0)
        pel_raise(PEL_ESYSTEM, errno, "listen");
    if ((code = watch(get_any(self), fd)) < 0) {
        int error = errno;
        close(fd);
        pel_raise(code, code == PEL_ESYSTEM ? error : 0, "listen");
    }
    RB_GC_GUARD(address);
    return self;
}

/* _for_fd(fd, shared) { |stream| } */
static VALUE listener_s_for_fd(VALUE class, VALUE fd, VALUE shared)
{
    VALUE self = new_listener(class, pel_reactor_current());
    int code = pel_socket_prepare(NUM2INT(fd));

    get_any(self)->shared = RTEST(shared);
    if (code == 0)
        code = watch(get_any(self), NUM2INT(fd));
    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "cannot listen on a descriptor");
    return self;
}

static VALUE listener_close(VALUE self)
{
    struct listener *listener = get_any(self);

    if (listener->handle.fd >= 0 && !pel_loop_inherited(&listener->reactor->loop) &&
        listener->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a listener is closed on the thread that opened it: see Reactor#schedule");
    if (listener->listed.next) {
        pel_list_remove(listener->reactor, &listener->listed);
        listener->reactor->references--;
    }
    shut(listener);
    return Qnil;
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

static VALUE listener_closed_p(VALUE self)
{
    return get_any(self)->handle.fd < 0 ? Qtrue : Qfalse;
}

/* Also of one that was inherited: the child makes its own of it. */
static VALUE listener_fileno(VALUE self)
{
    struct listener *listener = get_any(self);

    if (listener->handle.fd < 0)
        rb_raise(pel_eClosedError, "the listener is closed");
    return INT2FIX(listener->handle.fd);
}

/* _queued: connections that were accepted, and whose handler's turn has not come. */
static VALUE listener_queued(VALUE self)
{
    return UINT2NUM(get_any(self)->queued);
}

static VALUE listener_stats(VALUE self)
{
    struct listener *listener = get_any(self);
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
    rb_define_private_method(class, "_accept", listener_accept, 1);
    rb_define_private_method(class, "_queued", listener_queued, 0);
    rb_define_method(class, "close", listener_close, 0);
    rb_define_method(class, "closed?", listener_closed_p, 0);
    rb_define_method(class, "fileno", listener_fileno, 0);
    rb_define_method(class, "stats", listener_stats, 0);
}
