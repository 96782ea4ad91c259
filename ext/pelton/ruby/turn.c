#include "reactor.h"

#include "../core/alloc.h"
#include "error.h"
#include "gvl.h"
#include "protect.h"

/*
 * Turning the loop. A tick: alarms that are due, the jobs that were ready when the tick began, one flush of all that
 * was written, one wait, the events it brought. All state of a tick lives in the reactor, because any job may park and
 * leave the rest of the tick to another worker.
 */

/* ---- the ready queue ------------------------------------------------------------------------------------------ */

/* By malloc, not by Ruby's allocator: enqueueing must not start the garbage collector, because what a job refers to is
 * marked by nobody at that moment. */
static void grow_jobs(struct pel_reactor *reactor)
{
    uint32_t capacity = reactor->job_capacity ? reactor->job_capacity * 2 : 64;
    struct pel_job *jobs = pel_malloc(capacity * sizeof *jobs);

    if (!jobs)
        rb_memerror();
    for (uint32_t i = 0; i < reactor->job_count; i++)
        jobs[i] = reactor->jobs[(reactor->job_head + i) & (reactor->job_capacity - 1)];
    pel_free(reactor->jobs);
    reactor->jobs = jobs;
    reactor->job_head = 0;
    reactor->job_capacity = capacity;
}

void pel_enqueue(struct pel_reactor *reactor, struct pel_job job)
{
    if (reactor->job_count == reactor->job_capacity)
        grow_jobs(reactor);
    reactor->jobs[(reactor->job_head + reactor->job_count++) & (reactor->job_capacity - 1)] = job;
    if (__atomic_load_n(&reactor->loop.waiting, __ATOMIC_RELAXED))
        pel_loop_wake(&reactor->loop);
}

void pel_enqueue_first(struct pel_reactor *reactor, struct pel_job job)
{
    reactor->job_head = (reactor->job_head - 1) & (reactor->job_capacity - 1);
    reactor->jobs[reactor->job_head] = job;
    reactor->job_count++;
    reactor->batch_left++;
}

struct pel_job pel_dequeue(struct pel_reactor *reactor)
{
    struct pel_job job = reactor->jobs[reactor->job_head];

    reactor->job_head = (reactor->job_head + 1) & (reactor->job_capacity - 1);
    reactor->job_count--;
    if (!job.run && job.data)
        ((struct pel_waiter *)job.data)->queued = 0;
    return job;
}

static void run_proc(struct pel_reactor *reactor, void *data)
{
    rb_proc_call_with_block((VALUE)data, 0, NULL, Qnil);
}

static void mark_proc(void *data)
{
    rb_gc_mark((VALUE)data);
}

void pel_enqueue_proc(struct pel_reactor *reactor, VALUE proc)
{
    pel_enqueue(reactor, (struct pel_job){.run = run_proc, .mark = mark_proc, .data = (void *)proc});
}

/* ---- errors of callbacks -------------------------------------------------------------------------------------- */

void pel_fail_run(struct pel_reactor *reactor, VALUE exception)
{
    if (NIL_P(reactor->fatal))
        reactor->fatal = exception;
    if (reactor->phase == PEL_RUNNING)
        reactor->phase = PEL_STOPPING;
}

struct report {
    struct pel_reactor *reactor;
    VALUE error;
};

static VALUE call_on_error(VALUE argument)
{
    struct report *report = (struct report *)argument;
    return rb_funcall(pel_mPelton, rb_intern("report_error"), 1, report->error);
}

void pel_uncaught(struct pel_reactor *reactor, VALUE error)
{
    struct report report = {.reactor = reactor, .error = error};
    int state;

    if (rb_obj_is_kind_of(error, pel_eCancelled))
        return;
    if (!rb_obj_is_kind_of(error, rb_eStandardError)) {
        pel_fail_run(reactor, error);
        return;
    }
    pel_protect(call_on_error, (VALUE)&report, &state);
    if (state) {
        VALUE second = pel_take_error(state);
        if (NIL_P(second))
            pel_rethrow(state);
        pel_fail_run(reactor, second);
    }
    RB_GC_GUARD(report.error);
}

void pel_dispatch(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument)
{
    VALUE error;
    int state;

    pel_protect(function, argument, &state);
    if (!state)
        return;
    error = pel_take_error(state);
    if (NIL_P(error))
        pel_rethrow(state);
    pel_uncaught(reactor, error);
}

/* ---- one tick ------------------------------------------------------------------------------------------------- */

