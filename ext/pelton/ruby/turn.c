#include "reactor.h"

#include <errno.h>
#include "error.h"
#include "gvl.h"
#include "late.h"
#include "locals.h"
#include "protect.h"

/*
 * Turning the loop. A tick: one flush of all that was written, one wait, the events it brought, the alarms that are
 * due. Then the jobs that it made ready. All state of a tick lives in the reactor, because any job may park and leave
 * the rest of the tick to another worker.
 */

char *pel_hot_buffer(struct pel_reactor *reactor)
{
    if (!reactor->hot_buffer)
        reactor->hot_buffer = ALLOC_N(char, PEL_HOT_BUFFER);
    return reactor->hot_buffer;
}

/* ---- one tick ------------------------------------------------------------------------------------------------- */

static VALUE flush_all(VALUE argument)
{
    pel_streams_flush(&((struct pel_reactor *)argument)->loop);
    return Qnil;
}

static VALUE dispatch_all(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;
    struct pel_timers *timers = &reactor->loop.timers;
    struct pel_alarm *alarm;

    pel_list_tenure(&reactor->list);
    while (pel_loop_dispatch(&reactor->loop))
        ;
    pel_timers_expire(timers, reactor->loop.now);
    while ((alarm = (struct pel_alarm *)pel_timers_pop(timers)))
        alarm->ring(reactor, alarm);
    return Qnil;
}

static VALUE take_interrupts(VALUE nothing)
{
    rb_thread_check_ints();
    return nothing;
}

/* Goes on after a NoMemoryError, the only one there can be: it costs one event, not the rest. */
static int run_to_end(VALUE (*function)(VALUE), struct pel_reactor *reactor)
{
    int state;

    do
        pel_protect(function, (VALUE)reactor, &state);
    while (state && !NIL_P(pel_take_error(state)));
    return state;
}

/* Looks again and again, as long as the operation that is waited for was found to gain by it (core/spin.h). */
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
    int code;

    if (pel_watch_rest(&reactor->watch))
        pel_end_stall(reactor);
    code = pel_gvl_wait(&reactor->loop, timeout);
    pel_watch_wake(&reactor->watch);
    return code;
}

static int nothing_left(struct pel_reactor *reactor)
{
    return !reactor->parked_count && !reactor->ready.count && !reactor->due.count && !reactor->references &&
           !reactor->loop.flush_list;
}

/* 0 or PEL_ESYSTEM with errno. */
static int wait_for_events(struct pel_reactor *reactor, int may_wait)
{
    struct pel_loop *loop = &reactor->loop;
    int64_t before = may_wait ? pel_now() : 0, timeout = may_wait ? pel_loop_timeout(loop, before) : 0;
    int code = 0;

    /* While other threads want the GVL, a look that keeps it comes first: giving it away may cost a whole time slice.
     */
    if (timeout == 0 || !rb_thread_alone())
        code = pel_loop_wait(loop, 0);
    if (timeout != 0 && reactor->spin_ns && loop->event_count == 0 && code == 0)
        code = spin(loop, before + (timeout < reactor->spin_ns ? timeout : reactor->spin_ns));
    reactor->spin_ns = 0;
    if (timeout != 0 && loop->event_count == 0 && code == 0) {
        code = wait_with_gvl_released(reactor, timeout);
        if (reactor->phase != PEL_IDLE)
            reactor->idle_ns += loop->now - before;
    }
    return code;
}

static VALUE raise_wait_failed(VALUE error)
{
    pel_raise(PEL_ESYSTEM, FIX2INT(error), "the reactor cannot wait: did somebody close its descriptors?");
    return Qnil;
}

int pel_tick(struct pel_reactor *reactor, enum pel_patience patience)
{
    int state;

    reactor->turns++;
    reactor->fired_off_queue = 0;
    if (reactor->loop.flush_list) {
        if ((state = run_to_end(flush_all, reactor)))
            return state;
        if (patience == PEL_WAIT && nothing_left(reactor)) /* this flush was the last thing to do */
            patience = PEL_LOOK;
    }
    /* A stream has more to send than its share of a tick; or could not send, and its end is what is waited for. */
    if (reactor->loop.flush_list || reactor->fired_off_queue)
        patience = PEL_LOOK;
    if (wait_for_events(reactor, patience == PEL_INSIST ||
                                     (patience == PEL_WAIT && !reactor->ready.count && !reactor->due.count)) < 0) {
        pel_protect(raise_wait_failed, INT2FIX(errno), &state);
        if (reactor->phase == PEL_IDLE)
            return state;
        pel_fail_run(reactor, pel_take_error(state)); /* what is cancelled then may still end */
        if (reactor->grace_deadline && !reactor->ready.count && !reactor->due.count)
            reactor->phase = PEL_LEAVING;
    }
    if ((state = run_to_end(dispatch_all, reactor)))
        return state;
    reactor->batch_left = PEL_UNCOUNTED;
    reactor->handovers_left = PEL_HANDOVERS;
    reactor->batch_end = reactor->loop.now + PEL_BATCH_NS;
    reactor->due_over = reactor->ready_over = 0;
    reactor->budget = PEL_BUDGET;
    pel_protect(take_interrupts, Qnil, &state);
    return state;
}

