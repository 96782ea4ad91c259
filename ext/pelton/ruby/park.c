#include "reactor.h"

#include "error.h"
#include "late.h"
#include "operation.h"
#include "protect.h"

/* Parking: how fibers wait and wake. */

/* ---- waking --------------------------------------------------------------------------------------------------- */

static void link_waiter(struct pel_waiter *ring, struct pel_waiter *waiter)
{
    waiter->next = ring->next;
    waiter->previous = ring;
    waiter->next->previous = waiter;
    ring->next = waiter;
}

static void fire(struct pel_reactor *reactor, struct pel_waiter *waiter, struct pel_queue *queue)
{
    if (waiter->fired)
        return;
    waiter->fired = 1;
    if (!waiter->off_queue) {
        pel_queue_waiter(reactor, queue, waiter);
        return;
    }
    reactor->fired_off_queue = 1;
    if (__atomic_load_n(&reactor->loop.waiting, __ATOMIC_RELAXED))
        pel_loop_wake(&reactor->loop);
}

void pel_waiter_fire(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    fire(reactor, waiter, &reactor->ready);
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

    if (waiter)
        pel_waiter_raise(reactor, waiter, exception);
    return waiter != NULL;
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
    fire(reactor, waiter, &reactor->due);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

static VALUE raise_exception(VALUE exception)
{
    rb_exc_raise(exception);
}

static VALUE raise_inherited(VALUE nothing)
{
    rb_raise(pel_eClosedError, "this reactor belongs to the parent process: call Pelton.run in the child");
    return nothing;
}

static VALUE raise_given_up(VALUE nothing)
{
    rb_raise(pel_eCancelled, "the reactor stopped before this fiber ended");
    return nothing;
}

static VALUE raise_no_memory(VALUE nothing)
{
    rb_memerror();
    return nothing;
}

/* The fast path: with nothing else to do, the parking fiber waits itself. 0 or a state. */
static int wait_inline(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    struct pel_queue *queue;

    /* What fired the waiter may have run right here, in a trap handler: so look after each tick. */
    while (!waiter->fired && reactor->phase == PEL_RUNNING && !reactor->ready.count && !reactor->due.count) {
        int state;
        pel_step(reactor);
        state = pel_tick(reactor, PEL_WAIT);
        if (state && (state = pel_interrupted(reactor, state)))
            return state;
    }
    /* The own event came first: go on at once. What else is ready follows when this fiber waits next. */
    if (waiter->queued && (queue = pel_next_queue(reactor)) && pel_queue_job(queue, 0)->data == waiter &&
        !pel_queue_job(queue, 0)->run)
        pel_take(reactor, queue);
    return 0;
}

/* Where no reactor runs. What becomes ready for others stays on the queue, but the blocks of operations, which may
 * settle the awaited one: nobody else would call them. */
static int wait_blocking(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    int state = 0;

    while (!waiter->fired && !state)
        if (!waiter->operation || !pel_operation_deliver(reactor, &state))
            state = pel_tick(reactor, PEL_INSIST);
    return state;
}

static int wait_parked(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    int state = 0;

    if (waiter->starts)
        pel_switch(reactor, waiter->starts, &state);
    while (!state && !pel_woken(waiter) && (reactor->phase != PEL_LEAVING || waiter->fiber != reactor->caller)) {
        if (!waiter->yields)
            state = wait_inline(reactor, waiter);
        if (!state && !pel_woken(waiter))
            state = pel_hand_over(reactor, waiter);
        if (waiter->given_up) /* a stranger has transferred here */
            break;
    }
    if (!state && !pel_woken(waiter))
        pel_protect(raise_given_up, Qnil, &state);
    return state;
}

/* What must be there before the waiter is linked. 0 or a state. */
static int prepare(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    int state = 0;

    waiter->fiber = rb_fiber_current();
    if (pel_loop_inherited(&reactor->loop))
        pel_protect(raise_inherited, Qnil, &state);
    else if (!pel_queues_reserve(reactor))
        pel_protect(raise_no_memory, Qnil, &state);
    return state;
}

/* Every way out passes the end of this function: the waiter lies on a stack that is about to be used for something
 * else.
 */
int pel_park_protected(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t time)
{
    struct deadline deadline = {.alarm = {.ring = ring_deadline, .on_stack = 1}, .waiter = waiter};
    struct pel_worker *worker = reactor->current_worker;
    struct pel_waiter *outer = worker ? worker->waiter : NULL;
    int state = prepare(reactor, waiter);

    if (state)
        return state;
    waiter->off_queue = !pel_can_park(reactor);
    waiter->deadline = &deadline.alarm.timer;
    link_waiter(&reactor->parked, waiter);
    reactor->parked_count++;
    if (worker)
        worker->waiter = waiter;
    pel_late_take(reactor, waiter);
    if (time != PEL_FOREVER)
        pel_timer_add(&reactor->loop.timers, waiter->deadline, time);
    if (waiter->yields || waiter->starts)
        pel_waiter_fire(reactor, waiter);

    state = waiter->off_queue ? wait_blocking(reactor, waiter) : wait_parked(reactor, waiter);

    if (worker)
        worker->waiter = outer;
    waiter->previous->next = waiter->next;
    waiter->next->previous = waiter->previous;
    reactor->parked_count -= !waiter->given_up;
    pel_unqueue_waiter(reactor, waiter);
    pel_timer_cancel(&reactor->loop.timers, waiter->deadline);
    if (!state && waiter->exception) {
        reactor->thrown = waiter->exception;
        pel_protect(raise_exception, waiter->exception, &state);
    }
    return state;
}

enum pel_wakeup pel_park(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline)
{
    int state = pel_park_protected(reactor, waiter, deadline);

    if (state)
        pel_rethrow(state);
    return waiter->timed_out ? PEL_TIMED_OUT : PEL_WOKEN;
}

/* ---- letting others go first ---------------------------------------------------------------------------------- */

static int nothing_ready(struct pel_reactor *reactor)
{
    return reactor->phase == PEL_RUNNING && !reactor->ready.count && !reactor->due.count;
}

void pel_yield(struct pel_reactor *reactor)
{
    struct pel_waiter waiter = {.yields = 1};
    int state;

    reactor->budget = PEL_BUDGET;
    if (!pel_can_park(reactor))
        return;
    if (nothing_ready(reactor)) { /* then the loop is turned right here */
        pel_step(reactor);
        if ((state = pel_tick(reactor, PEL_LOOK)) && (state = pel_interrupted(reactor, state)))
            pel_rethrow(state);
        if (nothing_ready(reactor))
            return;
    }
    pel_end_batch(reactor); /* so the next switch goes to a worker */
    pel_park(reactor, &waiter, PEL_FOREVER);
}

void pel_overspend(struct pel_reactor *reactor)
{
    if (RTEST(rb_attr_get(rb_fiber_current(), rb_intern("@pelton_hold")))) {
        reactor->budget = PEL_BUDGET;
        pel_step(reactor);
    } else {
        pel_yield(reactor);
    }
}

/* ---- sleeping ------------------------------------------------------------------------------------------------- */

struct sleeper {
    struct pel_waiter waiter; /* first */
    struct sleeper *outer;    /* of the same fiber, which sleeps again in a trap handler */
};

int pel_sleep(struct pel_reactor *reactor, int64_t deadline)
{
    struct sleeper sleeper = {.outer = NULL};
    VALUE fiber = rb_fiber_current();
    st_data_t key = (st_data_t)fiber, outer = 0;
    int state;

    st_lookup(reactor->sleepers, key, &outer);
    sleeper.outer = (struct sleeper *)outer;
    st_insert(reactor->sleepers, key, (st_data_t)&sleeper);
    state = pel_park_protected(reactor, &sleeper.waiter, deadline);
    if (outer)
        st_insert(reactor->sleepers, key, outer);
    else
        st_delete(reactor->sleepers, &key, NULL);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    return !sleeper.waiter.timed_out;
}

/* All sleepers of the fiber: which of them was meant cannot be told. Each looks itself whether it has what it wanted.
 */
void pel_unblock(struct pel_reactor *reactor, VALUE fiber)
{
    st_data_t innermost;

    if (!st_lookup(reactor->sleepers, (st_data_t)fiber, &innermost))
        return;
    for (struct sleeper *sleeper = (struct sleeper *)innermost; sleeper; sleeper = sleeper->outer) {
        if (pel_woken(&sleeper->waiter))
            continue;
        /* Also when something else was first: whoever unblocks has given it what it waits for. */
        pel_waiter_postpone(reactor, &sleeper->waiter);
        sleeper->waiter.timed_out = 0;
        sleeper->waiter.unblocked = 1;
        pel_waiter_fire(reactor, &sleeper->waiter);
    }
}
