#include "ruby/reactor/reactor.h"

#include <errno.h>
#include "ruby/base/garbage.h"
#include "ruby/base/gvl.h"
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

/*
 * A tick is the C part of one loop iteration: it flushes all output, waits once, and dispatches the events and the
 * timers that are due. The jobs that these make ready run afterwards, on the loop runner. All state of a tick lies in
 * the reactor, because any job may park and leave the rest of the tick to another worker.
 */

char *pel_hot_buffer(struct pel_reactor *reactor)
{
    if (!reactor->tick.hot_buffer)
        reactor->tick.hot_buffer = ALLOC_N(char, PEL_HOT_BUFFER);
    return reactor->tick.hot_buffer;
}

/* ---- silence -------------------------------------------------------------------------------------------------- */

/* Waits that nothing ends, such as Queue.new.pop, are reported once in a run. They are no error: a trap handler may end
 * them. */
static int silent(const struct pel_reactor *reactor, int64_t timeout)
{
    return timeout == PEL_FOREVER && reactor->phase == PEL_RUNNING && !reactor->loop.registered &&
           reactor->tick.silence != PEL_FOREVER;
}

/* A job: the log names the fibers that wait. */
static void report_silence(struct pel_reactor *reactor, void *nothing)
{
    (void)nothing;
    /* A thread that computes may wake a fiber yet: later, and less often. */
    if (RTEST(pel_upcall(report_silence, reactor->self)))
        reactor->tick.silence = PEL_FOREVER;
    else
        reactor->tick.silence *= 2;
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

/* Polls again and again: the awaited operation was found to gain by it (core/loop/spin.h). */
static int spin(struct pel_loop *loop, int64_t end)
{
    int code;

    do
        code = pel_loop_wait(loop, 0);
    while (loop->event_count == 0 && loop->now < end && code == 0);
    return code;
}

static int wait_with_gvl_released(struct pel_reactor *reactor, int64_t timeout)
{
    if (pel_watch_idle(&reactor->stalls.watch))
        pel_end_stall(reactor);
    return pel_gvl_wait(&reactor->loop, timeout, &reactor->stalls.watch);
}

/* 0 or PEL_ESYSTEM with errno. */
static int wait_for_events(struct pel_reactor *reactor, int may_wait)
{
    struct pel_loop *loop = &reactor->loop;
    int64_t before = may_wait ? pel_now() : 0, timeout = may_wait ? pel_loop_timeout(loop, before) : 0;
    int holds = may_wait && reactor->queues.arrived.count && reactor->phase != PEL_IDLE;
    int code = 0, is_silent = silent(reactor, timeout);

    if (is_silent)
        timeout = reactor->tick.silence;
    if (holds) {
        int64_t held = pel_held_until(reactor) - before; /* not positive: the hold has ended just now */
        if (timeout == PEL_FOREVER || held < timeout)
            timeout = held > 0 ? held : 0;
    }
    /* While other threads want the GVL, a poll that keeps the GVL comes first: giving the GVL away may cost a whole
     * time slice. */
    if (timeout == 0 || !rb_thread_alone())
        code = pel_loop_wait(loop, 0);
    if (timeout != 0 && reactor->tick.spin_ns && loop->event_count == 0 && code == 0)
        code = spin(loop, before + (timeout < reactor->tick.spin_ns ? timeout : reactor->tick.spin_ns));
    reactor->tick.spin_ns = 0;
    if (timeout != 0 && loop->event_count == 0 && code == 0) {
        code = wait_with_gvl_released(reactor, timeout);
        if (reactor->phase != PEL_IDLE)
            reactor->tick.idle_ns += loop->now - before;
        if (holds)
            pel_hold_charge(reactor, loop->now - before);
        if (is_silent && loop->event_count == 0 && loop->now - before >= timeout && !pel_jobs_p(reactor))
            pel_enqueue(reactor, (struct pel_job){.run = report_silence});
    }
    return code;
}

static VALUE raise_wait_failed(VALUE error)
{
    pel_raise(PEL_ESYSTEM, FIX2INT(error), "the reactor cannot wait: did somebody close its descriptors?");
    return Qnil;
}

/* 0 or a state. Cancelled fibers may still end although the loop cannot wait any more. */
static int wait_has_failed(struct pel_reactor *reactor, int error)
{
    int state;

    pel_protect(raise_wait_failed, INT2FIX(error), &state);
    if (reactor->phase == PEL_IDLE)
        return state;
    pel_fail_run(reactor, pel_take_error(state));
    if (reactor->grace.deadline && !pel_jobs_p(reactor))
        reactor->phase = PEL_LEAVING;
    return 0;
}

/* ---- the tick ------------------------------------------------------------------------------------------------- */

static VALUE flush_streams(VALUE argument)
{
    pel_streams_flush(&((struct pel_reactor *)argument)->loop);
    return Qnil;
}

static VALUE dispatch_events(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;
    struct pel_timers *timers = &reactor->loop.timers;
    struct pel_reactor_timer *timer;

    pel_roots_tenure(&reactor->roots);
    while (pel_loop_dispatch(&reactor->loop))
        ;
    pel_timers_expire(timers, reactor->loop.now);
    while ((timer = (struct pel_reactor_timer *)pel_timers_pop(timers)))
        timer->on_timeout(reactor, timer);
    return Qnil;
}

/* Calls the function again after a NoMemoryError, the only exception that it can raise: so that costs one event, and
 * not the events after it. */
static int call_to_end(VALUE (*function)(VALUE), struct pel_reactor *reactor)
{
    int state;

    do
        pel_protect(function, (VALUE)reactor, &state);
    while (state && !NIL_P(pel_take_error(state)));
    return state;
}

/* It checks interrupts, too. */
static VALUE collect_garbage(VALUE nothing)
{
    pel_garbage_collect();
    rb_thread_check_ints();
    return nothing;
}

int pel_tick(struct pel_reactor *reactor, enum pel_wait_mode wait_mode)
{
    int state;

    reactor->tick.number++;
    reactor->tick.fired_off_queue = 0;
    if (pel_mutex_queues)
        pel_mutex_wake_all_free();
    if (reactor->loop.flush_list) {
        if ((state = call_to_end(flush_streams, reactor)))
            return state;
        if (wait_mode == PEL_WAIT && pel_nothing_left(reactor)) /* this flush was the last work */
            wait_mode = PEL_POLL;
    }
    /* Either a stream has more to send than its share of a tick; or a stream could not send, and the caller waits for
     * that stream's end. */
    if (reactor->loop.flush_list || reactor->tick.fired_off_queue)
        wait_mode = PEL_POLL;
    if (wait_for_events(reactor, wait_mode == PEL_WAIT_ALWAYS || (wait_mode == PEL_WAIT && !pel_can_run_p(reactor))) <
            0 &&
        (state = wait_has_failed(reactor, errno)))
        return state;
    if ((state = call_to_end(dispatch_events, reactor)))
        return state;
    pel_begin_batch(reactor);
    reactor->budget = PEL_BUDGET;
    if (pel_garbage_due()) {
        pel_protect(collect_garbage, Qnil, &state);
        return state;
    }
    return pel_protected_check_ints();
}

void pel_poll(struct pel_reactor *reactor)
{
    int state = pel_tick(reactor, PEL_POLL);

    if (state)
        pel_rethrow(state);
}
