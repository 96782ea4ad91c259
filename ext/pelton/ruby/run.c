#include "reactor.h"

#include <ruby/fiber/scheduler.h>
#include "error.h"
#include "locals.h"
#include "operation.h"
#include "protect.h"

/*
 * Run, stop, and what becomes of those who still wait. The fiber that called run goes to a worker, and comes back when
 * the reactor leaves, or when a fiber has ended: then it hands the loop on again.
 */

#define GRACE_NS (INT64_C(5) * 1000 * 1000 * 1000)

/* ---- stopping ------------------------------------------------------------------------------------------------- */

static void ring_end_of_grace(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    (void)alarm;
    reactor->phase = PEL_LEAVING;
}

/* Up to the one that only marks the end. */
static VALUE stop_some(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;
    struct pel_listed *listed;

    while ((listed = pel_list_first(&reactor->list))->stop) {
        VALUE object = listed->object;
        pel_list_remove(&reactor->list, listed);
        listed->stop(reactor, listed);
        RB_GC_GUARD(object);
    }
    return Qnil;
}

/* Each one once: it may list itself again. An error of one does not keep the others from being stopped. */
static void stop_listed(struct pel_reactor *reactor)
{
    struct pel_listed end = {.stop = NULL};
    int state;

    pel_list_add(&reactor->list, &end, Qnil);
    do
        pel_protect(stop_some, (VALUE)reactor, &state);
    while (state && !NIL_P(pel_take_error(state)));
    pel_list_remove(&reactor->list, &end);
}

/* Each parked fiber, once: those that their ensure blocks park again may take the grace time. */
static VALUE cancel_parked(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;
    struct pel_waiter *waiter;

    for (waiter = reactor->parked.next; waiter != &reactor->parked; waiter = waiter->next) {
        VALUE exception = rb_exc_new_cstr(pel_eCancelled, "the reactor stops");
        pel_waiter_raise(reactor, waiter, exception);
    }
    return Qnil;
}

void pel_begin_to_stop(struct pel_reactor *reactor)
{
    reactor->grace_deadline = pel_now() + reactor->grace;
    reactor->grace_alarm.ring = ring_end_of_grace;
    reactor->last_ticks = PEL_LAST_TICKS;
    pel_timer_add(&reactor->loop.timers, &reactor->grace_alarm.timer, reactor->grace_deadline);
    stop_listed(reactor);
    pel_dispatch(reactor, cancel_parked, (VALUE)reactor);
}

int pel_interrupted(struct pel_reactor *reactor, int state)
{
    VALUE error;

    if (reactor->phase == PEL_IDLE)
        return state;
    error = pel_take_error(state);
    if (NIL_P(error))
        return state; /* Thread#kill, which must go on: a second one does nothing. Or a throw to the fiber's own catch
                       */
    if (error == reactor->thrown) {
        rb_set_errinfo(
            error); /* a trap handler waited on this fiber, and what was meant for the fiber was raised there */
        return state;
    }
    if (reactor->phase == PEL_STOPPING && reactor->grace_deadline)
        reactor->phase = PEL_LEAVING; /* who asks twice has no patience */
    pel_fail_run(reactor, error);
    return 0;
}

/* ---- turning until the end ------------------------------------------------------------------------------------ */

/* In a child after a fork. A fiber of the child's own reactor has ended, and lands in the parent's run: its loop is
 * handed on from here. 0 when there is no such reactor: the program came back to the parent's. */
static struct pel_reactor *heir_of(struct pel_reactor *reactor)
{
    struct pel_reactor *heir = pel_reactor_existing();

    return heir && heir != reactor && heir->phase != PEL_IDLE ? heir : NULL;
}

/* 0, or the state of Thread#kill. */
static int turn_until_left(struct pel_reactor *reactor)
{
    while (reactor->phase != PEL_LEAVING) {
        struct pel_reactor *turned = pel_loop_inherited(&reactor->loop) ? heir_of(reactor) : reactor;
        uint64_t arrivals = reactor->arrivals;
        VALUE error;
        int state;
        if (!turned)
            break;
        state = pel_hand_over(turned, NULL);
        if (!state)
            continue;
        error = pel_take_error(state);
        if (NIL_P(error))
            return state;
        pel_fail_run(turned, error);
        if (turned->arrivals == arrivals)
            break; /* nobody can be had who turns the loop */
    }
    return 0;
}

