#pragma once

#include <ruby.h>
#include "ruby/reactor/tick.h"

/* Running a reactor, and stopping it. Include reactor.h. */

struct pel_worker;

enum pel_phase {
    PEL_IDLE, /* outside run */
    PEL_RUNNING,
    PEL_STOPPING, /* stop was called: parked fibers are cancelled, and have the grace time to end */
    PEL_LEAVING   /* the loop runner goes back to run's caller */
};

/* ---- run (run.c) ----------------------------------------------------------------------------------------------- */

struct pel_run {
    VALUE caller;                 /* the fiber that called run; fibers that end land there */
    VALUE value;                  /* run returns it */
    VALUE fatal;                  /* run raises it: an exception that no code may swallow, Qnil */
    VALUE on_fatal;               /* Reactor#on_fatal's block, which gets such exceptions instead; Qnil */
    uint8_t main_pending;         /* the task of run's block has not ended, and should */
    uint8_t began_outside;        /* Fiber.schedule has begun fibers outside run: close runs the loop until they end */
    int64_t began_at, earlier_ns; /* earlier_ns: the time of all earlier runs */
};

/* Starts a fiber where the reactor is the thread's scheduler but does not run. The fiber runs to its first wait, and
 * goes on when the scheduler is closed, or in the next run. Returns the fiber. */
VALUE pel_run_outside(struct pel_reactor *reactor, VALUE proc);

/* The scheduler's close: runs the loop until all fibers that began outside run have ended. Raises inside run. */
void pel_run_close(struct pel_reactor *reactor);

/* ---- the loop runner (run_loop.c) ------------------------------------------------------------------------------ */

/* Runs the loop on a worker's fiber. Returns when the worker must end, because the pool is full or run is over. */
void pel_run_loop(struct pel_reactor *reactor, struct pel_worker *worker);

/* ---- stopping (stop.c) ----------------------------------------------------------------------------------------- */

struct pel_grace {
    int64_t time, deadline; /* nanoseconds; the deadline is 0 until stopping has begun */
    struct pel_reactor_timer timer;
    uint32_t last_ticks_left;
    uint32_t refusals; /* of a fiber that was ended, and waits again (give_up.c) */
};

/* Begins to stop: stops all GC roots, and raises Cancelled in every parked fiber. */
void pel_begin_to_stop(struct pel_reactor *reactor);

/* Stops each GC root once; a root may add itself again. An error of one root does not keep the others from stopping. */
void pel_stop_roots(struct pel_reactor *reactor);
