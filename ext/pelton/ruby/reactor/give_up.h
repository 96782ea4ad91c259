#pragma once

#include <ruby.h>

/*
 * Giving up fibers: how run's caller ends those that still wait when the grace time is over. Include reactor.h.
 *
 * A fiber that waits stands in lists of Ruby's, which lie on its stack: those of a Thread that it joins, of a Mutex, a
 * Queue, a ConditionVariable. Ruby walks them long after run, and aborts the process when it finds the record of a
 * thread that has ended. So no fiber may be left in its wait. It is ended as Thread#kill ends a thread: `ensure` runs,
 * `rescue` does not, and each further wait is left at once.
 *
 * This ends fibers that wait, on the loop's own thread; it needs Ruby's lock, and cannot end code that computes.
 * core/loop/stop_limit.h ends the process when that does not help (docs/internals/adr/034).
 */

/* As often a fiber may go on to wait although it was ended. Then it is stopped for good, between two waits. */
#define PEL_REFUSALS 64

/* Ends all parked fibers but that of run's caller, which calls this. Thread#kill is passed on: call it again then. */
void pel_give_up_parked(struct pel_reactor *reactor);

/* Whether this fiber must not wait any more, because the reactor leaves. */
int pel_given_up(const struct pel_reactor *reactor, VALUE fiber);

/* The state, for pel_rethrow, that ends the current fiber. */
int pel_end_fiber(struct pel_reactor *reactor);

/* Calls the function at the base of a fiber, where pel_end_fiber ends it. */
VALUE pel_call_until_ended(VALUE (*function)(VALUE), VALUE argument);
