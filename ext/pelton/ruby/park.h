#ifndef PEL_PARK_H
#define PEL_PARK_H

#include <ruby.h>
#include <stdint.h>

/* Waiters: a fiber that waits for one thing. Include reactor.h. */

struct pel_operation;
struct pel_reactor;
struct pel_timer;

enum pel_wakeup {
    PEL_WOKEN = 1, /* what was waited for has happened */
    PEL_TIMED_OUT  /* the deadline came first */
};

/* Lives on the C stack of the waiting fiber; linked and marked through the reactor while it is parked. */
struct pel_waiter {
    struct pel_waiter *previous, *next;
    struct pel_waiter *next_awaiter; /* the next fiber that awaits the same operation */
    struct pel_operation *operation; /* whose result is kept alive until this fiber has taken it, or NULL */
    struct pel_timer *deadline;
    VALUE fiber;
    VALUE exception;   /* raised in the fiber when it wakes (pel_raise_in), Qfalse */
    VALUE starts;      /* it is ready at once, and this new fiber runs first, Qfalse */
    uint8_t yields;    /* it is ready at once, and all that is ready runs first */
    uint8_t fired;     /* what it waits for has happened; later wake-ups are no-ops */
    uint8_t queued;    /* it is on a queue, and must not leave before its turn */
    uint8_t timed_out; /* its deadline fired it */
    uint8_t unblocked; /* pel_unblock fired it: a Mutex or a Queue has counted on its going on */
    uint8_t off_queue; /* it blocks the thread, or was given up: firing it puts it on no queue */
    uint8_t given_up;  /* run has ended without its fiber, which never goes on */
};

/* Whether its fiber may go on: it was fired, and its turn has come. */
static inline int pel_woken(const struct pel_waiter *waiter)
{
    return waiter->fired && !waiter->queued;
}

/* Parks the current fiber until the waiter is fired or the monotonic clock reaches deadline (PEL_FOREVER: never).
 * Blocks where no reactor runs. Raises what was raised in it, after unlinking the waiter. The caller keeps the waiter
 * (zeroed) on its stack. Use it where nothing but the reactor refers to the waiter; otherwise use the next one. */
enum pel_wakeup pel_park(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline);

/* The same, but an exception is returned as a state for pel_rethrow instead of being raised: the caller can take the
 * waiter off its lists first. 0: look at waiter->timed_out. */
int pel_park_protected(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline);

/* Wakes a waiter: puts it on the ready queue, unless it is there already. Never fails: parking has reserved the place.
 * Thread of the reactor, or any other thread that holds the GVL. */
void pel_waiter_fire(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* The innermost waiter of a parked fiber; NULL when it is not parked. */
struct pel_waiter *pel_waiter_of(struct pel_reactor *reactor, VALUE fiber);

/* Raises exception in a parked fiber, when its turn comes. 0 when the fiber is not parked in this reactor. One that was
 * unblocked goes on first, or what it was given (a Mutex, an item of a Queue) would be lost: it gets the exception when
 * it waits next, and so does one that has an exception already. */
int pel_raise_in(struct pel_reactor *reactor, VALUE fiber, VALUE exception);

/* The same for a known waiter. */
void pel_waiter_raise(struct pel_reactor *reactor, struct pel_waiter *waiter, VALUE exception);

/* Parks the current fiber where pel_unblock finds it. 1 when it was unblocked, 0 when the time was over. */
int pel_sleep(struct pel_reactor *reactor, int64_t deadline);

/* Wakes a fiber that sleeps; no-op for any other. Any thread that holds the GVL. */
void pel_unblock(struct pel_reactor *reactor, VALUE fiber);

/* The budget is spent: yields, unless the fiber is inside Pelton.hold. */
void pel_overspend(struct pel_reactor *reactor);

/* Lets everything else that is ready go first, and the loop turn once. */
void pel_yield(struct pel_reactor *reactor);

#endif