void pel_look(struct pel_reactor *reactor)
{
    int state = pel_tick(reactor, PEL_LOOK);

    if (state)
        pel_rethrow(state);
}

/* ---- the turner ----------------------------------------------------------------------------------------------- */

static int stop_again(struct pel_reactor *reactor)
{
    if (!reactor->parked_count)
        return 0;
    reactor->phase = PEL_STOPPING;
    reactor->grace_deadline = 0;
    return 1;
}

/* Puts the worker into the pool and goes to another fiber. 1 when it is the turner again, 0 when it must end. */
static int step_aside(struct pel_reactor *reactor, struct pel_worker *worker, VALUE fiber)
{
    int state, away;

    pel_worker_rest(reactor, worker);
    away = pel_switch(reactor, fiber, &state);
    /* Still in the pool: the switch failed, since the fiber has resumed another one; or a stranger has transferred or
     * raised here, and is lost. In both cases nobody but this worker runs now. */
    if (worker->idle)
        pel_worker_rise(reactor, worker);
    if (state) {
        VALUE error = pel_take_error(state);
        if (NIL_P(error) || reactor->phase == PEL_IDLE)
            NIL_P(error) ? pel_rethrow(state) : rb_exc_raise(error);
        if (away)
            pel_uncaught(reactor, error);
        else if (reactor->phase == PEL_LEAVING) /* the caller waits in a trap handler; or it is dead (standalone) */
            return stop_again(reactor);
    }
    return reactor->phase != PEL_IDLE;
}

/* 0 when the worker must end. */
static int next_job(struct pel_reactor *reactor, struct pel_worker *worker, struct pel_queue *queue)
{
    struct pel_taken_job taken = {.reactor = reactor};
    struct pel_job *next = pel_queue_job(queue, 0);

    /* The pool is full: where this fiber ends, the loop is handed on to the one that is ready. */
    if (!next->run && next->data && reactor->idle_count >= PEL_IDLE_WORKERS && reactor->phase == PEL_RUNNING)
        return 0;
    taken.job = pel_take(reactor, queue);
    if (taken.job.run) {
        pel_dispatch(reactor, pel_run_job, (VALUE)&taken);
        pel_late_drop(worker->fiber);
    } else if (taken.job.data) {
        return step_aside(reactor, worker, ((struct pel_waiter *)taken.job.data)->fiber);
    }
    return 1;
}

/* Whether the turner may go on; otherwise it goes back to run's caller. */
static int going_on(struct pel_reactor *reactor)
{
    if (pel_loop_inherited(&reactor->loop))
        reactor->phase = PEL_LEAVING;
    if (reactor->phase == PEL_RUNNING && nothing_left(reactor))
        reactor->phase = PEL_STOPPING;
    if (reactor->phase == PEL_STOPPING) {
        if (!reactor->grace_deadline)
            pel_begin_to_stop(reactor);
        if (!reactor->parked_count && ((!reactor->ready.count && !reactor->due.count) || !reactor->last_ticks))
            reactor->phase = PEL_LEAVING;
    }
    return reactor->phase == PEL_RUNNING || reactor->phase == PEL_STOPPING;
}

void pel_turn(struct pel_reactor *reactor, struct pel_worker *worker)
{
    /* After each dispatch back to the top: whatever ran may have parked, stopped the reactor, or emptied the queue. */
    for (;;) {
        struct pel_queue *queue;
        int state;
        reactor->current_worker = worker;
        pel_step(reactor);
        if (reactor->carries && worker->left)
            pel_locals_return(worker);
        if (!going_on(reactor)) {
            if (!step_aside(reactor, worker, reactor->caller))
                return;
        } else if ((queue = pel_next_queue(reactor))) {
            if (!next_job(reactor, worker, queue))
                return;
        } else {
            if (reactor->phase == PEL_STOPPING && !reactor->parked_count)
                reactor->last_ticks--;
            if ((state = pel_tick(reactor, PEL_WAIT)) && (state = pel_interrupted(reactor, state)) &&
                NIL_P(pel_take_error(state))) /* otherwise a trap handler was cancelled while it waited */
                pel_rethrow(state);
        }
    }
}
