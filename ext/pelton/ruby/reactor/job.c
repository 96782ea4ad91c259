#include "ruby/reactor/reactor.h"

#include "core/base/alloc.h"

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
    while (queue->count + reactor->parked_count >= queue->capacity)
        if (!grow_queue(queue))
            return 0;
    return 1;
}

int pel_queues_reserve(struct pel_reactor *reactor)
{
    return reserve_slots(reactor, &reactor->ready) && reserve_slots(reactor, &reactor->due);
}

static void push_job(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_job job)
{
    *pel_queue_job(queue, queue->count++) = job;
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
    enqueue_job(reactor, &reactor->ready, job);
}

void pel_enqueue_due(struct pel_reactor *reactor, struct pel_job job)
{
    enqueue_job(reactor, &reactor->due, job);
}

void pel_enqueue_first(struct pel_reactor *reactor, struct pel_job job)
{
    struct pel_queue *ready = &reactor->ready;

    if (!reserve_slots(reactor, ready))
        rb_memerror();
    ready->head = (ready->head - 1) & (ready->capacity - 1);
    ready->count++;
    *pel_queue_job(ready, 0) = job;
    if (!reactor->ready_time_used && reactor->batch_left != PEL_UNCOUNTED)
        reactor->batch_left++;
}

void pel_queue_waiter(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_waiter *waiter)
{
    waiter->queued = 1;
    push_job(reactor, queue, (struct pel_job){.data = waiter});
}

/* ---- taking jobs off a queue ---------------------------------------------------------------------------------- */

struct pel_queue *pel_next_queue(struct pel_reactor *reactor)
{
    if (reactor->due.count && !reactor->due_time_used)
        return &reactor->due;
    /* The batch is counted only here, after the due jobs: ready jobs that this tick's timers have made still belong to
     * the tick, and run before the timers that they armed. */
    if (reactor->batch_left == PEL_UNCOUNTED)
        reactor->batch_left = reactor->ready.count;
    return reactor->batch_left && reactor->ready.count ? &reactor->ready : NULL;
}

static struct pel_job dequeue_job(struct pel_queue *queue)
{
    struct pel_job job = *pel_queue_job(queue, 0);

    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->count--;
    if (!job.run && job.data)
        ((struct pel_waiter *)job.data)->queued = 0;
    return job;
}

void pel_end_batch(struct pel_reactor *reactor)
{
    reactor->batch_left = reactor->handovers_left = 0;
    reactor->due_time_used = reactor->ready_time_used = 1;
}

/* Due jobs have their time first, then ready jobs have theirs. */
static void end_queue_time(struct pel_reactor *reactor, struct pel_queue *queue)
{
    if (queue == &reactor->ready) {
        pel_end_batch(reactor);
        return;
    }
    reactor->due_time_used = 1;
    reactor->batch_end = pel_now() + PEL_BATCH_NS;
}

struct pel_job pel_queue_take(struct pel_reactor *reactor, struct pel_queue *queue)
{
    struct pel_job job = dequeue_job(queue);

    if (queue == &reactor->ready && reactor->batch_left)
        reactor->batch_left--;
    if ((++reactor->jobs_run & 31) == 0 && pel_now() > reactor->batch_end)
        end_queue_time(reactor, queue);
    return job;
}

struct pel_waiter *pel_take_next_waiter(struct pel_reactor *reactor)
{
    struct pel_queue *queue = pel_next_queue(reactor);
    struct pel_job *job;

    if (!queue && reactor->handovers_left && reactor->ready.count) {
        queue = &reactor->ready;
        if ((--reactor->handovers_left & 7) == 0 && pel_now() > reactor->batch_end)
            reactor->handovers_left = 0;
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
    struct pel_waiter *waiter = take_first_waiter(&reactor->due);

    return waiter ? waiter : take_first_waiter(&reactor->ready);
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
    leave_gap(&reactor->ready, waiter);
    leave_gap(&reactor->due, waiter);
}

static int is_gap(const struct pel_job *job)
{
    return !job->run && !job->data;
}

int pel_take_matching_job(struct pel_reactor *reactor, int (*matches)(const struct pel_job *job), struct pel_job *taken)
{
    struct pel_queue *ready = &reactor->ready;

    for (uint32_t i = 0; i < ready->count; i++) {
        struct pel_job *job = pel_queue_job(ready, i);
        if (!matches(job))
            continue;
        *taken = *job;
        *job = (struct pel_job){.run = NULL};
        while (ready->count && is_gap(pel_queue_job(ready, 0))) /* no loop runner may be there to skip gaps */
            dequeue_job(ready);
        return 1;
    }
    return 0;
}

/* ---- all jobs ------------------------------------------------------------------------------------------------- */

static void mark_queue(struct pel_queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        struct pel_job *job = pel_queue_job(queue, i);
        if (job->mark)
            job->mark(job->data);
    }
}

void pel_queues_mark(struct pel_reactor *reactor)
{
    mark_queue(&reactor->ready);
    mark_queue(&reactor->due);
}

static void drop_queue(struct pel_queue *queue)
{
    while (queue->count) {
        struct pel_job job = dequeue_job(queue);
        if (job.drop)
            job.drop(job.data);
    }
}

void pel_queues_drop(struct pel_reactor *reactor)
{
    drop_queue(&reactor->due);
    drop_queue(&reactor->ready);
}

/* ---- blocks --------------------------------------------------------------------------------------------------- */

static void run_proc(struct pel_reactor *reactor, void *data)
{
    VALUE proc = (VALUE)data;

    rb_proc_call_with_block(proc, 0, NULL, Qnil);
    RB_GC_GUARD(proc);
}

static void mark_proc(void *data)
{
    rb_gc_mark((VALUE)data);
}

void pel_enqueue_proc(struct pel_reactor *reactor, VALUE proc)
{
    pel_enqueue(reactor, (struct pel_job){.run = run_proc, .mark = mark_proc, .data = (void *)proc});
}