void pel_flush_later(struct pel_reactor *reactor, struct pel_stream *stream)
{
    if (stream->queued)
        return;
    stream->queued = 1;
    stream->next_flush = reactor->flush_list;
    reactor->flush_list = stream;
}

void pel_flush_forget(struct pel_reactor *reactor, struct pel_stream *stream)
{
    struct pel_stream **link = &reactor->flush_list;

    if (!stream->queued)
        return;
    while (*link != stream)
        link = &(*link)->next_flush;
    *link = stream->next_flush;
    stream->queued = 0;
}

static void flush_all(struct pel_reactor *reactor)
{
    while (reactor->flush_list) {
        struct pel_stream *stream = reactor->flush_list;
        reactor->flush_list = stream->next_flush;
        stream->queued = 0;
        if (pel_stream_flush(stream) < 0)
            stream->on_ready(stream, PEL_READABLE | PEL_WRITABLE | PEL_HANGUP);
    }
}

static VALUE dispatch_events(VALUE argument)
{
    struct pel_loop *loop = (struct pel_loop *)argument;

    while (pel_loop_dispatch(loop))
        ;
    return Qnil;
}

static VALUE take_interrupts(VALUE argument)
{
    (void)argument;
    rb_thread_check_ints();
    return Qnil;
}

char *pel_hot_buffer(struct pel_reactor *reactor)
{
    if (!reactor->hot_buffer)
        reactor->hot_buffer = ALLOC_N(char, PEL_HOT_BUFFER);
    return reactor->hot_buffer;
}

/* Looks again and again, as long as the operation that is waited for was found to gain by it (core/spin.h). */
static void spin(struct pel_reactor *reactor, int64_t end)
{
    struct pel_loop *loop = &reactor->loop;

    do
        pel_loop_wait(loop, 0);
    while (loop->event_count == 0 && loop->now < end);
}

