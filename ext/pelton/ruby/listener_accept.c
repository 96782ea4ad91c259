#include "listener.h"

#include <errno.h>
#include "../core/socket.h"
#include "error.h"
#include "protect.h"

/*
 * How a listener accepts. With a block each connection becomes a job of its own, so that a handler that waits holds up
 * nobody. When descriptors run out it pauses instead of spinning: what waits in the backlog is accepted later.
 */

#define ACCEPTS_A_TURN 64 /* 1 when it is shared: what an idle process could take is not taken by a busy one */
#define REST 65535        /* accepted at the end: no backlog is longer, and those who go on connecting have no right */
#define PAUSE_NS (100 * 1000 * 1000)

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
    struct listener *listener = pel_listener_get(RARRAY_AREF(pair, 0));

    listener->queued--;
    rb_proc_call_with_block(listener->block, 1, &stream, Qnil);
    RB_GC_GUARD(pair);
}

static void drop_handler(void *data)
{
    pel_listener_get(RARRAY_AREF((VALUE)data, 0))->queued--;
}

static void mark_value(void *data)
{
    rb_gc_mark((VALUE)data);
}

static void queue_handler(struct listener *listener, int fd)
{
    VALUE pair = rb_assoc_new(listener->self, pel_stream_object(listener->reactor, fd));

    pel_enqueue(listener->reactor,
                (struct pel_job){.run = run_handler, .mark = mark_value, .drop = drop_handler, .data = (void *)pair});
    listener->queued++;
    RB_GC_GUARD(pair);
}

static void queue_turn(struct listener *listener);

/* Accepts what is there, at most a turn's share. */
static void run_turn(struct pel_reactor *reactor, void *data)
{
    struct listener *listener = data;
    VALUE self = listener->self;

    listener->turn_queued = 0;
    for (int left = listener->shared ? 1 : ACCEPTS_A_TURN; left > 0 && listener->handle.fd >= 0; left--) {
        int fd = accept_one(listener);
        if (fd == PEL_EAGAIN)
            return;
        if (fd < 0) { /* not expected: told, and tried again later */
            int error = errno;
            pause_accepting(listener);
            pel_raise(fd, error, "accept");
        }
        queue_handler(listener, fd);
    }
    if (listener->handle.fd >= 0)
        queue_turn(listener);
    RB_GC_GUARD(self);
}

void pel_listener_accept_rest(struct listener *listener)
{
    int fd;

    listener->ready = 1; /* its event may be about to come */
    for (int left = REST; left > 0 && (fd = accept_one(listener)) >= 0; left--)
        queue_handler(listener, fd);
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

void pel_listener_on_event(struct pel_handle *handle, unsigned events)
{
    struct listener *listener = (struct listener *)handle;

    listener->ready = 1;
    tell(listener);
}

void pel_listener_end_of_pause(struct pel_reactor *reactor, struct pel_alarm *alarm)
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
    struct listener *listener = pel_listener_get_open(self);
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
        pel_listener_get_open(self);
    }
}

void pel_init_listener_accept(VALUE class)
{
    rb_define_private_method(class, "_accept", listener_accept, 1);
}
