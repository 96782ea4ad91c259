#include "reactor.h"

#include "error.h"
#include "operation.h"
#include "protect.h"

/*
 * Parking: how fibers wait, wake, and hand the loop on. The state table stands in docs/architecture.md; each rule here
 * that looks needless was paid for with a crash (docs/adr/001-promote-and-inline.md).
 */

/* ---- switching ------------------------------------------------------------------------------------------------ */

static VALUE transfer(VALUE fiber)
{
    return rb_fiber_transfer(fiber, 0, NULL);
}

int pel_interrupted(struct pel_reactor *reactor, int state)
{
    VALUE error;

    if (reactor->phase == PEL_IDLE)
        return state;
    error = pel_take_error(state);
    if (NIL_P(error))
        return state; /* Thread#kill: a second one does nothing, so this one must go on */
    pel_fail_run(reactor, error);
    return 0;
}

int pel_switch(struct pel_reactor *reactor, VALUE fiber)
{
    VALUE self = rb_fiber_current();
    struct pel_worker *worker = reactor->current_worker;
    uint64_t arrivals = reactor->arrivals;
    int state;

    reactor->target = fiber;
    reactor->switches++;
    pel_step(reactor);
    pel_protect(transfer, fiber, &state);
    /* Every arrival counts itself. If nobody arrived anywhere, the switch itself failed. */
    if (state && reactor->arrivals == arrivals) {
        reactor->target = self;
        return state;
    }
    reactor->arrivals++;
    reactor->current_worker = worker;
    /* Ruby takes interrupts when a fiber arrives: they are run's, not the fiber's that happened to wake. But when the
     * switch was not ours, somebody used Fiber#raise on this fiber, and means it. */
    if (state && reactor->target == self)
        return pel_interrupted(reactor, state);
    reactor->target = self;
    return state;
}

/* ---- workers -------------------------------------------------------------------------------------------------- */

static VALUE worker_body(RB_BLOCK_CALL_FUNC_ARGLIST(argument, data))
{
    struct pel_worker *worker = (struct pel_worker *)NUM2SIZET(data);

    worker->reactor->arrivals++;
    pel_turn(worker->reactor, worker);
    return Qnil;
}

VALUE pel_new_fiber(VALUE proc)
{
    VALUE options = rb_hash_new();

    rb_hash_aset(options, ID2SYM(rb_intern("blocking")), Qfalse);
    return rb_funcall_with_block_kw(rb_const_get(rb_cObject, rb_intern("Fiber")), rb_intern("new"), 1, &options, proc,
                                    RB_PASS_KEYWORDS);
}

static VALUE give_fiber(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;

    worker->fiber = pel_new_fiber(rb_proc_new(worker_body, SIZET2NUM((size_t)worker)));
    return Qnil;
}

void pel_remember_worker(struct pel_reactor *reactor, struct pel_worker *worker)
{
    worker->previous = NULL;
    worker->next = reactor->workers;
    if (worker->next)
        worker->next->previous = worker;
    reactor->workers = worker;
    reactor->worker_count++;
}

void pel_forget_worker(struct pel_reactor *reactor, struct pel_worker *worker)
{
    if (worker->previous)
        worker->previous->next = worker->next;
    else
        reactor->workers = worker->next;
    if (worker->next)
        worker->next->previous = worker->previous;
    reactor->worker_count--;
}

void pel_pool_worker(struct pel_reactor *reactor, struct pel_worker *worker)
{
    worker->next_idle = reactor->idle_workers;
    reactor->idle_workers = worker;
    reactor->idle_count++;
}

/* When it is still there. */
void pel_unpool_worker(struct pel_reactor *reactor, struct pel_worker *worker)
{
    struct pel_worker **link = &reactor->idle_workers;

    while (*link && *link != worker)
        link = &(*link)->next_idle;
    if (!*link)
        return;
    *link = worker->next_idle;
    reactor->idle_count--;
}

/* NULL, with *state set, when no fiber can be had. That strikes the fiber that wants to park: the right place. */
static struct pel_worker *new_worker(struct pel_reactor *reactor, int *state)
{
    struct pel_worker *worker = RB_ZALLOC(struct pel_worker);

    worker->reactor = reactor;
    worker->fiber = Qnil;
    pel_remember_worker(reactor, worker); /* first: so the fiber is marked from the beginning */
    pel_protect(give_fiber, (VALUE)worker, state);
    if (*state) {
        pel_forget_worker(reactor, worker);
        xfree(worker);
        return NULL;
    }
    return worker;
}

