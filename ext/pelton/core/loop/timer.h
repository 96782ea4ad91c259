#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Timers with deadlines in nanoseconds of a monotonic clock. Adding and cancelling cost O(1), and no function here
 * allocates. A timer never expires before its deadline. Not thread-safe.
 *
 * The timers lie in a hierarchical wheel (docs/internals/adr/002-timers.md): level n has 64 slots of 64^n ticks each. A
 * timer lies on the level of the highest base-64 digit in which its tick differs from the current tick. Therefore all
 * timers of level n are due before any timer of level n + 1, and a jump of the clock, however far, touches each
 * occupied slot once.
 */
#define PEL_TIMER_TICK_BITS 14 /* 16.4 us: the resolution of the wheel, not of the deadlines, which are exact */
#define PEL_TIMER_LEVELS 9     /* 64^9 ticks cover every 64-bit deadline */
#define PEL_TIMER_SLOTS 64

struct pel_timer_link {
    struct pel_timer_link *next, *previous;
};

/*
 * A timer, embedded in a struct of its owner, who cancels it before freeing it. A zeroed timer is inactive. An active
 * timer must not move in memory.
 */
struct pel_timer {
    struct pel_timer_link link; /* first: a link is cast to its timer */
    int64_t deadline;           /* still valid when the timer has become inactive */
    uint64_t sequence;          /* counts the calls of pel_timer_add */
};

/* All timers of one clock. The struct must not move between init and free. Its fields are private. */
struct pel_timers {
    int64_t now;     /* the clock at the last pel_timers_expire */
    uint64_t tick;   /* the wheel's current tick: not after `now` */
    int64_t soonest; /* the cached result of pel_timers_next, valid while `known`, unless it lies before `now` */
    int known;
    uint64_t sequence;
    size_t count;
    uint64_t occupied[PEL_TIMER_LEVELS]; /* one bit per slot; a set bit's slot may be empty, a clear bit's slot is */
    struct pel_timer_link slots[PEL_TIMER_LEVELS][PEL_TIMER_SLOTS];
    struct pel_timer_link never;   /* the timers with the deadline INT64_MAX */
    struct pel_timer_link expired; /* the timers that wait for pop, in order */
};

/* Initializes the wheel; `now` is the clock's current time. */
void pel_timers_init(struct pel_timers *timers, int64_t now);

/* Makes all active timers inactive. */
void pel_timers_free(struct pel_timers *timers);

/*
 * Activates the timer. A timer that is active already, expired or not, gets the new deadline and counts as added last.
 * A timer with a deadline in the past expires at the next pel_timers_expire. With INT64_MAX it is active, but never
 * expires.
 */
void pel_timer_add(struct pel_timers *timers, struct pel_timer *timer, int64_t deadline);

/* Makes the timer inactive. It is not popped any more, even if it has expired. Does nothing for an inactive timer. */
void pel_timer_cancel(struct pel_timers *timers, struct pel_timer *timer);

/* Whether the timer was added and has neither been cancelled nor popped. */
static inline int pel_timer_active(const struct pel_timer *timer)
{
    return timer->link.next != NULL;
}

/*
 * The earliest time at which pel_timers_expire() must run; INT64_MAX if there is none. It is never later than the
 * earliest deadline, and equals it while few timers are near; it may be earlier when many timers share a slot and must
 * move to a lower level, so that possibly nothing expires then. It is never before the `now` of the last
 * pel_timers_expire, which is returned for timers that are due already. Expired timers that wait for pop do not count.
 */
int64_t pel_timers_next(struct pel_timers *timers);

/*
 * Expires every timer with deadline <= now. pel_timers_pop returns the expired timers, including those of earlier
 * calls, ordered by deadline, and timers with equal deadlines in the order in which they were added. A `now` before the
 * last call's is replaced by the last call's.
 */
void pel_timers_expire(struct pel_timers *timers, int64_t now);

/*
 * Returns the next expired timer, or NULL. The timer becomes inactive: it may be added again or freed. A timer that is
 * added meanwhile is not popped before the next pel_timers_expire, even if it is due.
 */
struct pel_timer *pel_timers_pop(struct pel_timers *timers);

/* The number of active timers, including the expired ones that wait for pop. */
size_t pel_timers_count(const struct pel_timers *timers);

/* Calls visit for each active timer, in no particular order. visit may cancel that timer and no other. */
void pel_timers_each(struct pel_timers *timers, void (*visit)(struct pel_timers *timers, struct pel_timer *timer));
