#pragma once

#include <ruby.h>

/*
 * Pending exceptions are meant for a fiber that must not be interrupted now; they are raised when the fiber waits next.
 * A fiber that was unblocked goes on first, because a Mutex or a Queue relies on it. A fiber that is about to raise an
 * exception takes the next one later. A fiber that has resumed another fiber cannot be reached at all.
 *
 * The fiber itself keeps its pending exceptions, and they vanish with it: a program may drop a fiber that can no longer
 * be resumed. Include reactor.h.
 */

struct pel_reactor;
struct pel_waiter;
struct pel_worker;

/* Raises exception in a fiber: at once when the fiber is parked and may be interrupted, otherwise when it waits next.
 * worker is the worker whose fiber that is, or NULL; it spares the search through the parked waiters. Raises
 * NoMemoryError. */
void pel_raise_or_defer(struct pel_reactor *reactor, VALUE fiber, struct pel_worker *worker, VALUE exception);

/* The same for a known waiter. */
void pel_waiter_raise(struct pel_reactor *reactor, struct pel_waiter *waiter, VALUE exception);

/* The same, but only for a fiber that is parked in this reactor. 0 when it is not. */
int pel_raise_in(struct pel_reactor *reactor, VALUE fiber, VALUE exception);

/* Raises exception in a fiber when it waits next, in the present run. Raises NoMemoryError. */
void pel_pending_exception_add(struct pel_reactor *reactor, VALUE fiber, VALUE exception);

/* Defers the exception that the waiter is about to raise, if any, to its fiber's next wait. */
void pel_waiter_defer_exception(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Wakes a waiter of which something relies on its fiber going on: no exception is raised in it before its next wait. */
void pel_waiter_unblock(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Gives the first pending exception of a fiber that parks to its waiter, unless the waiter has one already. */
void pel_pending_exception_take(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Whether a fiber has a pending exception, perhaps of an earlier run. */
int pel_pending_exception_p(VALUE fiber);

/* Removes a fiber's pending exception. 1 when it was pending, and so was never raised. */
int pel_pending_exception_forget(VALUE fiber, VALUE exception);

/* Removes all pending exceptions of a fiber. */
void pel_pending_exception_drop(VALUE fiber);