int pel_hand_over(struct pel_reactor *reactor)
{
    struct pel_job *next = pel_next_job(reactor);
    struct pel_worker *worker;
    int state;

    /* A ready fiber needs no worker in between, as long as the loop's turn is not due: when this tick's batch is done,
     * fibers that wake each other may go on for a while. */
    if (next && !next->run && next->data && reactor->phase == PEL_RUNNING &&
        (reactor->batch_left || reactor->handovers_left)) {
        struct pel_waiter *waiter = next->data;
        if (reactor->batch_left)
            reactor->batch_left--;
        else if ((--reactor->handovers_left & 7) == 0 && pel_now() > reactor->batch_end)
            reactor->handovers_left = 0;
        pel_dequeue(reactor);
        return pel_switch(reactor, waiter->fiber);
    }
    worker = reactor->idle_workers;
    if (worker)
        pel_unpool_worker(reactor, worker);
    else if (!(worker = new_worker(reactor, &state)))
        return state;
    return pel_switch(reactor, worker->fiber);
}

/* ---- waiters -------------------------------------------------------------------------------------------------- */

static void link_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    waiter->next = reactor->parked.next;
    waiter->previous = &reactor->parked;
    waiter->next->previous = waiter;
    reactor->parked.next = waiter;
    reactor->parked_count++;
}

/* On every way out, and only once: the waiter lies on a stack that is about to be used for something else. */
static void unlink_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    waiter->previous->next = waiter->next;
    waiter->next->previous = waiter->previous;
    reactor->parked_count--;
    if (!waiter->queued)
        return;
    for (uint32_t i = reactor->job_count; i-- > 0;) {
        struct pel_job *job = &reactor->jobs[(reactor->job_head + i) & (reactor->job_capacity - 1)];
        if (job->run || job->data != waiter)
            continue;
        job->data = NULL; /* a hole, passed over when its turn comes */
        if (i == reactor->job_count - 1)
            reactor->job_count--; /* where nobody turns the loop, nobody would ever pass over it */
        break;
    }
    waiter->queued = 0;
}

void pel_waiter_fire(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    if (waiter->fired)
        return;
    waiter->fired = waiter->queued = 1;
    pel_enqueue(reactor, (struct pel_job){.data = waiter});
}

/* The list begins with the last to park: of several waiters of one fiber, the innermost. */
struct pel_waiter *pel_waiter_of(struct pel_reactor *reactor, VALUE fiber)
{
    struct pel_waiter *waiter;

    for (waiter = reactor->parked.next; waiter != &reactor->parked; waiter = waiter->next)
        if (waiter->fiber == fiber)
            return waiter;
    return NULL;
}

int pel_raise_in(struct pel_reactor *reactor, VALUE fiber, VALUE exception)
{
    struct pel_waiter *waiter = pel_waiter_of(reactor, fiber);

    if (!waiter)
        return 0;
    waiter->exception = exception;
    pel_waiter_fire(reactor, waiter);
    return 1;
}

struct deadline {
    struct pel_alarm alarm;
    struct pel_waiter *waiter;
};

static void ring_deadline(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct pel_waiter *waiter = ((struct deadline *)alarm)->waiter;

    if (!waiter->fired)
        waiter->timed_out = 1;
    pel_waiter_fire(reactor, waiter);
}

static VALUE raise_exception(VALUE exception)
{
    rb_exc_raise(exception);
}

static inline int woken(const struct pel_waiter *waiter)
{
    return waiter->fired && !waiter->queued;
}

/* The fast path: with nothing else to do, the parking fiber waits itself. 0 or a state. */
static int wait_inline(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    while (reactor->phase == PEL_RUNNING && !reactor->job_count && !pel_ring_alarms(reactor)) {
        int state;
        if (reactor->job_count)
            break;
        if ((state = pel_tick(reactor, PEL_WAIT)) && (state = pel_interrupted(reactor, state)))
            return state;
    }
    /* The own event came first: go on at once. What else is ready follows when this fiber waits next. */
    if (reactor->job_count && !pel_next_job(reactor)->run && pel_next_job(reactor)->data == waiter)
        pel_dequeue(reactor);
    return 0;
}

/* On a fiber that cannot park. What becomes ready for others stays on the queue, and so does an alarm that calls Ruby,
 * together with those behind it: the own deadline may be one of them. */
static int wait_blocking(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    for (;;) {
        int state;
        pel_ring_plain_alarms(reactor);
        if (waiter->fired)
            return 0;
        if ((state = pel_tick(reactor, PEL_INSIST)))
            return state;
    }
}

