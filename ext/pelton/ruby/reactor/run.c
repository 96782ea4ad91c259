#include "ruby/reactor/reactor.h"

#include <ruby/fiber/scheduler.h>
#include "ruby/base/long_calls.h"
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

/*
 * Run: the fiber that calls it switches to a worker, and comes back when the reactor leaves, or when a fiber has ended:
 * then it hands the loop over again.
 */

#define GRACE_NS (INT64_C(5) * 1000 * 1000 * 1000)

/* ---- running the loop to its end ------------------------------------------------------------------------------ */

/* The reactor of a child after a fork. When one of its fibers ends, it lands in run's caller of the parent's reactor,
 * and the child's loop is handed over from here. NULL when no such reactor runs: the program has returned from fork
 * into the parent's run. */
static struct pel_reactor *child_reactor(struct pel_reactor *reactor)
{
    struct pel_reactor *child = pel_reactor_existing();

    return child && child != reactor && child->phase != PEL_IDLE ? child : NULL;
}

/* 0, or the state of Thread#kill. */
static int run_until_left(struct pel_reactor *reactor)
{
    while (reactor->phase != PEL_LEAVING) {
        struct pel_reactor *running = pel_loop_inherited(&reactor->loop) ? child_reactor(reactor) : reactor;
        uint64_t arrivals = reactor->switches.arrivals;
        VALUE error;
        int state;
        if (!running)
            break;
        state = pel_hand_over(running, NULL);
        if (!state)
            continue;
        error = pel_take_error(state);
        if (NIL_P(error))
            return state;
        pel_fail_run(running, error);
        if (running->switches.arrivals == arrivals)
            break; /* no worker can be made to run the loop */
    }
    return 0;
}

static void begin_run(struct pel_reactor *reactor, int64_t grace)
{
    reactor->grace.time = grace;
    reactor->grace.deadline = 0;
    reactor->run.caller = rb_fiber_current();
    reactor->run.value = reactor->run.fatal = reactor->run.on_fatal = Qnil;
    reactor->run.main_pending = 0;
    reactor->tick.silence = PEL_SILENCE_NS;
    pel_end_batch(reactor);
    reactor->phase = PEL_RUNNING;
    reactor->run.began_at = pel_now();
    pel_watch(reactor);
    pel_long_calls_watch(1);
}

static void end_run(struct pel_reactor *reactor)
{
    pel_long_calls_watch(0);
    pel_unwatch(reactor);
    pel_timer_cancel(&reactor->loop.timers, &reactor->grace.timer.entry);
    reactor->phase = PEL_IDLE;
    reactor->run.earlier_ns += pel_now() - reactor->run.began_at;
    reactor->run.caller = Qnil;
    reactor->workers.current = NULL;
}

/* Fibers that still wait when the grace time is over. */
static VALUE describe_given_up(VALUE reactor)
{
    return pel_upcall(waiting_places, reactor);
}

static VALUE report_given_up(VALUE places)
{
    return pel_upcall(report_given_up, places);
}

/* Pelton.on_error has raised: run raises that, unless it has something to raise already. */
static void keep_error_of_report(struct pel_reactor *reactor, VALUE error)
{
    if (NIL_P(reactor->run.fatal))
        reactor->run.fatal = error;
}

/* The block's fiber is not parked either, or it would have been abandoned. */
static void fail_if_main_is_lost(struct pel_reactor *reactor)
{
    if (!reactor->run.main_pending || !NIL_P(reactor->run.fatal))
        return;
    reactor->run.fatal = pel_take_error(pel_protected_raise(
        pel_eError, "the block of Pelton.run never ended: its fiber has switched to another one by Fiber#raise or "
                    "Fiber#transfer, and no fiber switched back; use Pelton::Reactor#raise_in, which returns"));
}

static void give_up_tasks(struct pel_reactor *reactor)
{
    for (struct pel_worker *worker = reactor->workers.first; worker; worker = worker->next)
        worker->given_up = worker->task != NULL;
}

/* given_up: the places of the fibers that were ended, Qnil: none. */
static void leave_run(struct pel_reactor *reactor, VALUE given_up)
{
    int inherited = pel_loop_inherited(&reactor->loop);
    int state;

    if (!inherited)
        pel_stop_roots(reactor); /* those that ensure blocks have added meanwhile */
    pel_waiters_abandon(reactor);
    give_up_tasks(reactor);
    pel_queues_drop(reactor);
    if (reactor->locals.mode)
        pel_locals_end(reactor);
    end_run(reactor);
    reactor->run.began_outside = 0;
    if (NIL_P(given_up) && !inherited)
        fail_if_main_is_lost(reactor);
    if (!NIL_P(given_up)) {
        pel_protect(report_given_up, given_up, &state);
        if (state)
            pel_take_error(state);
    }
    while (!inherited && pel_operation_hooks.report_failures_now(reactor, &state))
        if (state)
            keep_error_of_report(reactor, pel_take_error(state));
}

/* ---- run ------------------------------------------------------------------------------------------------------ */

struct run {
    struct pel_reactor *reactor;
    VALUE block;
    VALUE given_up; /* the places of fibers that were ended, Qnil: none */
    int sets_scheduler;
};

static VALUE run_body(VALUE argument)
{
    struct run *run = (struct run *)argument;
    int state;

    if (!NIL_P(run->block))
        pel_operation_hooks.spawn_main(run->reactor, run->block);
    if ((state = run_until_left(run->reactor)))
        pel_rethrow(state);
    return Qnil;
}

static VALUE set_scheduler(VALUE scheduler)
{
    return rb_fiber_scheduler_set(scheduler);
}