static void cancel_on_stack(struct pel_timers *timers, struct pel_timer *timer)
{
    if (((struct pel_alarm *)timer)->on_stack)
        pel_timer_cancel(timers, timer);
}

/* Those that are still parked will never run again. They stay linked, because lists and timers refer to their stacks,
 * and marked, because the stacks must not be freed before the lists. */
static unsigned give_up_parked(struct pel_reactor *reactor)
{
    unsigned count = 0;

    while (reactor->parked.next != &reactor->parked) {
        struct pel_waiter *waiter = reactor->parked.next;
        waiter->given_up = waiter->off_queue = 1;
        pel_unqueue_waiter(reactor, waiter);
        reactor->parked.next = waiter->next;
        waiter->next->previous = &reactor->parked;
        waiter->next = reactor->given_up.next;
        waiter->previous = &reactor->given_up;
        waiter->next->previous = reactor->given_up.next = waiter;
        count++;
    }
    reactor->parked_count = 0;
    if (count)
        pel_timers_each(&reactor->loop.timers, cancel_on_stack);
    return count;
}

static void begin(struct pel_reactor *reactor, int64_t grace)
{
    reactor->grace = grace;
    reactor->grace_deadline = 0;
    reactor->caller = rb_fiber_current();
    reactor->value = reactor->fatal = Qnil;
    pel_end_batch(reactor);
    reactor->phase = PEL_RUNNING;
    reactor->began_at = pel_now();
    pel_watch(reactor);
}

static void rest(struct pel_reactor *reactor)
{
    pel_unwatch(reactor);
    pel_timer_cancel(&reactor->loop.timers, &reactor->grace_alarm.timer);
    reactor->phase = PEL_IDLE;
    reactor->ran_ns += pel_now() - reactor->began_at;
    reactor->caller = Qnil;
    reactor->current_worker = NULL;
}

static VALUE report_given_up(VALUE count)
{
    return rb_funcall(pel_mPelton, rb_intern("report_given_up"), 1, count);
}

static void leave(struct pel_reactor *reactor)
{
    int inherited = pel_loop_inherited(&reactor->loop);
    unsigned given_up;

    reactor->phase = PEL_LEAVING;
    if (!inherited)
        stop_listed(reactor); /* what ensure blocks have listed meanwhile */
    given_up = give_up_parked(reactor);
    pel_queues_drop(reactor);
    if (reactor->carries)
        pel_locals_end(reactor);
    rest(reactor);
    reactor->standalone = 0;
    if (given_up && !inherited) {
        int state;
        pel_protect(report_given_up, UINT2NUM(given_up), &state);
        if (state)
            pel_take_error(state);
    }
}

/* ---- run ------------------------------------------------------------------------------------------------------ */

struct run {
    struct pel_reactor *reactor;
    VALUE block;
    int sets_scheduler;
};

static VALUE run_body(VALUE argument)
{
    struct run *run = (struct run *)argument;
    int state;

    if (!NIL_P(run->block))
        pel_spawn_main(run->reactor, run->block);
    if ((state = turn_until_left(run->reactor)))
        pel_rethrow(state);
    return Qnil;
}

static VALUE set_scheduler(VALUE scheduler)
{
    return rb_fiber_scheduler_set(scheduler);
}

/* By rb_ensure, because it alone can keep a Thread#kill, and let it go on when the parked fibers had their time. */
static VALUE run_end(VALUE argument)
{
    struct run *run = (struct run *)argument;
    struct pel_reactor *reactor = run->reactor;
    int state = 0;

    if (reactor->phase != PEL_LEAVING && !pel_loop_inherited(&reactor->loop)) {
        reactor->phase = PEL_STOPPING;
        turn_until_left(reactor);
    }
    leave(reactor);
    if (run->sets_scheduler)
        pel_protect(set_scheduler, Qnil, &state); /* an interrupt may strike here; what run raises goes before it */
    if (state && NIL_P(reactor->fatal))
        reactor->fatal = pel_take_error(state);
    return Qnil;
}

static VALUE take(VALUE *place)
{
    VALUE object = *place;

    *place = Qnil;
    return object;
}

