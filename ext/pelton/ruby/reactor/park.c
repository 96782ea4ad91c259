#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

struct deadline {
    struct pel_reactor_timer timer;
    struct pel_waiter *waiter;
};

static void deadline_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    pel_waiter_time_out(reactor, ((struct deadline *)timer)->waiter);
}

/* ---- the parked waiters --------------------------------------------------------------------------------------- */

static void link_waiter_first(struct pel_waiter *head, struct pel_waiter *waiter)
{
    waiter->next = head->next;
    waiter->previous = head;
    waiter->next->previous = waiter;
    head->next = waiter;
}

static void link_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    link_waiter_first(&reactor->parked.head, waiter);
    reactor->parked.count++;
    reactor->parked.transient += waiter->transient;
    reactor->parked.begun += waiter->rank.began != 0;
}

static void unlink_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    waiter->previous->next = waiter->next;
    waiter->next->previous = waiter->previous;
    if (waiter->abandoned)
        return;
    reactor->parked.count--;
    reactor->parked.transient -= waiter->transient;
    reactor->parked.begun -= waiter->rank.began != 0;
    pel_hold_end_wait(reactor, waiter);
}

static void cancel_timer_on_stack(struct pel_timers *timers, struct pel_timer *timer)
{
    if (((struct pel_reactor_timer *)timer)->on_stack)
        pel_timer_cancel(timers, timer);
}

void pel_waiters_abandon(struct pel_reactor *reactor)
{
    unsigned count = reactor->parked.count;

    while (reactor->parked.head.next != &reactor->parked.head) {
        struct pel_waiter *waiter = reactor->parked.head.next;
        unlink_waiter(reactor, waiter);
        waiter->abandoned = waiter->off_queue = 1;
        pel_unqueue_waiter(reactor, waiter);
        link_waiter_first(&reactor->parked.abandoned, waiter);
    }
    if (count)
        pel_timers_each(&reactor->loop.timers, cancel_timer_on_stack);
}

