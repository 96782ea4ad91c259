#include "ruby/reactor/reactor.h"

#include "core/base/alloc.h"
#include "ruby/reactor/job.h"

#define BATCH_NS (1000 * 1000) /* the time that a tick gives to due jobs, and again to ready jobs */
#define HANDOVERS 64           /* fibers that wake each other, beyond a tick's batch, before the next tick */

/* ---- putting jobs on a queue ---------------------------------------------------------------------------------- */

/* Uses malloc, not Ruby's allocator: enqueueing must not start the garbage collector, because at that moment nothing
 * marks the objects that the job refers to. */
static int grow_queue(struct pel_queue *queue)
{
    uint32_t capacity = queue->capacity ? queue->capacity * 2 : 64;
    struct pel_job *jobs = pel_malloc(capacity * sizeof *jobs);

    if (!jobs)
        return 0;
    for (uint32_t i = 0; i < queue->count; i++)
        jobs[i] = *pel_queue_job(queue, i);
    pel_free(queue->jobs);
    queue->jobs = jobs;
    queue->head = 0;
    queue->capacity = capacity;
    return 1;
}

/* Each parked fiber has its slot, so that waking it cannot fail. */
static int reserve_slots(struct pel_reactor *reactor, struct pel_queue *queue)
{
    while (queue->count + reactor->parked.count >= queue->capacity)
        if (!grow_queue(queue))
            return 0;
    return 1;
}

int pel_queues_reserve(struct pel_reactor *reactor)
{
    return reserve_slots(reactor, &reactor->queues.ready) && reserve_slots(reactor, &reactor->queues.due) &&
           reserve_slots(reactor, &reactor->queues.begun);
}

static void push_job(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_job job)
{
    if (queue == &reactor->queues.begun) {
        job.turn = pel_turn_of(reactor, &job);
        job.order = reactor->queues.ranked++;
        pel_heap_push(queue, job);
    } else {
        *pel_queue_job(queue, queue->count++) = job;
    }
    if (__atomic_load_n(&reactor->loop.waiting, __ATOMIC_RELAXED))
        pel_loop_wake(&reactor->loop);
}

static void enqueue_job(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_job job)
{
    if (!reserve_slots(reactor, queue))
        rb_memerror();
    push_job(reactor, queue, job);
}

void pel_enqueue(struct pel_reactor *reactor, struct pel_job job)
{
    struct pel_queue *queue = job.rank.began     ? &reactor->queues.begun
                              : job.rank.arrived ? &reactor->queues.arrived
                                                 : &reactor->queues.ready;

    enqueue_job(reactor, queue, job);
}

void pel_enqueue_due(struct pel_reactor *reactor, struct pel_job job)
{
    enqueue_job(reactor, &reactor->queues.due, job);
}

void pel_enqueue_first(struct pel_reactor *reactor, struct pel_job job)
{
    struct pel_queue *ready = &reactor->queues.ready;

    if (!reserve_slots(reactor, ready))
        rb_memerror();
    ready->head = (ready->head - 1) & (ready->capacity - 1);
    ready->count++;
    *pel_queue_job(ready, 0) = job;
    if (!reactor->batch.ready_time_used && reactor->batch.left != PEL_UNCOUNTED)
        reactor->batch.left++;
}

void pel_queue_waiter(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_waiter *waiter)
{
    waiter->queued = 1;
    push_job(reactor, queue, (struct pel_job){.data = waiter, .rank = waiter->rank});
}

/* ---- taking jobs off a queue ---------------------------------------------------------------------------------- */

static int requests_p(const struct pel_reactor *reactor)
{
    return reactor->queues.begun.count || reactor->queues.arrived.count;
}

void pel_begin_request(struct pel_reactor *reactor, int64_t arrived)
{
    int64_t now = reactor->loop.now;

    reactor->batch.last_began = now > reactor->batch.last_began ? now : reactor->batch.last_began + 1;
    reactor->rank = (struct pel_rank){.arrived = arrived, .began = reactor->batch.last_began};
}

void pel_leave_request(struct pel_reactor *reactor)
{
    reactor->rank = (struct pel_rank){.arrived = 0};
}

/* Where a request that has begun waits, a job may have taken so long that its event has come: the next tick tells. */
static int event_may_have_come(const struct pel_reactor *reactor)
{
    return reactor->parked.begun && pel_now() > reactor->batch.end;
}

