#pragma once

#include "ruby/reactor/job.h"

/*
 * Turns: what runs next in a tick. The jobs are in three groups, which have their turns one after the other, each for
 * 1 ms: what a timer made ready; what belongs to no request; and requests, of which those that have begun go before
 * those that have arrived (rank.h). Whoever makes more of its own kind so delays the others by 1 ms a tick, and never
 * the next tick. Include reactor.h.
 */

enum pel_group { PEL_DUE_JOBS, PEL_READY_JOBS, PEL_REQUESTS, PEL_NO_JOBS };

#define PEL_UNCOUNTED UINT32_MAX

/* What may still run in this tick. */
struct pel_batch {
    enum pel_group group;    /* whose turn it is; those before it have had theirs */
    int64_t end;             /* of the time of these jobs */
    uint32_t left;           /* ready jobs, of those that were there when their turn came; PEL_UNCOUNTED: not yet */
    uint32_t handovers_left; /* fibers that became ready in this tick */
    uint32_t jobs_run;       /* in all ticks */
    uint8_t request_ran;     /* the requests' time has begun */
    uint64_t postponed_in;   /* tick whose new requests were postponed because a running one may continue; 0: none */
};

/* Begins the batch of a tick that has just ended its wait. */
void pel_begin_batch(struct pel_reactor *reactor);

/* Ends this tick's batch of jobs: the next tick is due now. */
void pel_end_batch(struct pel_reactor *reactor);

/* The queue whose first job may run in this tick; NULL when the next tick is due. */
struct pel_queue *pel_next_queue(struct pel_reactor *reactor);

/* Takes the first job off a queue, and charges it to the tick. */
struct pel_job pel_take_job(struct pel_reactor *reactor, struct pel_queue *queue);

/* Takes the next job if it is a waiter whose fiber may run before the next tick: because it belongs to this tick's
 * batch, or as one of a limited number of fibers that wake each other. Otherwise NULL. */
struct pel_waiter *pel_take_next_waiter(struct pel_reactor *reactor);

/* Whether a job may run now: one stands on a queue, and is no request that is held. */
int pel_can_run_p(struct pel_reactor *reactor);

/* Whether a request may begin at once: nothing else that has begun, or has arrived earlier, can go on, or will soon.
 * Otherwise it is enqueued with its rank. */
int pel_may_begin(struct pel_reactor *reactor);

/* How many requests wait to begin. */
uint32_t pel_arrived_requests(const struct pel_reactor *reactor);
