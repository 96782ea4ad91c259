#ifndef PEL_LATE_H
#define PEL_LATE_H

#include "reactor.h"

/*
 * Exceptions that are meant for a fiber which may not be disturbed just now: they strike when it waits next. A fiber
 * that was unblocked goes on first, because a Mutex or a Queue has counted on it; one that has an exception already
 * takes one at a time; one that has resumed another fiber cannot be reached.
 */

struct pel_late {
    struct pel_late *next;
    VALUE fiber, exception;
    struct pel_worker *worker; /* the current one when fiber was, or NULL */
    uint8_t raised;
    uint8_t owned; /* by the reactor, not by a stack */
};

/* Raises late->exception in late->fiber: at once when it is parked, otherwise when it parks next. The record lies on
 * that fiber's C stack; fiber, exception and worker are set by the caller. */
void pel_raise_late(struct pel_reactor *reactor, struct pel_late *late);

/* Before the record's memory is used for something else. Legal for one that is not on its way. */
void pel_late_forget(struct pel_reactor *reactor, struct pel_late *late);

/* Raises exception in a fiber when it waits next. Raises NoMemoryError. */
void pel_raise_next(struct pel_reactor *reactor, VALUE fiber, VALUE exception);

/* Keeps what is to be raised in a waiter for its fiber's next wait. */
void pel_waiter_postpone(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Gives a fiber that parks the first exception that is kept for it, unless it has one already. */
void pel_late_take(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Forgets what was kept for a fiber that will not wait again (Qnil: for all), and for those that have ended. */
void pel_late_drop(struct pel_reactor *reactor, VALUE fiber);

void pel_late_mark(struct pel_reactor *reactor);

#endif