int pel_tick(struct pel_reactor *reactor, enum pel_patience patience)
{
    struct pel_loop *loop = &reactor->loop;
    int64_t timeout = 0, before = 0;
    int state;

    reactor->turns++;
    if (patience != PEL_INSIST)
        pel_step(reactor);
    flush_all(reactor);
    if (patience == PEL_INSIST || (patience == PEL_WAIT && !reactor->job_count)) {
        before = pel_now();
        timeout = pel_loop_timeout(loop, before);
    }
    /* While other threads want the GVL, a look that keeps it comes first: giving it away may cost a whole time slice.
     */
    if (timeout == 0 || !rb_thread_alone())
        pel_loop_wait(loop, 0);
    if (timeout != 0 && reactor->spin_ns && loop->event_count == 0)
        spin(reactor, before + (timeout < reactor->spin_ns ? timeout : reactor->spin_ns));
    reactor->spin_ns = 0;
    if (timeout != 0 && loop->event_count == 0) {
        /* A fiber that blocks the thread while others are ready keeps the loop, although it waits. */
        int rests = !reactor->job_count && !pel_timers_peek(&loop->timers);
        if (rests && pel_watch_rest(&reactor->watch))
            pel_end_stall(reactor);
        pel_gvl_wait(loop, timeout);
        if (rests)
            pel_watch_wake(&reactor->watch);
        reactor->idle_ns += loop->now - before;
    }
    do
        pel_protect(dispatch_events, (VALUE)loop, &state); /* a failed allocation costs one event, not the rest */
    while (state && !NIL_P(pel_take_error(state)));
    if (state)
        return state;
    pel_timers_expire(&loop->timers, loop->now);
    reactor->batch_left = reactor->job_count;
    reactor->handovers_left = PEL_HANDOVERS;
    reactor->batch_end = loop->now + PEL_BATCH_NS;
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

struct run_job {
    struct pel_reactor *reactor;
    struct pel_job job;
};

static VALUE run_job(VALUE argument)
{
    struct run_job *run = (struct run_job *)argument;

    run->job.run(run->reactor, run->job.data);
    return Qnil;
}

static VALUE ring_alarm(VALUE argument)
{
    struct run_job *run = (struct run_job *)argument;
    struct pel_alarm *alarm = run->job.data;

    alarm->ring(run->reactor, alarm);
    return Qnil;
}

/* Puts the worker into the pool and goes to another fiber. When it comes back, the worker is the turner again. A pool
 * that is full lets the worker go: nobody refers to its fiber any more, and the garbage collector takes it. */
static void step_aside(struct pel_reactor *reactor, struct pel_worker *worker, VALUE fiber)
{
    int retires = reactor->idle_count >= PEL_IDLE_WORKERS, state;

    if (retires) {
        pel_forget_worker(reactor, worker);
        xfree(reactor->retired); /* the one before, which has left for certain */
        reactor->retired = worker;
    } else {
        pel_pool_worker(reactor, worker);
    }
    state = pel_switch(reactor, fiber);
    if (state) {
        VALUE error = pel_take_error(state);
        /* The switch failed, or a stranger raised into a pooled worker. */
        if (retires) {
            reactor->retired = NULL;
            pel_remember_worker(reactor, worker);
        } else {
            pel_unpool_worker(reactor, worker);
        }
        if (NIL_P(error))
            pel_rethrow(state);
        pel_uncaught(reactor, error);
    }
}

static void next_job(struct pel_reactor *reactor, struct pel_worker *worker)
{
    struct run_job run = {.reactor = reactor, .job = pel_dequeue(reactor)};

    reactor->batch_left--;
    if ((++reactor->jobs_run & 31) == 0 && pel_now() > reactor->batch_end)
        reactor->batch_left = 0;
    if (run.job.run)
        pel_dispatch(reactor, run_job, (VALUE)&run);
    else if (run.job.data)
        step_aside(reactor, worker, ((struct pel_waiter *)run.job.data)->fiber);
}

static void ring_end_of_grace(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    (void)alarm;
    reactor->phase = PEL_LEAVING;
}

static VALUE stop_listed(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;

    while (reactor->listed.next != &reactor->listed) {
        struct pel_listed *listed = reactor->listed.next;
        pel_list_remove(reactor, listed);
        if (listed->stop)
            listed->stop(reactor, listed);
    }
    return Qnil;
}

/* Cancels every parked fiber, once. Fibers that their ensure blocks park again may take the grace time. */
static void begin_to_stop(struct pel_reactor *reactor)
{
    struct pel_waiter *waiter;

    reactor->grace_deadline = pel_now() + reactor->grace;
    reactor->grace_alarm.ring = ring_end_of_grace;
    pel_timer_add(&reactor->loop.timers, &reactor->grace_alarm.timer, reactor->grace_deadline);
    pel_dispatch(reactor, stop_listed, (VALUE)reactor);
    for (waiter = reactor->parked.next; waiter != &reactor->parked; waiter = waiter->next) {
        if (waiter->cancelled || waiter->exception != Qfalse)
            continue;
        waiter->cancelled = 1;
        waiter->exception = rb_exc_new_cstr(pel_eCancelled, "the reactor stops");
        pel_waiter_fire(reactor, waiter);
    }
}

static int nothing_left(struct pel_reactor *reactor)
{
    return !reactor->parked_count && !reactor->job_count && !reactor->references &&
           !pel_timers_peek(&reactor->loop.timers);
}

/* Whether the turner may go on; otherwise it goes back to run's caller. */
static int going_on(struct pel_reactor *reactor)
{
    if (reactor->phase == PEL_RUNNING && nothing_left(reactor) && !reactor->flush_list)
        reactor->phase = PEL_STOPPING;
    if (reactor->phase == PEL_STOPPING) {
        if (!reactor->grace_deadline)
            begin_to_stop(reactor);
        if (!reactor->parked_count && !reactor->job_count)
            reactor->phase = PEL_LEAVING;
    }
    return reactor->phase == PEL_RUNNING || reactor->phase == PEL_STOPPING;
}

void pel_turn(struct pel_reactor *reactor, struct pel_worker *worker)
{
    /* After each dispatch back to the top: whatever ran may have parked, stopped the reactor, or emptied the queue. */
    for (;;) {
        int state;
        reactor->current_worker = worker;
        worker->task = NULL;
        pel_step(reactor);
        if (!going_on(reactor)) {
            step_aside(reactor, worker, reactor->caller);
        } else if (pel_ring_alarms(reactor)) {
            struct run_job run = {.reactor = reactor, .job.data = pel_timers_pop(&reactor->loop.timers)};
            pel_dispatch(reactor, ring_alarm, (VALUE)&run);
        } else if (reactor->batch_left && reactor->job_count) {
            next_job(reactor, worker);
        } else if ((state = pel_tick(reactor, nothing_left(reactor) ? PEL_LOOK : PEL_WAIT)) &&
                   (state = pel_interrupted(reactor, state))) {
            pel_rethrow(state);
        }
    }
}
