#include "ruby/reactor/reactor.h"

/* ---- putting jobs on a queue ---------------------------------------------------------------------------------- */

/* Each parked fiber has its slot, so that waking it cannot fail. */
static int reserve_slots(struct pel_reactor *reactor, struct pel_queue *queue)
{
    return pel_queue_reserve(queue, reactor->parked.count);
}

int pel_queues_reserve(struct pel_reactor *reactor)
{
    return reserve_slots(reactor, &reactor->queues.ready) && reserve_slots(reactor, &reactor->queues.due) &&
           reserve_slots(reactor, &reactor->queues.begun);
}

static void push_job(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_job job)
{
    if (queue == &reactor->queues.begun) {
        job.key = pel_rank_key(reactor, &job);
        pel_heap_push(queue, job);
    } else {
        pel_queue_push(queue, &job);
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
    pel_queue_push_front(ready, &job);
    if (reactor->batch.group == PEL_READY_JOBS)
        reactor->batch.left++;
}

void pel_queue_waiter(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_waiter *waiter)
{
    waiter->queued = 1;
    push_job(reactor, queue, (struct pel_job){.data = waiter, .rank = waiter->rank});
}

/* ---- taking jobs off a queue ---------------------------------------------------------------------------------- */

struct pel_job pel_dequeue(struct pel_reactor *reactor, struct pel_queue *queue)
{
    struct pel_job job = *pel_queue_job(queue, 0);

    if (queue == &reactor->queues.begun)
        pel_heap_pop(queue);
    else
        pel_queue_pop(queue);
    if (!job.run && job.data)
        ((struct pel_waiter *)job.data)->queued = 0;
    return job;
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
            pel_dequeue(reactor, ready);
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
        struct pel_job job = pel_dequeue(reactor, queue);
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

void pel_queues_free(struct pel_queues *queues)
{
    pel_queue_free(&queues->due);
    pel_queue_free(&queues->ready);
    pel_queue_free(&queues->begun);
    pel_queue_free(&queues->arrived);
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
