#include "ruby/stream/listener.h"

#include <errno.h>
#include "core/stream/socket.h"
#include "ruby/base/exception.h"
#include "ruby/base/protect.h"

/*
 * Accepting. A listener with a block runs it for each connection in a job of its own, so that a handler that waits
 * delays no other. When descriptors run out, the listener pauses instead of spinning, and accepts the backlog later.
 */

#define ACCEPTS_PER_BATCH 16
#define PAUSE_NS (100 * 1000 * 1000)

/* The bound of pel_listener_accept_rest. No backlog is longer, and clients may go on connecting meanwhile. */
#define FINAL_ACCEPTS 65535

static void pause_accepting(struct listener *listener)
{
    listener->pauses++;
    pel_timer_add(&listener->reactor->loop.timers, &listener->pause.entry, pel_now() + PAUSE_NS);
}

/* Returns a descriptor, PEL_EAGAIN, or PEL_ESYSTEM. PEL_EAGAIN also when descriptors or memory have run out: the
 * listener then pauses. */
static int accept_connection(struct listener *listener)
{
    int fd;

    if (!listener->ready || pel_timer_active(&listener->pause.entry))
        return PEL_EAGAIN;
    fd = pel_socket_accept(listener->handle.fd);
    if (fd == PEL_ESYSTEM && (errno == EMFILE || errno == ENFILE) && pel_reclaim_descriptors(listener->reactor))
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

static VALUE call_accept_handler(VALUE pair)
{
    VALUE stream = RARRAY_AREF(pair, 1);

    return rb_proc_call_with_block(pel_listener_get(RARRAY_AREF(pair, 0))->block, 1, &stream, Qnil);
}

/* Nobody else may know the stream of a handler that has raised: its peer would wait until it is collected. */
static void run_accept_handler(struct pel_reactor *reactor, void *data)
{
    VALUE pair = (VALUE)data;
    int state;

    pel_listener_get(RARRAY_AREF(pair, 0))->queued--;
    pel_protect(call_accept_handler, pair, &state);
    if (state) {
        rb_funcall(RARRAY_AREF(pair, 1), rb_intern("close"), 0);
        pel_rethrow(state);
    }
}

static void drop_accept_handler(void *data)
{
    pel_listener_get(RARRAY_AREF((VALUE)data, 0))->queued--;
}

static void queue_accept_handler(struct listener *listener, int fd)
{
    VALUE pair = rb_assoc_new(listener->self, pel_stream_object(listener->reactor, fd));

    pel_enqueue(
        listener->reactor,
        (struct pel_job){.run = run_accept_handler, .drop = drop_accept_handler, .data = (void *)pair, .object = pair});
    listener->queued++;
    RB_GC_GUARD(pair);
}

static void queue_accept_batch(struct listener *listener);

/* One on a shared listener: a busy process leaves the others to an idle one. Fewer while requests wait to begin: those
 * of new connections would only wait behind them, and delay the next ones of older connections. The backlog keeps the
 * connections meanwhile. */
static uint32_t batch_size(const struct listener *listener)
{
    uint32_t waiting = pel_arrived_requests(listener->reactor);

    return listener->shared || waiting >= ACCEPTS_PER_BATCH ? 1 : ACCEPTS_PER_BATCH - waiting;
}

/* Accepts connections, at most an iteration's share. */
static void run_accept_batch(struct pel_reactor *reactor, void *data)
{
    struct listener *listener = data;

    listener->batch_queued = 0;
    for (uint32_t left = batch_size(listener); left > 0 && listener->handle.fd >= 0; left--) {
        int fd = accept_connection(listener);
        if (fd == PEL_EAGAIN)
            return;
        if (fd < 0) { /* an unexpected error: it is reported, and accepting goes on after a pause */
            int error = errno;
            pause_accepting(listener);
            pel_raise(fd, error, "accept");
        }
        queue_accept_handler(listener, fd);
    }
    if (listener->handle.fd >= 0)
        queue_accept_batch(listener);
}

void pel_listener_accept_rest(struct listener *listener)
{
    int fd;

    listener->ready = 1; /* the loop may not have reported the event yet */
    for (int left = FINAL_ACCEPTS; left > 0 && (fd = accept_connection(listener)) >= 0; left--)
        queue_accept_handler(listener, fd);
}

static void drop_accept_batch(void *data)
{
    ((struct listener *)data)->batch_queued = 0;
}

static void queue_accept_batch(struct listener *listener)
{
    if (listener->batch_queued)
        return;
    listener->batch_queued = 1;
    pel_enqueue(listener->reactor,
                (struct pel_job){
                    .run = run_accept_batch, .drop = drop_accept_batch, .data = listener, .object = listener->self});
}

/* A connection may be there to accept. */
static void wake_acceptor(struct listener *listener)
{
    pel_turns_fire_first(listener->reactor, &listener->acceptors);
    if (!NIL_P(listener->block))
        queue_accept_batch(listener);
}

void pel_listener_on_event(struct pel_handle *handle, unsigned events)
{
    struct listener *listener = (struct listener *)handle;

    listener->ready = 1;
    wake_acceptor(listener);
}

void pel_listener_pause_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    wake_acceptor(PEL_LINKED(struct listener, pause, timer));
}

static int wait_for_connection(struct listener *listener, int64_t deadline)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    struct pel_turn turn = {.waiter = &waiter};
    int state;

    pel_turns_enter(&listener->acceptors, &turn);
    state = pel_park_protected(listener->reactor, &waiter, deadline);
    pel_turns_leave(&listener->acceptors, &turn);
    if (state) {
        pel_turns_fire_first(listener->reactor, &listener->acceptors); /* passes the wake-up on */
        pel_rethrow(state);
    }
    return waiter.timed_out;
}

/* _accept(timeout): parks until a connection comes. */
static VALUE listener_accept(VALUE self, VALUE timeout)
{
    struct listener *listener = pel_listener_get_open(self);
    int64_t deadline = NIL_P(timeout) ? PEL_FOREVER : pel_now() + pel_nanoseconds(timeout);

    if (!NIL_P(listener->block))
        rb_raise(pel_eError, "this listener has a block and accepts by itself");
    for (;;) {
        int fd = accept_connection(listener), error = errno;
        if (fd != PEL_EAGAIN) /* there may be another connection, for the next fiber */
            pel_turns_fire_first(listener->reactor, &listener->acceptors);
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
