#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "core/loop/stack_sample.h"

/*
 * The watchdog: one native thread that checks every running loop of the process. A loop that is neither idle nor makes
 * progress for as long as the threshold has stalled: the watchdog samples the stack of the loop's thread
 * (stack_sample.h) and writes the sample to a descriptor while the loop is still blocked.
 *
 * A loop pays one store and one load for each step. While any loop is busy, the thread checks twice per threshold; once
 * all loops are idle, it sleeps until one of them becomes busy.
 *
 * After a fork the child has neither the thread nor watched loops; the next pel_watchdog_watch starts the thread.
 */

#define PEL_WATCHDOG_THRESHOLD (100 * 1000 * 1000) /* nanoseconds */
#define PEL_WATCHDOG_REPORTS 10                    /* a minute at most; the others are counted */

struct pel_stall {
    struct pel_stall *next; /* for the owner's use */
    void *task;             /* as well */
    int64_t nanoseconds;
    int unreported; /* as too many of this minute were reported */
    char stack[];   /* lines, innermost frame first */
};

/* The watchdog's record of one loop, zeroed by its owner. It must not move while the loop is watched. */
struct pel_watch {
    uint64_t progress;        /* atomic, written by the loop alone */
    int idle;                 /* atomic: the loop waits, and has nothing else to do */
    int reported;             /* atomic: the current stall was reported */
    struct pel_watch *next;   /* this and the following fields are guarded by the watchdog's lock */
    struct pel_stall *stall;  /* the current stall */
    pthread_t thread;         /* the loop's thread */
    unsigned fork_generation; /* 0: not watched */
    uint64_t last_progress;   /* `progress` at the last check */
    int64_t progressed_at;    /* an instant before the loop became blocked */
    int64_t checked_at;       /* the time of the last check */
    int64_t blocked_for;      /* the nanoseconds without progress at that check */
};

/* Sets the threshold in nanoseconds (0 disables the watchdog) and the descriptor for reports (-1: none), which must
 * stay open. */
void pel_watchdog_set(int64_t threshold, int fd);

/* Watches the calling thread's loop from now on. Returns 0, or PEL_ESYSTEM when the watchdog's thread cannot be
 * created: then the loop is not watched, and all other functions may be called nevertheless. */
int pel_watchdog_watch(struct pel_watch *watch, pel_stack_sampler *sampler);

/* Stops watching. Call it on the loop's thread, before the thread ends or the record is freed. Does nothing for a loop
 * that is not watched. */
void pel_watchdog_unwatch(struct pel_watch *watch);

/* Ends the reported stall, which lasted from `since`, the end of the loop's last wait, until now, and returns it. The
 * caller frees it with pel_free. Returns NULL if there is no stall after all. */
struct pel_stall *pel_watchdog_end_stall(struct pel_watch *watch, int64_t since);

/* Whether the watchdog's thread sleeps until a loop becomes busy. */
int pel_watchdog_asleep_p(void);

/* The number of watched loops. */
size_t pel_watchdog_count(void);

/* Checks a loop `elapsed` nanoseconds after the last check. Shared with the test alone. */
enum pel_watch_state {
    PEL_WATCH_IDLE,
    PEL_WATCH_PROGRESSING, /* the loop made progress since the last check */
    PEL_WATCH_BLOCKED,     /* it made none, but for less than the threshold, or the stall is reported already */
    PEL_WATCH_STALLED      /* it made none for the threshold, and the stall must be reported */
};
enum pel_watch_state pel__watchdog_check(struct pel_watch *watch, int64_t now, int64_t elapsed, int64_t threshold);

extern int pel__watchdog_needs_wake; /* atomic: the thread sleeps until pel__watchdog_wake */
void pel__watchdog_wake(void);

/* Counts a step of the loop. Returns 1 when a stall has ended with it: the caller then calls pel_watchdog_end_stall. */
static inline int pel_watch_step(struct pel_watch *watch)
{
    __atomic_store_n(&watch->progress, watch->progress + 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&watch->reported, __ATOMIC_RELAXED);
}

/* Marks the loop idle: it is about to wait and has nothing else to do. Returns 1 as pel_watch_step does. */
static inline int pel_watch_idle(struct pel_watch *watch)
{
    __atomic_store_n(&watch->idle, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&watch->reported, __ATOMIC_SEQ_CST);
}

/* Marks the loop busy: the wait is over. */
static inline void pel_watch_wake(struct pel_watch *watch)
{
    __atomic_store_n(&watch->progress, watch->progress + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->idle, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pel__watchdog_needs_wake, __ATOMIC_SEQ_CST) && watch->fork_generation)
        pel__watchdog_wake();
}