int pel_can_run_p(struct pel_reactor *reactor)
{
    const struct pel_queues *queues = &reactor->queues;

    return queues->due.count || queues->ready.count || queues->begun.count ||
           (queues->arrived.count && !pel_held_until(reactor));
}

int pel_may_begin(struct pel_reactor *reactor)
{
    return !requests_p(reactor) && !event_may_have_come(reactor) && !pel_held_until(reactor);
}

static struct pel_queue *next_request_queue(struct pel_reactor *reactor)
{
    struct pel_queue *begun = &reactor->queues.begun, *arrived = &reactor->queues.arrived;

    if (!requests_p(reactor) || reactor->batch.requests_time_used ||
        (reactor->batch.request_ran && pel_now() > reactor->batch.end))
        return NULL;
    pel_count_measured_job(reactor);
    if (begun->count && pel_goes_first_p(reactor, begun->jobs)) {
        reactor->batch.put_off_in = 0;
        return begun;
    }
    /* For one tick: where each tick's other jobs take long, requests still begin. */
    if (!reactor->batch.request_ran && !reactor->batch.put_off_in && event_may_have_come(reactor))
        reactor->batch.put_off_in = reactor->tick.number;
    if (reactor->batch.put_off_in == reactor->tick.number)
        return NULL;
    reactor->batch.put_off_in = 0;
    return pel_held_until(reactor) ? NULL : arrived;
}

struct pel_queue *pel_next_queue(struct pel_reactor *reactor)
{
    if (reactor->queues.due.count && !reactor->batch.due_time_used)
        return &reactor->queues.due;
    /* The batch is counted only here, after the due jobs: ready jobs that this tick's timers have made still belong to
     * the tick, and run before the timers that they armed. */
    if (reactor->batch.left == PEL_UNCOUNTED)
        reactor->batch.left = reactor->queues.ready.count;
    if (reactor->batch.left && reactor->queues.ready.count)
        return &reactor->queues.ready;
    return next_request_queue(reactor);
}

static struct pel_job dequeue_job(struct pel_reactor *reactor, struct pel_queue *queue)
{
    struct pel_job job = *pel_queue_job(queue, 0);

    if (queue == &reactor->queues.begun) {
        pel_heap_remove_first(queue);
    } else {
        queue->head = (queue->head + 1) & (queue->capacity - 1);
        queue->count--;
    }
    if (!job.run && job.data)
        ((struct pel_waiter *)job.data)->queued = 0;
    return job;
}

void pel_begin_batch(struct pel_reactor *reactor)
{
    struct pel_batch *batch = &reactor->batch;

    batch->left = PEL_UNCOUNTED;
    batch->handovers_left = HANDOVERS;
    batch->end = reactor->loop.now + BATCH_NS;
    batch->due_time_used = batch->ready_time_used = batch->requests_time_used = batch->request_ran = 0;
}

void pel_end_batch(struct pel_reactor *reactor)
{
    reactor->batch.left = reactor->batch.handovers_left = 0;
    reactor->batch.due_time_used = reactor->batch.ready_time_used = reactor->batch.requests_time_used = 1;
}

/* Due jobs have their time first, then ready jobs have theirs, then requests. */
static void end_queue_time(struct pel_reactor *reactor, struct pel_queue *queue)
{
    if (queue == &reactor->queues.due) {
        reactor->batch.due_time_used = 1;
        reactor->batch.end = pel_now() + BATCH_NS;
    } else {
        reactor->batch.left = reactor->batch.handovers_left = 0;
        reactor->batch.ready_time_used = 1;
    }
}

struct pel_job pel_queue_take(struct pel_reactor *reactor, struct pel_queue *queue)
{
    struct pel_job job = dequeue_job(reactor, queue);

    if (queue == &reactor->queues.ready && reactor->batch.left)
        reactor->batch.left--;
    reactor->batch.jobs_run++;
    if (queue == &reactor->queues.begun || queue == &reactor->queues.arrived) {
        if (!reactor->batch.request_ran)
            reactor->batch.end = pel_now() + BATCH_NS;
        reactor->batch.request_ran = 1;
        pel_measure_job(reactor, &job);
    } else if (((reactor->batch.jobs_run & 31) == 0 || requests_p(reactor)) && pel_now() > reactor->batch.end) {
        end_queue_time(reactor, queue);
    }
    return job;
}

