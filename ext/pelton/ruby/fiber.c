#include "reactor.h"

#include "../core/alloc.h"
#include "late.h"
#include "locals.h"
#include "operation.h"
#include "protect.h"

/*
 * Fibers: switching between them, the workers that turn the loop, and the fibers of Fiber.schedule. The state table
 * stands in docs/architecture.md; each rule here that looks needless was paid for with a crash
 * (docs/adr/001-promote-and-inline.md).
 */

/* ---- switching ------------------------------------------------------------------------------------------------ */

/* Not rb_fiber_transfer: that one does not look whether the fiber has resumed another one, and corrupts both. */
static VALUE transfer(VALUE fiber)
{
    return rb_fiber_transfer_kw(fiber, 0, NULL, RB_NO_KEYWORDS);
}

/* Ruby refuses to switch to a fiber that has resumed another one. While it makes the error a trap handler may strike,
 * and let others arrive. */
static int refused(void)
{
    static const char words[] = "attempt to transfer to";
    VALUE error = rb_errinfo(), message;

    if (!rb_obj_is_kind_of(error, rb_const_get(rb_cObject, rb_intern("FiberError"))))
        return 0;
    message = rb_attr_get(error, rb_intern("mesg"));
    return RB_TYPE_P(message, T_STRING) && RSTRING_LEN(message) >= (long)sizeof words - 1 &&
           memcmp(RSTRING_PTR(message), words, sizeof words - 1) == 0;
}

int pel_switch(struct pel_reactor *reactor, VALUE fiber, int *state)
{
    VALUE self = rb_fiber_current();
    struct pel_worker *worker = reactor->current_worker;
    uint64_t arrivals = reactor->arrivals;

    if (reactor->carries && worker)
        pel_locals_leave(worker);
    reactor->target = fiber;
    reactor->switches++;
    pel_step(reactor);
    pel_protect(transfer, fiber, state);
    reactor->current_worker = worker;
    /* Every arrival counts itself. If nobody arrived anywhere, the switch itself failed. */
    if (*state && (reactor->arrivals == arrivals || refused())) {
        reactor->target = self;
        return 0;
    }
    reactor->arrivals++;
    /* Ruby takes interrupts when a fiber arrives: they are run's, not the fiber's that happened to wake. But when the
     * switch was not ours, somebody used Fiber#raise on this fiber, and means it. */
    if (*state && reactor->target == self)
        *state = pel_interrupted(reactor, *state);
    reactor->target = self;
    return 1;
}

static VALUE new_fiber(VALUE proc)
{
    VALUE options = rb_hash_new();

    rb_hash_aset(options, ID2SYM(rb_intern("blocking")), Qfalse);
    return rb_funcall_with_block_kw(rb_const_get(rb_cObject, rb_intern("Fiber")), rb_intern("new"), 1, &options, proc,
                                    RB_PASS_KEYWORDS);
}

/* ---- workers -------------------------------------------------------------------------------------------------- */

static VALUE turn(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;

    pel_turn(worker->reactor, worker);
    return Qnil;
}

/* Its fiber ends: because there are too many, or by force. */
static VALUE retire(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;
    struct pel_worker **link = &worker->reactor->workers;

    while (*link != worker)
        link = &(*link)->next;
    *link = worker->next;
    worker->reactor->worker_count--;
    if (worker->reactor->current_worker == worker)
        worker->reactor->current_worker = NULL;
    pel_free(worker);
    return Qnil;
}

static VALUE worker_body(RB_BLOCK_CALL_FUNC_ARGLIST(argument, data))
{
    struct pel_worker *worker = (struct pel_worker *)NUM2SIZET(data);

    worker->reactor->arrivals++;
    return rb_ensure(turn, (VALUE)worker, retire, (VALUE)worker);
}

static VALUE give_fiber(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;

    worker->fiber = new_fiber(rb_proc_new(worker_body, SIZET2NUM((size_t)worker)));
    return Qnil;
}

static VALUE raise_no_memory(VALUE nothing)
{
    rb_memerror();
    return nothing;
}

/* NULL, with *state set, when there is no memory. */
static struct pel_worker *new_worker(struct pel_reactor *reactor, int *state)
{
    struct pel_worker *worker = pel_calloc(1, sizeof *worker);

    if (!worker) {
        pel_protect(raise_no_memory, Qnil, state);
        return NULL;
    }
    worker->reactor = reactor;
    worker->fiber = Qnil;
    worker->left = Qundef;
    worker->next = reactor->workers;
    reactor->workers = worker; /* first: so the fiber is marked from the beginning */
    reactor->worker_count++;
    pel_protect(give_fiber, (VALUE)worker, state);
    if (*state) {
        retire((VALUE)worker);
        return NULL;
    }
    return worker;
}

void pel_worker_rest(struct pel_reactor *reactor, struct pel_worker *worker)
{
    worker->idle = 1;
    worker->next_idle = reactor->idle_workers;
    reactor->idle_workers = worker;
    reactor->idle_count++;
}

void pel_worker_rise(struct pel_reactor *reactor, struct pel_worker *worker)
{
    struct pel_worker **link = &reactor->idle_workers;

    while (*link != worker)
        link = &(*link)->next_idle;
    *link = worker->next_idle;
    worker->idle = 0;
    reactor->idle_count--;
}

static VALUE probe; /* a Mutex that nobody holds */

static VALUE lock_and_unlock(VALUE mutex)
{
    rb_mutex_lock(mutex);
    return rb_mutex_unlock(mutex);
}

