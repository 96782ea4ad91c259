#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

/* The loop runner: the worker that runs jobs while there are any, and otherwise makes the loop's next tick. */

static int stop_again(struct pel_reactor *reactor)
{
    if (!reactor->parked.count)
        return 0;
    reactor->phase = PEL_STOPPING;
    reactor->grace.deadline = 0;
    return 1;
}

/* Puts the worker into the pool and switches to another fiber. 1 when the worker is the loop runner again, 0 when it
 * must end. */
static int step_aside(struct pel_reactor *reactor, struct pel_worker *worker, VALUE fiber)
{
    int state, away;

    pel_worker_pool_put(&reactor->workers, worker);
    away = pel_switch(reactor, fiber, &state);
    /* If the worker is still in the pool, either the switch failed, because the fiber has resumed another one; or code
     * outside Pelton has transferred or raised here, and its own fiber is lost. Either way only this worker runs now.
     */
    if (worker->idle)
        pel_worker_pool_remove(&reactor->workers, worker);
    if (state) {
        VALUE error = pel_take_error(state);
        if (NIL_P(error) || reactor->phase == PEL_IDLE)
            NIL_P(error) ? pel_rethrow(state) : rb_exc_raise(error);
        if (away)
            pel_uncaught(reactor, error);
        else if (reactor->phase == PEL_LEAVING) /* run's caller waits in a trap handler; or it is dead (outside run) */
            return stop_again(reactor);
    }
    return reactor->phase != PEL_IDLE;
}

/* 0 when the worker must end. */
static int run_next_job(struct pel_reactor *reactor, struct pel_worker *worker, struct pel_queue *queue)
{
    struct pel_taken_job taken = {.reactor = reactor};
    struct pel_job *next = pel_queue_job(queue, 0);

    /* The pool is full, so this worker ends. Its fiber lands in run's caller, which hands the loop over to the waiter
     * that is ready. */
    if (!next->run && next->data && reactor->workers.idle_count >= PEL_IDLE_WORKERS && reactor->phase == PEL_RUNNING)
        return 0;
    taken.job = pel_take_job(reactor, queue);
    if (taken.job.run) {
        reactor->rank = taken.job.rank;
        pel_dispatch(reactor, pel_run_job, (VALUE)&taken);
        pel_leave_request(reactor);
        pel_pending_exception_drop(worker->fiber);
    } else if (taken.job.data) {
        return step_aside(reactor, worker, ((struct pel_waiter *)taken.job.data)->fiber);
    }
    return 1;
}

/* Advances the phase. 1 while the loop must go on; 0 when the loop runner must go back to run's caller. */
static int goes_on(struct pel_reactor *reactor)
{
    if (pel_loop_inherited(&reactor->loop))
        reactor->phase = PEL_LEAVING;
    if (reactor->phase == PEL_RUNNING && pel_nothing_left(reactor) && !pel_operation_hooks.report_failures(reactor))
        reactor->phase = PEL_STOPPING;
    if (reactor->phase == PEL_STOPPING) {
        if (!reactor->grace.deadline)
            pel_begin_to_stop(reactor);
        if (!reactor->parked.count && (!pel_jobs_p(reactor) || !reactor->grace.last_ticks_left))
            reactor->phase = PEL_LEAVING;
    }
    return reactor->phase == PEL_RUNNING || reactor->phase == PEL_STOPPING;
}

void pel_run_loop(struct pel_reactor *reactor, struct pel_worker *worker)
{
    /* After each job the loop begins again at the top: the job may have parked, stopped the reactor, or emptied the
     * queue. */
    for (;;) {
        struct pel_queue *queue;
        int state;
        reactor->workers.current = worker;
        pel_note_progress(reactor);
        if (reactor->locals.mode && worker->saved_locals)
            pel_locals_return(worker);
        if (!goes_on(reactor)) {
            if (!step_aside(reactor, worker, reactor->run.caller))
                return;
        } else if ((queue = pel_next_queue(reactor))) {
            if (!run_next_job(reactor, worker, queue))
                return;
        } else {
            if (reactor->phase == PEL_STOPPING && !reactor->parked.count)
                reactor->grace.last_ticks_left--;
            if ((state = pel_tick(reactor, PEL_WAIT)) && (state = pel_interrupt_run(reactor, state)) &&
                NIL_P(pel_take_error(state))) /* an exception means that a trap handler was cancelled while it waited */
                pel_rethrow(state);
        }
    }
}
