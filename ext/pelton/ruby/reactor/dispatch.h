#pragma once

#include <ruby.h>
#include "ruby/reactor/job.h"

/* Calling Ruby from the run loop, and the errors and interrupts that come out of the calls. Include reactor.h. */

/* A job that was taken off its queue. pel_dispatch and pel_protect call it: (pel_run_job, (VALUE)&taken). */
struct pel_taken_job {
    struct pel_reactor *reactor;
    struct pel_job job;
};

VALUE pel_run_job(VALUE taken);

/* Calls function(argument), which may raise and park. An exception is reported by pel_uncaught. */
void pel_dispatch(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument);

/* Reports an error that no code rescued. A StandardError goes to Pelton.on_error. Any other exception ends run, and so
 * does an UncaughtThrowError, because a throw wants to leave run. Cancelled is dropped. */
void pel_uncaught(struct pel_reactor *reactor, VALUE error);

/* Ends run with an exception, which run raises. The first one wins. */
void pel_fail_run(struct pel_reactor *reactor, VALUE exception);

/* The same, unless the program has asked for such exceptions by Reactor#on_fatal: then a job calls its block, and run
 * goes on. */
void pel_fail_run_or_tell(struct pel_reactor *reactor, VALUE exception);

/* Ends run with the interrupt that pel_protect stopped, or tells it: run raises it, not the fiber that the interrupt
 * happened to strike. The IOError of a closed IO does not end run, but wakes the fibers that wait for the IO. Returns
 * 0; or the state, when the jump does not concern run: Thread#kill, an exception that was raised in this very fiber, or
 * any exception outside run. The caller must pass the state to pel_rethrow. */
int pel_interrupt_run(struct pel_reactor *reactor, int state);