/* Whether this fiber runs a trap handler, or was made by one. A fiber that it makes would be taken for one, too, for
 * ever: deaf to signals, and forbidden to lock a Mutex. */
static int in_trap_handler(void)
{
    int state;

    pel_protect(lock_and_unlock, probe, &state);
    return state && !NIL_P(pel_take_error(state));
}

static int let_caller_make_one(struct pel_reactor *reactor, int *state)
{
    if (rb_fiber_current() == reactor->caller || !in_trap_handler())
        return 0;
    if (pel_switch(reactor, reactor->caller, state))
        return 1;
    pel_take_error(*state); /* it has ended: it began a fiber outside run */
    return 0;
}

/* 1 when it was away, or has nothing to wait for any more. 0 when the worker could not be switched to. */
static int switch_to(struct pel_reactor *reactor, struct pel_worker *worker, const struct pel_waiter *waiter,
                     int *state)
{
    if (!(waiter && pel_woken(waiter)) && pel_switch(reactor, worker->fiber, state))
        return 1;
    pel_worker_rest(reactor, worker);
    return waiter && pel_woken(waiter);
}

static int switch_to_worker(struct pel_reactor *reactor, const struct pel_waiter *waiter)
{
    struct pel_worker *worker = reactor->idle_workers;
    int state = 0;

    if (worker) {
        pel_worker_rise(reactor, worker);
        if (switch_to(reactor, worker, waiter, &state) || !refused())
            return state;
        pel_take_error(state); /* a trap handler has struck it in the pool, and has resumed a fiber that waits now */
        state = 0;
    }
    if (let_caller_make_one(reactor, &state) || !(worker = new_worker(reactor, &state)))
        return state;
    /* Making a fiber may run Ruby, a trap handler that waits among it: what the fiber waits for may have come. If no
     * stack can be had, that strikes the fiber that wants to park: the right place. */
    switch_to(reactor, worker, waiter, &state);
    return state;
}

/* 1 when it was away; 0 when the waiter's fiber has resumed another one (in a trap handler), and will find itself woken
 * when that one gives control back. */
static int switch_to_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter, int *state)
{
    if (pel_switch(reactor, waiter->fiber, state))
        return 1;
    pel_take_error(*state);
    return 0;
}

/* One worker is kept in the pool: where a fiber ends, a trap handler may be the next to wait, and it must make none.
 * With very many fibers there may be no room for another. */
static int has_spare(const struct pel_reactor *reactor)
{
    return reactor->idle_workers || reactor->worker_count >= PEL_IDLE_WORKERS;
}

int pel_hand_over(struct pel_reactor *reactor, const struct pel_waiter *of)
{
    struct pel_waiter *waiter;
    int state;

    /* A ready fiber needs no worker in between, as long as the loop's turn is not due. */
    while (reactor->phase == PEL_RUNNING && has_spare(reactor) && (waiter = pel_take_next_waiter(reactor)))
        if (switch_to_waiter(reactor, waiter, &state))
            return state;
    /* Where fibers that end land, no fiber should be made: if that fails on a blocking fiber, Ruby 3.1 takes it for a
     * non-blocking one from then on. But then somebody is ready: whoever made that fiber run has stepped aside for it.
     */
    while (!reactor->idle_workers && rb_fiber_current() == reactor->caller && (waiter = pel_take_any_waiter(reactor)))
        if (switch_to_waiter(reactor, waiter, &state))
            return state;
    return switch_to_worker(reactor, of);
}

/* ---- fibers of the scheduler's fiber hook --------------------------------------------------------------------- */

static VALUE call_scheduled(VALUE proc)
{
    return rb_proc_call_with_block(proc, 0, NULL, Qnil);
}

static VALUE scheduled_body(RB_BLOCK_CALL_FUNC_ARGLIST(argument, pair))
{
    struct pel_reactor *reactor = pel_reactor_peek(RARRAY_AREF(pair, 0));

    reactor->arrivals++;
    reactor->current_worker = NULL;
    pel_dispatch(reactor, call_scheduled, RARRAY_AREF(pair, 1));
    pel_late_drop(rb_fiber_current());
    return Qnil; /* it ends in the caller of run, who hands the loop on */
}

VALUE pel_start_fiber(struct pel_reactor *reactor, VALUE proc)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    VALUE fiber = new_fiber(rb_proc_new(scheduled_body, rb_assoc_new(reactor->self, proc)));
    int state;

    waiter.starts = fiber;
    state = pel_park_protected(reactor, &waiter, PEL_FOREVER);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    return fiber;
}

void pel_init_fiber(void)
{
    probe = rb_mutex_new();
    rb_gc_register_mark_object(probe);
}

/* ---- marking -------------------------------------------------------------------------------------------------- */

static void mark_waiters(const struct pel_waiter *ring)
{
    for (struct pel_waiter *waiter = ring->next; waiter != ring; waiter = waiter->next) {
        rb_gc_mark(waiter->fiber);
        if (waiter->exception)
            rb_gc_mark(waiter->exception);
        if (waiter->operation)
            pel_operation_mark(waiter->operation);
    }
}

void pel_fibers_mark(struct pel_reactor *reactor)
{
    /* Pinned: C compares and keeps these addresses. */
    for (struct pel_worker *worker = reactor->workers; worker; worker = worker->next) {
        rb_gc_mark(worker->fiber);
        rb_gc_mark(worker->task_object);
        rb_gc_mark(worker->left);
        rb_gc_mark(worker->put_aside);
    }
    mark_waiters(&reactor->parked);
    mark_waiters(&reactor->given_up);
}