static VALUE raise_exception(VALUE exception)
{
    rb_exc_raise(exception);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

/* The loop runner ends the run, and cancels transient tasks, once nothing else keeps it. */
static int ends_run(const struct pel_reactor *reactor, const struct pel_waiter *waiter)
{
    return waiter->transient && pel_nothing_left(reactor);
}

/* The fast path: while nothing else is pending, the parking fiber makes the loop's ticks itself. 0 or a state. */
static int wait_inline(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    struct pel_queue *queue;

    /* A trap handler that ran on this very fiber may have fired the waiter: so look after each tick. */
    while (!waiter->fired && reactor->phase == PEL_RUNNING && !pel_can_run_p(reactor) && !ends_run(reactor, waiter)) {
        int state;
        pel_note_progress(reactor);
        state = pel_tick(reactor, PEL_WAIT);
        if (state && (state = pel_interrupt_run(reactor, state)))
            return state;
    }
    /* If this fiber's own event came first, the fiber goes on at once. Other ready jobs run when it waits next. */
    if (waiter->queued && (queue = pel_next_queue(reactor)) && pel_queue_job(queue, 0)->data == waiter &&
        !pel_queue_job(queue, 0)->run)
        pel_take_job(reactor, queue);
    return 0;
}

/* Where no reactor runs. Jobs that become ready meanwhile stay on the queue, except the blocks of operations: one of
 * them may settle the awaited operation, and no loop runner would call them. */
static int wait_blocking(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    int state = 0;

    while (!waiter->fired && !state)
        if (!waiter->operation || !pel_operation_hooks.deliver(reactor, &state))
            state = pel_tick(reactor, PEL_WAIT_ALWAYS);
    return state;
}

/* A trap handler that waited on this very fiber was interrupted there. The fiber must go on nevertheless: it has been
 * given a Mutex or an item. 0, or the state of a jump that cannot wait: Thread#kill or a throw. */
static int keep_for_next_wait(struct pel_reactor *reactor, const struct pel_waiter *waiter, int state)
{
    VALUE error = pel_take_error(state);

    if (NIL_P(error))
        return state;
    pel_pending_exception_add(reactor, waiter->fiber, error);
    return 0;
}

static int wait_parked(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    int state = 0;

    if (waiter->starts_fiber)
        pel_switch(reactor, waiter->starts_fiber, &state);
    while (!state && !pel_woken(waiter) && (reactor->phase != PEL_LEAVING || waiter->fiber != reactor->run.caller)) {
        if (!waiter->yields)
            state = wait_inline(reactor, waiter);
        if (!state && !pel_woken(waiter))
            state = pel_hand_over(reactor, waiter);
        if (waiter->abandoned) /* code outside Pelton has transferred here */
            break;
    }
    if (!state && waiter->given_up && !waiter->unblocked)
        state = pel_end_fiber(reactor);
    if (!state && !pel_woken(waiter))
        state = pel_protected_raise(pel_eCancelled, "the reactor stopped before this fiber ended");
    return state && waiter->unblocked ? keep_for_next_wait(reactor, waiter, state) : state;
}

/* Checks and reserves before the waiter is linked. 0 or a state. */
static int prepare_to_park(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    int state = 0;

    waiter->fiber = rb_fiber_current();
    if (pel_loop_inherited(&reactor->loop))
        state = pel_protected_raise(pel_eClosedError,
                                    "this reactor belongs to the parent process: call Pelton.run in the child");
    else if (pel_given_up(reactor, waiter->fiber))
        state = pel_end_fiber(reactor);
    else if (!pel_queues_reserve(reactor))
        state = pel_protected_memerror();
    return state;
}

/* Every way out leads through the end of this function, which unlinks the waiter: the waiter lies on a stack that other
 * calls will overwrite. */
int pel_park_protected(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t time)
{
    struct deadline deadline = {.timer = {.on_timeout = deadline_on_timeout, .on_stack = 1}, .waiter = waiter};
    struct pel_worker *worker = reactor->workers.current;
    struct pel_waiter *outer = worker ? worker->waiter : NULL;
    int state = prepare_to_park(reactor, waiter);
    int64_t began = worker && reactor->workers.measures_waits ? pel_now() : 0;

    if (state)
        return state;
    waiter->off_queue = !pel_can_park(reactor);
    waiter->deadline = &deadline.timer.entry;
    waiter->transient = worker && worker->transient;
    waiter->rank = reactor->rank;
    link_waiter(reactor, waiter);
    if (waiter->rank.began && !waiter->off_queue && !waiter->yields && !waiter->starts_fiber)
        pel_hold_begin_wait(reactor, waiter, time);
    if (worker)
        worker->waiter = waiter;
    pel_pending_exception_take(reactor, waiter);
    if (time != PEL_FOREVER)
        pel_timer_add(&reactor->loop.timers, waiter->deadline, time);
    if (waiter->yields || waiter->starts_fiber)
        pel_waiter_fire(reactor, waiter);

    state = waiter->off_queue ? wait_blocking(reactor, waiter) : wait_parked(reactor, waiter);

    reactor->rank = waiter->rank;
    if (worker)
        worker->waiter = outer;
    if (began)
        worker->waited += pel_now() - began;
    unlink_waiter(reactor, waiter);
    pel_unqueue_waiter(reactor, waiter);
    pel_timer_cancel(&reactor->loop.timers, waiter->deadline);
    if (!state && waiter->exception) {
        reactor->parked.last_raised = waiter->exception;
        pel_protect(raise_exception, waiter->exception, &state);
    }
    return state;
}

int pel_park_at(struct pel_reactor *reactor, struct pel_waiter **place, int64_t deadline, int *timed_out)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    int state;

    *place = &waiter;
    state = pel_park_protected(reactor, &waiter, deadline);
    if (*place == &waiter)
        *place = NULL;
    *timed_out = waiter.timed_out;
    return state;
}

void pel_park(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline)
{
    int state = pel_park_protected(reactor, waiter, deadline);

    if (state)
        pel_rethrow(state);
}
