#include "reactor.h"

#include "../core/alloc.h"
#include "error.h"
#include "protect.h"

/* The queues of what is ready, and what becomes of a callback's error. */

/* ---- rings ---------------------------------------------------------------------------------------------------- */

/* By malloc, not by Ruby's allocator: enqueueing must not start the garbage collector, because what a job refers to is
 * marked by nobody at that moment. */
static int grow(struct pel_queue *queue)
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

/* Each parked fiber has its place, so that waking cannot fail. */
static int reserve(struct pel_reactor *reactor, struct pel_queue *queue)
{
    while (queue->count + reactor->parked_count >= queue->capacity)
        if (!grow(queue))
            return 0;
    return 1;
}

int pel_queues_reserve(struct pel_reactor *reactor)
{
    return reserve(reactor, &reactor->ready) && reserve(reactor, &reactor->due);
}

static void push(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_job job)
{
    *pel_queue_job(queue, queue->count++) = job;
    if (__atomic_load_n(&reactor->loop.waiting, __ATOMIC_RELAXED))
        pel_loop_wake(&reactor->loop);
}

static void enqueue(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_job job)
{
    if (!reserve(reactor, queue))
        rb_memerror();
    push(reactor, queue, job);
}

void pel_enqueue(struct pel_reactor *reactor, struct pel_job job)
{
    enqueue(reactor, &reactor->ready, job);
}

void pel_enqueue_due(struct pel_reactor *reactor, struct pel_job job)
{
    enqueue(reactor, &reactor->due, job);
}

void pel_queue_waiter(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_waiter *waiter)
{
    waiter->queued = 1;
    push(reactor, queue, (struct pel_job){.data = waiter});
}

static void leave_hole(struct pel_queue *queue, struct pel_waiter *waiter)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        struct pel_job *job = pel_queue_job(queue, i);
        if (!job->run && job->data == waiter)
            job->data = NULL; /* passed over when its turn comes */
    }
}

void pel_unqueue_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    if (!waiter->queued)
        return;
    waiter->queued = 0;
    leave_hole(&reactor->ready, waiter);
    leave_hole(&reactor->due, waiter);
}

struct pel_queue *pel_next_queue(struct pel_reactor *reactor)
{
    if (reactor->due.count && !reactor->due_over)
        return &reactor->due;
    /* Counted only now: what the timers of this tick made ready still belongs to it, and comes before the timers that
     * they armed. */
    if (reactor->batch_left == PEL_UNCOUNTED)
        reactor->batch_left = reactor->ready.count;
    return reactor->batch_left && reactor->ready.count ? &reactor->ready : NULL;
}

void pel_enqueue_first(struct pel_reactor *reactor, struct pel_job job)
{
    struct pel_queue *ready = &reactor->ready;

    if (!reserve(reactor, ready))
        rb_memerror();
    ready->head = (ready->head - 1) & (ready->capacity - 1);
    ready->count++;
    *pel_queue_job(ready, 0) = job;
    if (!reactor->ready_over && reactor->batch_left != PEL_UNCOUNTED)
        reactor->batch_left++;
}

static struct pel_job dequeue(struct pel_queue *queue)
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
    reactor->due_over = reactor->ready_over = 1;
}

/* The due jobs have their time first, then the ready ones have theirs. */
static void time_is_over(struct pel_reactor *reactor, struct pel_queue *queue)
{
    if (queue == &reactor->ready) {
        pel_end_batch(reactor);
        return;
    }
    reactor->due_over = 1;
    reactor->batch_end = pel_now() + PEL_BATCH_NS;
}

struct pel_job pel_take(struct pel_reactor *reactor, struct pel_queue *queue)
{
    struct pel_job job = dequeue(queue);

    if (queue == &reactor->ready && reactor->batch_left)
        reactor->batch_left--;
    if ((++reactor->jobs_run & 31) == 0 && pel_now() > reactor->batch_end)
        time_is_over(reactor, queue);
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
    return job->run || !job->data ? NULL : pel_take(reactor, queue).data;
}

static struct pel_waiter *first_waiter(struct pel_queue *queue)
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
    struct pel_waiter *waiter = first_waiter(&reactor->due);

    return waiter ? waiter : first_waiter(&reactor->ready);
}

static int hole(const struct pel_job *job)
{
    return !job->run && !job->data;
}

int pel_take_job(struct pel_reactor *reactor, int (*wanted)(const struct pel_job *job), struct pel_job *taken)
{
    struct pel_queue *ready = &reactor->ready;

    for (uint32_t i = 0; i < ready->count; i++) {
        struct pel_job *job = pel_queue_job(ready, i);
        if (!wanted(job))
            continue;
        *taken = *job;
        *job = (struct pel_job){.run = NULL};
        while (ready->count &&
               hole(pel_queue_job(ready, 0))) /* where nobody turns the loop, nobody passes over holes */
            dequeue(ready);
        return 1;
    }
    return 0;
}

static void mark(struct pel_queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        struct pel_job *job = pel_queue_job(queue, i);
        if (job->mark)
            job->mark(job->data);
    }
}

void pel_queues_mark(struct pel_reactor *reactor)
{
    mark(&reactor->ready);
    mark(&reactor->due);
}

static void drop(struct pel_queue *queue)
{
    while (queue->count) {
        struct pel_job job = dequeue(queue);
        if (job.drop)
            job.drop(job.data);
    }
}

void pel_queues_drop(struct pel_reactor *reactor)
{
    drop(&reactor->due);
    drop(&reactor->ready);
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

/* ---- errors of callbacks -------------------------------------------------------------------------------------- */

void pel_fail_run(struct pel_reactor *reactor, VALUE exception)
{
    if (NIL_P(reactor->fatal))
        reactor->fatal = exception;
    if (reactor->phase == PEL_RUNNING)
        reactor->phase = PEL_STOPPING;
}

/* Where no run would raise it, it is raised here. */
static void fail(struct pel_reactor *reactor, VALUE error)
{
    if (reactor->phase == PEL_IDLE)
        rb_exc_raise(error);
    pel_fail_run(reactor, error);
}

static VALUE call_on_error(VALUE error)
{
    return rb_funcall(pel_mPelton, rb_intern("report_error"), 1, error);
}

void pel_uncaught(struct pel_reactor *reactor, VALUE error)
{
    int state;

    if (rb_obj_is_kind_of(error, pel_eCancelled))
        return;
    if (!rb_obj_is_kind_of(error, rb_eStandardError) ||
        rb_obj_is_kind_of(error, rb_const_get(rb_cObject, rb_intern("UncaughtThrowError")))) {
        fail(reactor, error);
        return;
    }
    pel_protect(call_on_error, error, &state);
    if (state) {
        VALUE second = pel_take_error(state);
        if (NIL_P(second))
            pel_rethrow(state);
        fail(reactor, second);
    }
    RB_GC_GUARD(error);
}

VALUE pel_run_job(VALUE taken)
{
    struct pel_taken_job *one = (struct pel_taken_job *)taken;

    one->job.run(one->reactor, one->job.data);
    return Qnil;
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