static VALUE give_up_fibers(VALUE argument)
{
    struct run *run = (struct run *)argument;
    struct pel_reactor *reactor = run->reactor;
    int state = 0;

    if (pel_loop_inherited(&reactor->loop) || !reactor->parked.count)
        return Qnil;
    if (NIL_P(run->given_up)) {
        run->given_up = pel_protect(describe_given_up, reactor->self, &state);
        if (state && NIL_P(pel_take_error(state)))
            pel_rethrow(state);
        if (state)
            run->given_up = rb_ary_new();
    }
    pel_give_up_parked(reactor);
    return Qnil;
}

static VALUE end_left_run(VALUE argument)
{
    struct run *run = (struct run *)argument;
    struct pel_reactor *reactor = run->reactor;
    int state = 0;

    give_up_fibers(argument); /* if Thread#kill has struck meanwhile */
    leave_run(reactor, run->given_up);
    /* An interrupt may strike while the scheduler is set. It gives way to an exception that run is to raise already. */
    if (run->sets_scheduler)
        pel_protect(set_scheduler, Qnil, &state);
    if (state && NIL_P(reactor->run.fatal))
        reactor->run.fatal = pel_take_error(state);
    return Qnil;
}

/* Called by rb_ensure, which alone can delay a Thread#kill, and continue it after the parked fibers had their time. */
static VALUE run_ensure(VALUE argument)
{
    struct pel_reactor *reactor = ((struct run *)argument)->reactor;

    if (reactor->phase != PEL_LEAVING && !pel_loop_inherited(&reactor->loop)) {
        reactor->phase = PEL_STOPPING;
        run_until_left(reactor);
    }
    reactor->phase = PEL_LEAVING;
    return rb_ensure(give_up_fibers, argument, end_left_run, argument);
}

static VALUE take_value(VALUE *source)
{
    VALUE object = *source;

    *source = Qnil;
    return object;
}

NORETURN(static void raise_fatal(VALUE fatal));

/* A throw out of run continues here. */
static void raise_fatal(VALUE fatal)
{
    if (rb_obj_is_kind_of(fatal, rb_const_get(rb_cObject, rb_intern("UncaughtThrowError"))))
        rb_throw_obj(rb_funcall(fatal, rb_intern("tag"), 0), rb_funcall(fatal, rb_intern("value"), 0));
    rb_exc_raise(fatal);
}

/* Runs until the reactor leaves. Returns run's value or raises. */
static VALUE run_reactor(struct run *run)
{
    struct pel_reactor *reactor = run->reactor;
    VALUE value, fatal;

    rb_ensure(run_body, (VALUE)run, run_ensure, (VALUE)run);
    value = take_value(&reactor->run.value);
    fatal = take_value(&reactor->run.fatal);
    if (!NIL_P(fatal)) /* in a child, too: exit(5) ends it with 5 */
        raise_fatal(fatal);
    if (pel_loop_inherited(&reactor->loop))
        rb_raise(pel_eClosedError, "a child came back from fork into its parent's reactor: end it (exit!), or call "
                                   "Pelton.run in fork's block");
    return value;
}

/* _run(grace, carry_locals, block) */
static VALUE reactor_run(VALUE self, VALUE grace, VALUE carry_locals, VALUE block)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    struct run arguments = {.reactor = reactor, .block = block, .given_up = Qnil};
    VALUE scheduler = rb_fiber_scheduler_get();
    int64_t nanoseconds = pel_nanoseconds(grace);

    if (reactor->thread != rb_thread_current())
        rb_raise(pel_eError, "a reactor runs on the thread that made it");
    if (reactor->phase != PEL_IDLE) { /* a nested run: the reactor runs already */
        if (RTEST(carry_locals) && !reactor->locals.mode)
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
    begin_run(reactor, nanoseconds);
    return run_reactor(&arguments);
}

/* _stop(value): ends run, which returns the value. Parked fibers are cancelled. */
static VALUE reactor_stop(VALUE self, VALUE value)
{
    struct pel_reactor *reactor = pel_reactor_get(self);

    if (reactor->phase == PEL_RUNNING) {
        reactor->run.value = value;
        reactor->run.main_pending = 0; /* the block need not end */
        reactor->phase = PEL_STOPPING;
        pel_loop_wake(&reactor->loop);
    }
    return Qnil;
}

/* ---- outside run ---------------------------------------------------------------------------------------------- */

struct outside_run {
    struct pel_reactor *reactor;
    VALUE proc;
};

static VALUE start_fiber_outside_run(VALUE argument)
{
    struct outside_run *outside = (struct outside_run *)argument;

    return pel_start_fiber(outside->reactor, outside->proc);
}

VALUE pel_run_outside(struct pel_reactor *reactor, VALUE proc)
{
    struct outside_run outside = {.reactor = reactor, .proc = proc};
    VALUE fiber, fatal;
    int state;

    begin_run(reactor, GRACE_NS);
    reactor->run.began_outside = 1;
    fiber = pel_protect(start_fiber_outside_run, (VALUE)&outside, &state);
    end_run(reactor);
    fatal = take_value(&reactor->run.fatal);
    if (!NIL_P(fatal))
        raise_fatal(fatal);
    if (state)
        pel_rethrow(state);
    return fiber;
}

void pel_run_close(struct pel_reactor *reactor)
{
    struct run arguments = {.reactor = reactor, .block = Qnil, .given_up = Qnil};

    if (reactor->phase != PEL_IDLE)
        rb_raise(pel_eError, "the reactor is this thread's fiber scheduler until run has returned");
    if (!reactor->run.began_outside)
        return;
    begin_run(reactor, GRACE_NS);
    run_reactor(&arguments);
}

void pel_init_run(void)
{
    rb_define_private_method(pel_cReactor, "_run", reactor_run, 3);
    rb_define_method(pel_cReactor, "_stop", reactor_stop, 1);
}
