#pragma once

#include "ruby/reactor/queue.h"

/*
 * The queues of a reactor: a job stands on one of four. turn.h says from which the next one is taken. A job with
 * neither run nor data is a gap, which a waiter has left. Include reactor.h.
 */

struct pel_reactor;
struct pel_waiter;

struct pel_queues {
    struct pel_queue due;     /* what a timer made ready, in the order of the deadlines */
    struct pel_queue ready;   /* what belongs to no request */
    struct pel_queue begun;   /* what belongs to requests that have begun, the oldest first: a heap */
    struct pel_queue arrived; /* requests that have not begun */
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

/* The jobs on all queues, gaps included. */
static inline uint32_t pel_queues_count(const struct pel_queues *queues)
{
    return queues->due.count + queues->ready.count + queues->begun.count + queues->arrived.count;
}

/* Makes the queues of waiters large enough for all parked fibers and one more. 0 when there is no memory. */
int pel_queues_reserve(struct pel_reactor *reactor);

/* Takes the first job off its queue. pel_take_job also charges it to the tick. */
struct pel_job pel_dequeue(struct pel_reactor *reactor, struct pel_queue *queue);

/* Puts a waiter on a queue, or takes it off. */
void pel_queue_waiter(struct pel_reactor *reactor, struct pel_queue *queue, struct pel_waiter *waiter);
void pel_unqueue_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Takes the first ready waiter off its queue, wherever it stands; NULL when there is none. */
struct pel_waiter *pel_take_any_waiter(struct pel_reactor *reactor);

/* Takes the first job that matches off the ready queue. 0 when there is none. */
int pel_take_matching_job(struct pel_reactor *reactor, int (*matches)(const struct pel_job *job), struct pel_job *job);

void pel_queues_mark(struct pel_reactor *reactor);
void pel_queues_drop(struct pel_reactor *reactor);
void pel_queues_free(struct pel_queues *queues);
