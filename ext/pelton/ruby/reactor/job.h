#pragma once

#include <ruby.h>
#include <stdint.h>

/*
 * The rank of work that is done for a request, or for anything else that is begun and should end soon: when it arrived,
 * and when it began, by the loop's clock. Fibers keep it while they wait, and tasks inherit it. All zero: the work
 * belongs to no request. began is zero while the request has not begun.
 */
struct pel_rank {
    int64_t arrived, began;
};

/*
 * Jobs are work that is ready to run on the loop runner's fiber, or fibers that are ready to go on. They stand on one
 * of four queues, which have their turns in this order: `due` holds jobs that a timer made ready, in the order of the
 * deadlines; `ready` holds what belongs to no request; `begun` holds what belongs to requests that have begun, the
 * oldest first; `arrived` holds requests that have not begun. Include reactor.h.
 */

struct pel_reactor;
struct pel_waiter;

struct pel_job {
    void (*run)(struct pel_reactor *reactor, void *data); /* may call Ruby, raise, and park. NULL: data is a waiter */
    void (*drop)(void *data); /* releases data when the reactor leaves before the job ran; may be NULL */
    void *data;
    /* Kept alive while the job is queued and while it runs; Qfalse: none. PEL_OPERATION_JOB: data is an operation. */
    VALUE object;
    struct pel_rank rank;
    int64_t turn;   /* the order of the jobs that have begun */
    uint64_t order; /* among jobs with the same turn */
};

#define PEL_OPERATION_JOB Qundef

/* A circular buffer, or a heap; its capacity is a power of two. */
struct pel_queue {
    struct pel_job *jobs;
    uint32_t head, count, capacity;
};

struct pel_queues {
    struct pel_queue due, ready, begun, arrived;
    uint64_t ranked;   /* jobs that were ever put on `begun` */
    int64_t seniority; /* nanoseconds for which a request that has begun goes before all later ones */
};

#define PEL_SENIORITY_NS (250 * 1000 * 1000) /* but in tests */
#define PEL_UNCOUNTED UINT32_MAX

/* What may still run in this tick. */
struct pel_batch {
    int64_t end;                                                /* of the time of these jobs */
    uint32_t left;                                              /* ready jobs; PEL_UNCOUNTED: not counted yet */
    uint32_t handovers_left;                                    /* fibers that became ready in this tick */
    uint8_t due_time_used, ready_time_used, requests_time_used; /* these jobs have had their time in this tick */
    uint8_t request_ran;                                        /* a job of a request */
    uint64_t put_off_in; /* tick whose new requests were postponed because a running one may continue; 0: none */
    int64_t last_began;  /* when the last request began: no two at once */
    int64_t measured;    /* when the running job of a request began, 0: it is not measured */
    int64_t owed;   /* nanoseconds that requests which have lost their seniority have to get before the next begins */
    uint8_t begins; /* the measured job begins a request */
    uint64_t jobs_run; /* in all ticks */
};

/* Puts a job on the queue of its rank. May be called by any thread that holds the GVL. Raises NoMemoryError; never
 * starts the garbage collector. */
void pel_enqueue(struct pel_reactor *reactor, struct pel_job job);

/* The same for a job that a timer made ready: it runs before all jobs on the ready queue, so a long ready queue does
 * not delay it. */
void pel_enqueue_due(struct pel_reactor *reactor, struct pel_job job);

/* Puts a job in front of the ready queue. Only a running job may call this, for a job that takes its place. */
void pel_enqueue_first(struct pel_reactor *reactor, struct pel_job job);

/* Puts a block on the ready queue; it will be called without arguments. */
void pel_enqueue_proc(struct pel_reactor *reactor, VALUE proc);

/* Whether a job stands on any queue. */
#define pel_jobs_p(reactor)                                                                                            \
    ((reactor)->queues.due.count || (reactor)->queues.ready.count || (reactor)->queues.begun.count ||                  \
     (reactor)->queues.arrived.count)

/* Whether a job may run now: one stands on a queue, and is no request that is held. */
int pel_can_run_p(struct pel_reactor *reactor);

/* Whether a request may begin at once: nothing else that has begun, or has arrived earlier, can go on, or will soon.
 * Otherwise it is enqueued with its rank. */
int pel_may_begin(struct pel_reactor *reactor);

/* The code that runs belongs to a request from now on, which has arrived at that time and begins now. */
void pel_begin_request(struct pel_reactor *reactor, int64_t arrived);

/* The code that runs belongs to no request any more. */
void pel_leave_request(struct pel_reactor *reactor);

/* Makes the queues of waiters large enough for all parked fibers and one more. 0 when there is no memory. */
int pel_queues_reserve(struct pel_reactor *reactor);

/* The queue whose first job may run in this tick; NULL when the next tick is due. */
struct pel_queue *pel_next_queue(struct pel_reactor *reactor);

static inline struct pel_job *pel_queue_job(struct pel_queue *queue, uint32_t index)
{
    return &queue->jobs[(queue->head + index) & (queue->capacity - 1)];
}

/* Takes the first job off a queue, and charges it to the tick. A job with neither run nor data is a gap, which a waiter
 * has left. */
struct pel_job pel_queue_take(struct pel_reactor *reactor, struct pel_queue *queue);

/* Takes the next job if it is a waiter whose fiber may run before the next tick: because it belongs to this tick's
 * batch, or as one of a limited number of fibers that wake each other. Otherwise NULL. */
struct pel_waiter *pel_take_next_waiter(struct pel_reactor *reactor);

/* Begins the batch of a tick that has just ended its wait. */
void pel_begin_batch(struct pel_reactor *reactor);

/* Ends this tick's batch of jobs: the next tick is due now. */
void pel_end_batch(struct pel_reactor *reactor);

/* Puts a waiter on a queue, or takes it off. */
void pel_queue_waiter(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_waiter *waiter);
void pel_unqueue_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Takes the first ready waiter off its queue, wherever it stands; NULL when there is none. */
struct pel_waiter *pel_take_any_waiter(struct pel_reactor *reactor);

/* Takes the first job that matches off the ready queue. 0 when there is none. */
int pel_take_matching_job(struct pel_reactor *reactor, int (*matches)(const struct pel_job *job), struct pel_job *job);

void pel_queues_mark(struct pel_reactor *reactor);
void pel_queues_drop(struct pel_reactor *reactor);

/* ---- heaps (heap.c) ------------------------------------------------------------------------------------------- */

/*
 * A queue of jobs as a heap, by their turns: the first job is jobs[0], and the queue's head is always 0. Jobs with the
 * same turn follow the beginnings of their requests, those of one request the order in which they were pushed.
 */

/* The queue has room for the job. */
void pel_heap_push(struct pel_queue *heap, struct pel_job job);

/* The queue is not empty. */
void pel_heap_remove_first(struct pel_queue *heap);
