#ifndef PEL_LATE_H
#define PEL_LATE_H

#include "reactor.h"

/*
 * Exceptions that are meant for a fiber which may not be disturbed just now: they strike when it waits next. A fiber
 * that was unblocked goes on first, because a Mutex or a Queue has counted on it; one that has an exception already
 * takes one at a time; one that has resumed another fiber cannot be reached.
 *
 * They are kept by the fiber itself, and are gone with it: a fiber may be left by all who could resume it.
 */

/* Raises exception in a fiber, at once when it is parked and may be disturbed, otherwise when it waits next. worker:
 * the current one when the fiber was, or NULL; of many that park it is found at once. Raises NoMemoryError. */
void pel_raise_soon(struct pel_reactor *reactor, VALUE fiber, struct pel_worker *worker, VALUE exception);

/* Raises exception in a fiber when it waits next, in the present run. Raises NoMemoryError. */
void pel_raise_next(struct pel_reactor *reactor, VALUE fiber, VALUE exception);

/* Keeps what is to be raised in a waiter for its fiber's next wait. */
void pel_waiter_postpone(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Gives a fiber that parks the first exception that is kept for it, unless it has one already. */
void pel_late_take(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Forgets an exception. 1 when it was kept for the fiber, and never raised. */
int pel_late_forget(VALUE fiber, VALUE exception);

/* Forgets all that is kept for a fiber. */
void pel_late_drop(VALUE fiber);

void pel_init_late(void);

#endif
