#pragma once

#include <ruby.h>
#include <stdint.h>
#include "ruby/reactor/waiter.h"
#include "ruby/reactor/worker_pool.h"

/* Workers: pooled fibers that can run the loop, and switching between fibers. Include reactor.h. */

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