int pel_park_protected(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t time)
{
    struct deadline deadline = {.alarm = {.ring = ring_deadline}, .waiter = waiter};
    struct pel_worker *worker = reactor->current_worker;
    struct pel_waiter *outer = NULL;
    int state = 0, parks = pel_can_park(reactor);

    waiter->fiber = rb_fiber_current();
    waiter->worker = worker;
    if (!waiter->exception)
        waiter->exception = Qfalse;
    link_waiter(reactor, waiter);
    if (reactor->late)
        pel_late_take(reactor, waiter);
    if (time != PEL_FOREVER)
        pel_timer_add(&reactor->loop.timers, &deadline.alarm.timer, time);
    if (worker && parks) {
        outer = worker->waiter;
        worker->waiter = waiter;
        if (worker->cancel_pending && waiter->fiber == worker->fiber) {
            worker->cancel_pending = 0;
            waiter->exception = rb_exc_new_cstr(pel_eCancelled, "the task was cancelled");
            pel_waiter_fire(reactor, waiter);
        }
    }
    if (!parks)
        state = wait_blocking(reactor, waiter);
    while (parks && !state && !woken(waiter)) {
        state = wait_inline(reactor, waiter);
        if (!state && !woken(waiter))
            state = pel_hand_over(reactor);
    }
    if (worker && parks)
        worker->waiter = outer;
    unlink_waiter(reactor, waiter);
    pel_timer_cancel(&reactor->loop.timers, &deadline.alarm.timer);
    if (!state && waiter->exception != Qfalse)
        pel_protect(raise_exception, waiter->exception, &state);
    return state;
}

enum pel_wakeup pel_park(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline)
{
    int state = pel_park_protected(reactor, waiter, deadline);

    if (state)
        pel_rethrow(state);
    return waiter->timed_out ? PEL_TIMED_OUT : PEL_WOKEN;
}

void pel_yield_turn(struct pel_reactor *reactor)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    int state;

    reactor->budget = PEL_BUDGET;
    if (reactor->phase != PEL_RUNNING || !pel_can_park(reactor))
        return;
    if (!reactor->job_count && !pel_ring_alarms(reactor)) {
        if ((state = pel_tick(reactor, PEL_LOOK)) && (state = pel_interrupted(reactor, state)))
            pel_rethrow(state);
        if (!pel_ring_alarms(reactor) && !reactor->job_count && reactor->phase == PEL_RUNNING)
            return;
    }
    pel_waiter_fire(reactor, &waiter);
    reactor->batch_left = reactor->handovers_left = 0; /* the loop's turn is due: the next switch goes to a worker */
    pel_park(reactor, &waiter, PEL_FOREVER);
}

/* ---- fibers of the scheduler's fiber hook --------------------------------------------------------------------- */

static VALUE call_scheduled(VALUE proc)
{
    return rb_proc_call_with_block(proc, 0, NULL, Qnil);
}

static VALUE scheduled_body(RB_BLOCK_CALL_FUNC_ARGLIST(argument, pair))
{
    struct pel_reactor *reactor = pel_reactor_get(RARRAY_AREF(pair, 0));

    reactor->arrivals++;
    reactor->current_worker = NULL;
    pel_dispatch(reactor, call_scheduled, RARRAY_AREF(pair, 1));
    return Qnil; /* it ends in the caller of run, who hands the loop on */
}

VALUE pel_start_fiber(struct pel_reactor *reactor, VALUE proc)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    VALUE fiber = pel_new_fiber(rb_proc_new(scheduled_body, rb_assoc_new(reactor->self, proc)));
    int state;

    waiter.fiber = rb_fiber_current();
    link_waiter(reactor, &waiter);
    pel_waiter_fire(reactor, &waiter);
    state = pel_switch(reactor, fiber);
    while (!state && !woken(&waiter))
        state = pel_hand_over(reactor);
    unlink_waiter(reactor, &waiter);
    if (!state && waiter.exception != Qfalse)
        pel_protect(raise_exception, waiter.exception, &state);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    return fiber;
}

/* ---- marking -------------------------------------------------------------------------------------------------- */

void pel_mark_fibers(struct pel_reactor *reactor)
{
    struct pel_worker *worker;
    struct pel_waiter *waiter;

    /* Pinned: C compares and keeps these addresses. */
    for (worker = reactor->workers; worker; worker = worker->next) {
        rb_gc_mark(worker->fiber);
        if (worker->task)
            pel_operation_mark(worker->task);
    }
    for (waiter = reactor->parked.next; waiter != &reactor->parked; waiter = waiter->next) {
        rb_gc_mark(waiter->fiber);
        if (waiter->exception)
            rb_gc_mark(waiter->exception);
        if (waiter->operation)
            pel_operation_mark(waiter->operation);
    }
}
