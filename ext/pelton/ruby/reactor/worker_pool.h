#pragma once

#include <ruby.h>
#include <stdint.h>
#include "core/base/link.h"

/* The pool of workers. Include reactor.h. */

struct pel_operation;
struct pel_reactor;
struct pel_waiter;

struct pel_worker {
    struct pel_worker *previous, *next, *next_idle;
    struct pel_reactor *reactor;
    VALUE fiber;
    struct pel_operation *task; /* the task that runs on the worker */
    VALUE task_object;          /* the Pelton::Task of that task; Qfalse: none */
    VALUE task_block;           /* its block; Qfalse: none */
    struct pel_waiter *waiter;  /* the innermost waiter of the code that runs on the worker */
    /* The worker's fiber-locals when it last handed the loop over. Qfalse: it holds the loop's set now. Qundef: it has
     * not held that set yet. */
    VALUE saved_locals;
    VALUE outer_locals; /* the callback's own set while the callback runs with an empty one; Qfalse: it does not */
    int64_t waited;     /* nanoseconds for which its code was parked, while the reactor measures that */
    uint8_t transient;  /* the task that runs on the worker is transient */
    uint8_t given_up;   /* run has ended before the task that runs on the worker */
    uint8_t idle;       /* the worker is in the pool */
};

#define PEL_IDLE_WORKERS 128 /* workers that the pool keeps for callbacks that wait; surplus workers end */

struct pel_workers {
    struct pel_worker *current, *idle, *first;
    uint32_t count, idle_count;
    uint8_t measures_waits;    /* their `waited` is wanted */
    struct st_table *by_fiber; /* fiber => struct pel_worker */
};

/* Puts a worker into the pool. */
static inline void pel_worker_pool_put(struct pel_workers *workers, struct pel_worker *worker)
{
    worker->idle = 1;
    worker->next_idle = workers->idle;
    workers->idle = worker;
    workers->idle_count++;
}

/* Removes a worker from the pool. */
static inline void pel_worker_pool_remove(struct pel_workers *workers, struct pel_worker *worker)
{
    PEL_CHAIN_REMOVE(workers->idle, worker, next_idle);
    worker->idle = 0;
    workers->idle_count--;
}
