#ifndef PEL_TIMER_H
#define PEL_TIMER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Timers: instants of a monotonic clock, in nanoseconds, at which something is due. Adding and cancelling cost O(1),
 * and nothing here allocates. A timer never fires before its deadline. Not thread-safe.
 *
 * They lie in a hierarchical wheel (docs/adr/002-timers.md): level n has 64 slots of 64^n ticks each. A timer lies on
 * the level of the highest digit, to the base 64, in which its tick differs from the current one, so that all of level
 * n is due before any of level n + 1, and a jump of the clock touches each occupied slot once, however far it goes.
 */
#ifndef PEL_TIMER_TICK_BITS    /* benchmark/timer tries others */
#define PEL_TIMER_TICK_BITS 14 /* 16.4 us: the resolution of the wheel, not of the deadlines, which are exact */
#endif
#define PEL_TIMER_LEVELS 9 /* 64^9 ticks: every deadline has its place */
#define PEL_TIMER_SLOTS 64

struct pel_timer_link {
    struct pel_timer_link *next, *previous;
};

/*
 * Embedded in its owner, who frees it, and cancels it first. A zeroed timer is inactive. An active one must not move.
 */
struct pel_timer {
    struct pel_timer_link link; /* first: a link is cast to its timer */
    int64_t deadline;           /* kept when the timer becomes inactive */
    uint64_t sequence;          /* the order of adding */
};

/* Must not move between init and free. Private but for its size. */
struct pel_timers {
    int64_t now;     /* of the last expire */
    uint64_t tick;   /* where the wheel stands: not after `now` */
    int64_t soonest; /* while `known`: the next instant, if it is not before `now` */
    int known;
    uint64_t sequence;
    size_t count;
    uint64_t occupied[PEL_TIMER_LEVELS]; /* a bit for each slot that may hold a timer: a clear bit is an empty slot */
    struct pel_timer_link slots[PEL_TIMER_LEVELS][PEL_TIMER_SLOTS];
    struct pel_timer_link never;   /* those with the deadline INT64_MAX */
    struct pel_timer_link expired; /* those that wait for pop, in order */
};

/* `now`: the clock's present instant. Returns 0. */
int pel_timers_init(struct pel_timers *timers, int64_t now);

/* Timers that are still active become inactive. */
void pel_timers_free(struct pel_timers *timers);

/*
 * Activates the timer. One that is active already, expired or not, is moved to the new deadline and to the end of the
 * order of adding. A deadline in the past is due at the next expire. INT64_MAX: active, but never due.
 */
void pel_timer_add(struct pel_timers *timers, struct pel_timer *timer, int64_t deadline);

/* Makes the timer inactive. It is not popped any more, even if it has expired. Of an inactive one: does nothing. */
void pel_timer_cancel(struct pel_timers *timers, struct pel_timer *timer);

/* Whether the timer was added and has neither been cancelled nor popped. */
static inline int pel_timer_active(const struct pel_timer *timer)
{
    return timer->link.next != NULL;
}

/*
 * The earliest instant at which pel_timers_expire() has something to do; INT64_MAX if there is none. Never later than
 * the earliest deadline, and exact while few timers are near it; sometimes earlier: a crowd of timers then comes
 * nearer, and nothing may expire. Never before the last expire's `now`, which is returned for timers that are due
 * already. Timers that have expired and wait for pop do not count.
 */
int64_t pel_timers_next(struct pel_timers *timers);

/*
 * Every timer with deadline <= now expires. Pop gives the expired ones in the order of (deadline, order of adding),
 * those of earlier calls included. A `now` before that of the last call counts as that one.
 */
void pel_timers_expire(struct pel_timers *timers, int64_t now);

/*
 * The next expired timer, inactive from now on: it may be added again or freed. NULL if there is none. A timer that is
 * added meanwhile is not popped before the next expire, even if it is due.
 */
struct pel_timer *pel_timers_pop(struct pel_timers *timers);

/* The number of active timers, including those that have expired and wait for pop. */
size_t pel_timers_count(const struct pel_timers *timers);

/* The timer that pop would return, or NULL. It stays active. */
static inline struct pel_timer *pel_timers_peek(const struct pel_timers *timers)
{
    return timers->expired.next == &timers->expired ? NULL : (struct pel_timer *)timers->expired.next;
}

/* Calls visit with each active timer, in no order. It may cancel that timer, and no other. */
void pel_timers_each(struct pel_timers *timers, void (*visit)(struct pel_timers *timers, struct pel_timer *timer));

#endif
