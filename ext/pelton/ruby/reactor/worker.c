#include "ruby/reactor/reactor.h"

#include "core/base/alloc.h"
#include "ruby/base/protect.h"

/*
 * Workers: making them, ending them, and handing the loop over to them. docs/internals/architecture.md has the state
 * table of fibers. Each rule here that looks needless was paid for with a crash
 * (docs/internals/adr/001-promote-and-inline.md).
 */

/* ---- a worker's life ------------------------------------------------------------------------------------------ */

static VALUE run_worker(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;

    pel_run_loop(worker->reactor, worker);
    return Qnil;
}

static VALUE run_worker_until_ended(VALUE worker)
{
    return pel_call_until_ended(run_worker, worker);
}

/* The worker's fiber ends, because the pool is full, or by force. */
static VALUE end_worker(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;
    struct pel_reactor *reactor = worker->reactor;
    st_data_t fiber = worker->fiber;

    *(worker->previous ? &worker->previous->next : &reactor->workers.first) = worker->next;
    if (worker->next)
        worker->next->previous = worker->previous;
    st_delete(reactor->workers.by_fiber, &fiber, NULL);
    reactor->workers.count--;
    if (reactor->workers.current == worker)
        reactor->workers.current = NULL;
    pel_free(worker);
    return Qnil;
}

static VALUE worker_body(RB_BLOCK_CALL_FUNC_ARGLIST(argument, data))
{
    struct pel_worker *worker = (struct pel_worker *)NUM2SIZET(data);

    worker->reactor->switches.arrivals++;
    return rb_ensure(run_worker_until_ended, (VALUE)worker, end_worker, (VALUE)worker);
}

static VALUE make_worker_fiber(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;

    worker->fiber = pel_fiber_new(rb_proc_new(worker_body, SIZET2NUM((size_t)worker)), 0);
    st_insert(worker->reactor->workers.by_fiber, worker->fiber, (st_data_t)worker);
    return Qnil;
}

/* NULL, with *state set, when there is no memory. */
static struct pel_worker *new_worker(struct pel_reactor *reactor, int *state)
{
    struct pel_worker *worker = pel_calloc(1, sizeof *worker);

    if (!worker) {
        *state = pel_protected_memerror();
        return NULL;
    }
    worker->reactor = reactor;
    worker->fiber = Qnil;
    worker->saved_locals = Qundef;
    if ((worker->next = reactor->workers.first))
        worker->next->previous = worker;
    reactor->workers.first = worker; /* before the fiber is made, so that it is marked from the beginning */
    reactor->workers.count++;
    pel_protect(make_worker_fiber, (VALUE)worker, state);
    if (*state) {
        end_worker((VALUE)worker);
        return NULL;
    }
    return worker;
}

/* ---- fibers that must make no worker -------------------------------------------------------------------------- */

static VALUE probe; /* a Mutex that no fiber holds */

static VALUE lock_and_unlock(VALUE mutex)
{
    rb_mutex_lock(mutex);
    return rb_mutex_unlock(mutex);
}

/* Whether this fiber runs a trap handler, or was made by one. Ruby would take a fiber that it makes for one that runs a
 * trap handler, too, and for good: that fiber would miss signals, and must not lock a Mutex. */
static int in_trap_handler(void)
{
    int state;

    pel_protect(lock_and_unlock, probe, &state);
    return state && !NIL_P(pel_take_error(state));
}

/* 1 when run's caller has made a worker, and this fiber is back; *state as pel_switch sets it. */
static int let_caller_make_worker(struct pel_reactor *reactor, int *state)
{
    if (rb_fiber_current() == reactor->run.caller || !in_trap_handler())
        return 0;
    if (pel_switch(reactor, reactor->run.caller, state))
        return 1;
    pel_take_error(*state); /* the caller has ended: it began this fiber outside run */
    return 0;
}

/* ---- handing over --------------------------------------------------------------------------------------------- */

/* 1 when this fiber was away, or needs to wait no more. 0 when the switch to the worker failed. */
static int switch_unless_woken(struct pel_reactor *reactor, struct pel_worker *worker, const struct pel_waiter *waiter,
                               int *state)
{
    if (!(waiter && pel_woken(waiter)) && pel_switch(reactor, worker->fiber, state))
        return 1;
    pel_worker_pool_put(&reactor->workers, worker);
    return waiter && pel_woken(waiter);
}

static int switch_to_worker(struct pel_reactor *reactor, const struct pel_waiter *waiter)
{
    struct pel_worker *worker = reactor->workers.idle;
    int state = 0;

    if (worker) {
        pel_worker_pool_remove(&reactor->workers, worker);
        if (switch_unless_woken(reactor, worker, waiter, &state) || !pel_switch_refused())
            return state;
        pel_take_error(state); /* a trap handler struck the pooled worker, and has resumed a fiber that waits now */
        state = 0;
    }
    if (let_caller_make_worker(reactor, &state) || !(worker = new_worker(reactor, &state)))
        return state;
    /* Making a fiber may run Ruby code, such as a trap handler that waits: so the fiber's event may have come. If no
     * stack can be had, the error strikes the fiber that wants to park, which is the right one. */
    switch_unless_woken(reactor, worker, waiter, &state);
    return state;
}

/* 1 when this fiber was away. 0 when the waiter's fiber has resumed another one, in a trap handler: it finds itself
 * woken when that fiber gives control back. */
static int switch_to_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter, int *state)
{
    if (pel_switch(reactor, waiter->fiber, state))
        return 1;
    pel_take_error(*state);
    return 0;
}

/* One worker stays in the pool: run's caller, where a fiber ends, may run a trap handler that waits, and must make no
 * worker then. With very many fibers there may be no memory for another worker. */
static int has_spare_worker(const struct pel_reactor *reactor)
{
    return reactor->workers.idle || reactor->workers.count >= PEL_IDLE_WORKERS;
}

int pel_hand_over(struct pel_reactor *reactor, const struct pel_waiter *of)
{
    struct pel_waiter *waiter;
    int state;

    /* A ready fiber needs no worker in between, as long as the next tick is not due. */
    while (reactor->phase == PEL_RUNNING && has_spare_worker(reactor) && (waiter = pel_take_next_waiter(reactor)))
        if (switch_to_waiter(reactor, waiter, &state))
            return state;
    /* Run's caller, where fibers land that end, should make no fiber: if that fails on a blocking fiber, Ruby 3.1 takes
     * the blocking fiber for a non-blocking one from then on. But if the pool is empty there, some fiber is ready: the
     * fiber that let the ended one run has stepped aside for it. */
    while (!reactor->workers.idle && rb_fiber_current() == reactor->run.caller &&
           (waiter = pel_take_any_waiter(reactor)))
        if (switch_to_waiter(reactor, waiter, &state))
            return state;
    return switch_to_worker(reactor, of);
}

void pel_workers_mark(struct pel_reactor *reactor)
{
    /* Pinned: C compares and keeps these addresses. */
    for (struct pel_worker *worker = reactor->workers.first; worker; worker = worker->next) {
        rb_gc_mark(worker->fiber);
        rb_gc_mark(worker->task_object);
        rb_gc_mark(worker->task_block);
        rb_gc_mark(worker->saved_locals);
        rb_gc_mark(worker->outer_locals);
    }
}

void pel_init_worker(void)
{
    probe = rb_mutex_new();
    rb_gc_register_mark_object(probe);
}
