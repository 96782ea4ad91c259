#ifndef PEL_JOB_H
#define PEL_JOB_H

#include <ruby.h>
#include <stdint.h>

/* Jobs: what is ready to run on the turning fiber, and the queues of it. Include reactor.h. */

struct pel_reactor;
struct pel_waiter;

struct pel_job {
    void (*run)(struct pel_reactor *reactor, void *data); /* may call Ruby, raise, and park. NULL: data is a waiter */
    void (*mark)(void *data);                             /* marks what data needs; may be NULL */
    void (*drop)(void *data); /* when the reactor leaves before it ran: gives back what the job holds; may be NULL */
    void *data;
};

/* A ring, its capacity a power of two. */
struct pel_queue {
    struct pel_job *jobs;
    uint32_t head, count, capacity;
};

/* Puts a job at the end of the ready queue. Any thread that holds the GVL. Raises NoMemoryError; never collects. */
void pel_enqueue(struct pel_reactor *reactor, struct pel_job job);

/* The same for what a timer made ready: it goes before all that is merely ready, so that no crowd delays it. */
void pel_enqueue_due(struct pel_reactor *reactor, struct pel_job job);

/* Puts a job before all others; only from a job, in whose place it comes. */
void pel_enqueue_first(struct pel_reactor *reactor, struct pel_job job);

/* Puts a block on the ready queue, to be called with no argument. */
void pel_enqueue_proc(struct pel_reactor *reactor, VALUE proc);

/* Sees to it that all parked fibers, and one more, can be queued. 0 when there is no memory. */
int pel_queues_reserve(struct pel_reactor *reactor);

/* The queue whose next job may run before the loop's turn is due; NULL when it is due. */
struct pel_queue *pel_next_queue(struct pel_reactor *reactor);

static inline struct pel_job *pel_queue_job(struct pel_queue *queue, uint32_t index)
{
    return &queue->jobs[(queue->head + index) & (queue->capacity - 1)];
}

/* Takes the next job, on the tick's account. A job without run and data was a waiter that has left. */
struct pel_job pel_take(struct pel_reactor *reactor, struct pel_queue *queue);

/* Takes the next job when it is a waiter, and its fiber may run before the loop's turn: of this tick's batch, or of
 * those that wake each other, for a while. NULL otherwise. */
struct pel_waiter *pel_take_next_waiter(struct pel_reactor *reactor);

/* The loop's turn is due now. */
void pel_end_batch(struct pel_reactor *reactor);

/* Puts a waiter on a queue; takes one off. */
void pel_queue_waiter(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_waiter *waiter);
void pel_unqueue_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* The first ready waiter, wherever it stands, taken off its queue; NULL when there is none. */
struct pel_waiter *pel_take_any_waiter(struct pel_reactor *reactor);

/* Takes the first wanted job off the ready queue. 0 when there is none. */
int pel_take_job(struct pel_reactor *reactor, int (*wanted)(const struct pel_job *job), struct pel_job *job);

void pel_queues_mark(struct pel_reactor *reactor);
void pel_queues_drop(struct pel_reactor *reactor);

/* A job that was taken, as pel_dispatch and pel_protect run it: (pel_run_job, (VALUE)&taken). */
struct pel_taken_job {
    struct pel_reactor *reactor;
    struct pel_job job;
};

VALUE pel_run_job(VALUE taken);

/* Calls function(argument), which may raise and park, and reports what it raises as an uncaught error of a callback. */
void pel_dispatch(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument);

/* An error that nobody rescued: to Pelton.on_error, or out of run when it is not a StandardError, or means to leave
 * (throw). */
void pel_uncaught(struct pel_reactor *reactor, VALUE error);

/* Ends run with an exception. */
void pel_fail_run(struct pel_reactor *reactor, VALUE exception);

#endif
