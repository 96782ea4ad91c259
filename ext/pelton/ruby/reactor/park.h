#pragma once

#include "ruby/reactor/waiter.h"

/* Parking: how fibers wait and sleep. Include reactor.h. */

/* Parks the current fiber until the waiter is fired or the monotonic clock reaches the deadline (PEL_FOREVER: never).
 * Blocks the thread where no reactor runs. An exception that was meant for the fiber is raised after the waiter is
 * unlinked. The caller keeps the waiter (zeroed) on its stack. Use this where only the reactor refers to the waiter;
 * otherwise use pel_park_protected. */
void pel_park(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline);

/* The same, but an exception is returned as a state for pel_rethrow, so that the caller can first remove the waiter
 * from its lists. When the state is 0, waiter->timed_out tells whether the deadline came first. */
int pel_park_protected(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline);

/* The same with a waiter of this function's own, which is at *place meanwhile for who fires it. *timed_out: whether the
 * deadline came first. */
int pel_park_at(struct pel_reactor *reactor, struct pel_waiter **place, int64_t deadline, int *timed_out);

/* Abandons the waiters that are still parked when run ends: of fibers that cannot be ended (pel_give_up_parked), and of
 * all fibers in a child after a fork. They never run again. The waiters stay linked, because lists and timers refer to
 * their stacks, and stay marked, because the stacks must not be freed before those lists. */
void pel_waiters_abandon(struct pel_reactor *reactor);

/* ---- sleeping (sleep.c) ---------------------------------------------------------------------------------------- */

/* Parks the current fiber until pel_unblock is called for it. 1 when it was unblocked, 0 when the deadline came first.
 */
int pel_sleep(struct pel_reactor *reactor, int64_t deadline);

/* The same for a fiber that waits for a Mutex. */
int pel_sleep_until_unlocked(struct pel_reactor *reactor, int64_t deadline, VALUE mutex);

/* Wakes a sleeping fiber and returns 1; returns 0 for any other. May be called by any thread that holds the GVL. */
int pel_unblock(struct pel_reactor *reactor, VALUE fiber);

/* The same for the fiber that Ruby wakes because a Mutex was unlocked, and for the oldest request that waits for it,
 * which goes first. */
int pel_unblock_by_mutex(struct pel_reactor *reactor, VALUE fiber, VALUE mutex);