NORETURN(static void raise_fatal(VALUE fatal));

/* A throw goes on from here. */
static void raise_fatal(VALUE fatal)
{
    if (rb_obj_is_kind_of(fatal, rb_const_get(rb_cObject, rb_intern("UncaughtThrowError"))))
        rb_throw_obj(rb_funcall(fatal, rb_intern("tag"), 0), rb_funcall(fatal, rb_intern("value"), 0));
    rb_exc_raise(fatal);
}

/* Turns until the reactor leaves. Returns run's value or raises. */
static VALUE run(struct run *run)
{
    struct pel_reactor *reactor = run->reactor;
    VALUE value, fatal;

    rb_ensure(run_body, (VALUE)run, run_end, (VALUE)run);
    value = take(&reactor->value);
    fatal = take(&reactor->fatal);
    if (pel_loop_inherited(&reactor->loop))
        rb_raise(pel_eClosedError, "a child came back from fork into its parent's reactor: end it (exit!), or call "
                                   "Pelton.run in fork's block");
    if (!NIL_P(fatal))
        raise_fatal(fatal);
    return value;
}

/* _run(grace, carry_locals, block) */
static VALUE reactor_run(VALUE self, VALUE grace, VALUE carry_locals, VALUE block)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    struct run arguments = {.reactor = reactor, .block = block};
    VALUE scheduler = rb_fiber_scheduler_get();
    int64_t nanoseconds = pel_nanoseconds(grace);

    if (reactor->thread != rb_thread_current())
        rb_raise(pel_eError, "a reactor runs on the thread that made it");
    if (reactor->phase != PEL_IDLE) { /* nested: it is running already */
        if (RTEST(carry_locals) && !reactor->carries)
            pel_locals_begin(reactor);
        return rb_proc_call_with_block(block, 0, NULL, Qnil);
    }
    if (scheduler != self) {
        if (!NIL_P(scheduler) && !rb_obj_is_kind_of(scheduler, pel_cReactor))
            rb_raise(pel_eError, "this thread has another fiber scheduler: run Pelton on a thread of its own");
        rb_fiber_scheduler_set(self); /* instead of the parent's, after a fork */
        arguments.sets_scheduler = 1;
    }
    if (RTEST(carry_locals))
        pel_locals_begin(reactor);
    begin(reactor, nanoseconds);
    return run(&arguments);
}

/* Ends run: what is parked is cancelled. The value is what run returns. */
static VALUE reactor_stop(VALUE self, VALUE value)
{
    struct pel_reactor *reactor = pel_reactor_get(self);

    if (reactor->phase == PEL_RUNNING) {
        reactor->value = value;
        reactor->phase = PEL_STOPPING;
        pel_loop_wake(&reactor->loop);
    }
    return Qnil;
}

/* ---- outside run ---------------------------------------------------------------------------------------------- */

struct outside {
    struct pel_reactor *reactor;
    VALUE proc;
};

static VALUE start_fiber(VALUE argument)
{
    struct outside *outside = (struct outside *)argument;

    return pel_start_fiber(outside->reactor, outside->proc);
}

VALUE pel_run_outside(struct pel_reactor *reactor, VALUE proc)
{
    struct outside outside = {.reactor = reactor, .proc = proc};
    VALUE fiber, fatal;
    int state;

    begin(reactor, GRACE_NS);
    reactor->standalone = 1;
    fiber = pel_protect(start_fiber, (VALUE)&outside, &state);
    rest(reactor);
    fatal = take(&reactor->fatal);
    if (!NIL_P(fatal))
        raise_fatal(fatal);
    if (state)
        pel_rethrow(state);
    return fiber;
}

void pel_run_close(struct pel_reactor *reactor)
{
    struct run arguments = {.reactor = reactor, .block = Qnil};

    if (reactor->phase != PEL_IDLE)
        rb_raise(pel_eError, "the reactor is this thread's fiber scheduler until run has returned");
    if (!reactor->standalone)
        return;
    begin(reactor, GRACE_NS);
    run(&arguments);
}

void pel_init_run(void)
{
    rb_define_private_method(pel_cReactor, "_run", reactor_run, 3);
    rb_define_method(pel_cReactor, "_stop", reactor_stop, 1);
}
