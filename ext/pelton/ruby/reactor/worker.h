#pragma once

#include <ruby.h>
#include <stdint.h>
#include "core/base/link.h"
#include "ruby/reactor/waiter.h"

/* Workers: pooled fibers that can run the loop, and switching between fibers. Include reactor.h. */

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

/* ---- switching (switch.c) -------------------------------------------------------------------------------------- */

struct pel_switches {
    uint64_t count, arrivals; /* arrivals: of fibers, after switches */
    VALUE target;             /* the fiber that the last switch was meant for */
};

/* Transfers to a fiber; no other function of Pelton does. Returns 1 when a fiber has transferred back. *state is then
 * 0, or must be passed to pel_rethrow, because an exception was raised in this fiber or the thread is being killed. (An
 * interrupt that strikes on arrival ends run instead.) Returns 0, with *state set, when the switch failed. */
int pel_switch(struct pel_reactor *reactor, VALUE fiber, int *state);

/* Whether a switch failed because the fiber has resumed another one. The error is still in $!. */
int pel_switch_refused(void);

/* ---- handing over (worker.c) ----------------------------------------------------------------------------------- */

/* Switches from the waiter's fiber (NULL: from run's caller) to the next ready fiber, or to a worker, which runs the
 * loop. Does nothing when the waiter was woken meanwhile. Returns 0 or a state, as pel_switch does. */
int pel_hand_over(struct pel_reactor *reactor, const struct pel_waiter *waiter);

void pel_workers_mark(struct pel_reactor *reactor);

/* ---- fibers of Fiber.schedule (fiber.c) ------------------------------------------------------------------------ */

/* A new non-blocking Fiber. */
VALUE pel_fiber_new(VALUE proc, int inherits);

/* Starts a non-blocking fiber at once. The caller goes on when the fiber first waits or ends. Returns the fiber. */
VALUE pel_start_fiber(struct pel_reactor *reactor, VALUE proc);
