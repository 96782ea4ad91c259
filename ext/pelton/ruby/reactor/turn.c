#include "ruby/reactor/reactor.h"

#define GROUP_NS (1000 * 1000) /* the time of a group in a tick */
#define HANDOVERS 64           /* fibers that wake each other, beyond a tick's batch, before the next tick */

void pel_begin_batch(struct pel_reactor *reactor)
{
    struct pel_batch *batch = &reactor->batch;

    batch->group = PEL_DUE_JOBS;
    batch->end = reactor->loop.now + GROUP_NS;
    batch->left = PEL_UNCOUNTED;
    batch->handovers_left = HANDOVERS;
    batch->request_ran = 0;
}

void pel_end_batch(struct pel_reactor *reactor)
{
    reactor->batch.group = PEL_NO_JOBS;
    reactor->batch.handovers_left = 0;
}

/* ---- requests ------------------------------------------------------------------------------------------------- */

static int requests_p(const struct pel_reactor *reactor)
{
    return reactor->queues.begun.count || reactor->queues.arrived.count;
}

/* Where a request that has begun waits, a job may have taken so long that its event has come: the next tick tells. */
static int event_may_have_come(const struct pel_reactor *reactor)
{
    return reactor->parked.begun && pel_now() > reactor->batch.end;
}

static struct pel_queue *next_request_queue(struct pel_reactor *reactor)
{
    struct pel_queue *begun = &reactor->queues.begun, *arrived = &reactor->queues.arrived;
    struct pel_batch *batch = &reactor->batch;

    if (!requests_p(reactor) || (batch->request_ran && pel_now() > batch->end))
        return NULL;
    pel_count_measured_job(reactor);
    if (begun->count && pel_goes_first_p(reactor, begun->jobs)) {
        batch->postponed_in = 0;
        return begun;
    }
    /* For one tick: where each tick's other jobs take long, requests still begin. */
    if (!batch->request_ran && !batch->postponed_in && event_may_have_come(reactor))
        batch->postponed_in = reactor->tick.number;
    if (batch->postponed_in == reactor->tick.number)
        return NULL;
    batch->postponed_in = 0;
    return pel_held_until(reactor) ? NULL : arrived;
}

uint32_t pel_arrived_requests(const struct pel_reactor *reactor)
{
    return reactor->queues.arrived.count;
}

int pel_may_begin(struct pel_reactor *reactor)
{
    return !requests_p(reactor) && !event_may_have_come(reactor) && !pel_held_until(reactor);
}

/* ---- the next job --------------------------------------------------------------------------------------------- */

int pel_can_run_p(struct pel_reactor *reactor)
{
    const struct pel_queues *queues = &reactor->queues;

    return queues->due.count || queues->ready.count || queues->begun.count ||
           (queues->arrived.count && !pel_held_until(reactor));
}

struct pel_queue *pel_next_queue(struct pel_reactor *reactor)
{
    struct pel_batch *batch = &reactor->batch;
    struct pel_queues *queues = &reactor->queues;

    switch (batch->group) {
    case PEL_DUE_JOBS:
        if (queues->due.count)
            return &queues->due;
        batch->group = PEL_READY_JOBS;
        /* fall through */
    case PEL_READY_JOBS:
        /* They are counted only here, after the due jobs: ready jobs that this tick's timers have made still belong to
         * the tick, and run before the timers that they armed. */
        if (batch->left == PEL_UNCOUNTED)
            batch->left = queues->ready.count;
        if (batch->left && queues->ready.count)
            return &queues->ready;
        batch->group = PEL_REQUESTS;
        /* fall through */
    case PEL_REQUESTS:
        return next_request_queue(reactor);
    case PEL_NO_JOBS:
        break;
    }
    return NULL;
}

/* The due jobs or the ready jobs have had their time. The requests' time begins with their first job. */
static void end_turn(struct pel_batch *batch)
{
    if (batch->group == PEL_DUE_JOBS) {
        batch->group = PEL_READY_JOBS;
        batch->end = pel_now() + GROUP_NS;
    } else {
        batch->group = PEL_REQUESTS;
        batch->handovers_left = 0;
    }
}

struct pel_job pel_take_job(struct pel_reactor *reactor, struct pel_queue *queue)
{
    struct pel_batch *batch = &reactor->batch;
    struct pel_job job = pel_dequeue(reactor, queue);

    batch->jobs_run++;
    if (queue == &reactor->queues.begun || queue == &reactor->queues.arrived) {
        if (!batch->request_ran)
            batch->end = pel_now() + GROUP_NS;
        batch->request_ran = 1;
        pel_measure_job(reactor, &job);
        return job;
    }
    if (batch->group == PEL_READY_JOBS)
        batch->left--;
    if (((batch->jobs_run & 31) == 0 || requests_p(reactor)) && pel_now() > batch->end)
        end_turn(batch);
    return job;
}

struct pel_waiter *pel_take_next_waiter(struct pel_reactor *reactor)
{
    struct pel_queue *queue = pel_next_queue(reactor);
    struct pel_batch *batch = &reactor->batch;
    struct pel_job *job;

    if (!queue && batch->handovers_left && reactor->queues.ready.count) {
        queue = &reactor->queues.ready;
        if ((--batch->handovers_left & 7) == 0 && pel_now() > batch->end)
            batch->handovers_left = 0;
    }
    if (!queue)
        return NULL;
    job = pel_queue_job(queue, 0);
    return job->run || !job->data ? NULL : pel_take_job(reactor, queue).data;
}