struct pel_waiter *pel_take_next_waiter(struct pel_reactor *reactor)
{
    struct pel_queue *queue = pel_next_queue(reactor);
    struct pel_job *job;

    if (!queue && reactor->batch.handovers_left && reactor->queues.ready.count) {
        queue = &reactor->queues.ready;
        if ((--reactor->batch.handovers_left & 7) == 0 && pel_now() > reactor->batch.end)
            reactor->batch.handovers_left = 0;
    }
    if (!queue)
        return NULL;
    job = pel_queue_job(queue, 0);
    return job->run || !job->data ? NULL : pel_queue_take(reactor, queue).data;
}

static struct pel_waiter *take_first_waiter(struct pel_queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        struct pel_job *job = pel_queue_job(queue, i);
        struct pel_waiter *waiter = job->run ? NULL : job->data;
        if (!waiter)
            continue;
        job->data = NULL;
        waiter->queued = 0;
        return waiter;
    }
    return NULL;
}

struct pel_waiter *pel_take_any_waiter(struct pel_reactor *reactor)
{
    struct pel_waiter *waiter = take_first_waiter(&reactor->queues.due);

    if (!waiter)
        waiter = take_first_waiter(&reactor->queues.ready);
    return waiter ? waiter : take_first_waiter(&reactor->queues.begun);
}

static void leave_gap(struct pel_queue *queue, struct pel_waiter *waiter)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        struct pel_job *job = pel_queue_job(queue, i);
        if (!job->run && job->data == waiter)
            job->data = NULL; /* a gap, which is skipped when it is first on the queue */
    }
}

void pel_unqueue_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    if (!waiter->queued)
        return;
    waiter->queued = 0;
    leave_gap(&reactor->queues.ready, waiter);
    leave_gap(&reactor->queues.due, waiter);
    leave_gap(&reactor->queues.begun, waiter);
}

static int is_gap(const struct pel_job *job)
{
    return !job->run && !job->data;
}

int pel_take_matching_job(struct pel_reactor *reactor, int (*matches)(const struct pel_job *job), struct pel_job *taken)
{
    struct pel_queue *ready = &reactor->queues.ready;

    for (uint32_t i = 0; i < ready->count; i++) {
        struct pel_job *job = pel_queue_job(ready, i);
        if (!matches(job))
            continue;
        *taken = *job;
        *job = (struct pel_job){.run = NULL};
        while (ready->count && is_gap(pel_queue_job(ready, 0))) /* no loop runner may be there to skip gaps */
            dequeue_job(reactor, ready);
        return 1;
    }
    return 0;
}

/* ---- all jobs ------------------------------------------------------------------------------------------------- */

static void mark_queue(struct pel_queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        struct pel_job *job = pel_queue_job(queue, i);
        if (job->object == PEL_OPERATION_JOB)
            pel_operation_hooks.mark_job(job);
        else if (job->object)
            rb_gc_mark(job->object);
    }
}

void pel_queues_mark(struct pel_reactor *reactor)
{
    mark_queue(&reactor->queues.due);
    mark_queue(&reactor->queues.ready);
    mark_queue(&reactor->queues.begun);
    mark_queue(&reactor->queues.arrived);
}

static void drop_queue(struct pel_reactor *reactor, struct pel_queue *queue)
{
    while (queue->count) {
        struct pel_job job = dequeue_job(reactor, queue);
        if (job.drop)
            job.drop(job.data);
    }
}

void pel_queues_drop(struct pel_reactor *reactor)
{
    drop_queue(reactor, &reactor->queues.due);
    drop_queue(reactor, &reactor->queues.ready);
    drop_queue(reactor, &reactor->queues.begun);
    drop_queue(reactor, &reactor->queues.arrived);
}

/* ---- blocks --------------------------------------------------------------------------------------------------- */

static void run_proc(struct pel_reactor *reactor, void *data)
{
    rb_proc_call_with_block((VALUE)data, 0, NULL, Qnil);
}

void pel_enqueue_proc(struct pel_reactor *reactor, VALUE proc)
{
    pel_enqueue(reactor, (struct pel_job){.run = run_proc, .data = (void *)proc, .object = proc});
}
