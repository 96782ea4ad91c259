#ifndef PEL_WATCHDOG_H
#define PEL_WATCHDOG_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "whereabouts.h"

/*
 * The watchdog: one native thread that looks at every running loop of the process. A loop that neither makes progress
 * nor rests for as long as the threshold has stalled: the watchdog asks its thread where it stands (whereabouts.h), and
 * writes that to a descriptor while the loop still stands there.
 *
 * A loop pays one store and one load for each step. The thread looks twice in the time of the threshold while a loop
 * works; once all loops rest it sleeps until one of them has something to do again.
 *
 * After a fork the child has neither the thread nor watched loops; the next pel_watchdog_watch starts it.
 */

#define PEL_WATCHDOG_THRESHOLD (100 * 1000 * 1000) /* nanoseconds */

struct pel_stall {
    struct pel_stall *next; /* the owner's to use */
    int64_t nanoseconds;
    char place[]; /* lines, the innermost first */
};

/* One for each loop, zeroed. It must not move while it is watched. */
struct pel_watch {
    uint64_t progress;           /* atomic, written by the loop alone */
    int resting;                 /* atomic: the loop waits, and has nothing else to do */
    int told;                    /* atomic: the present stall was reported */
    struct pel_watch *next;      /* from here on guarded by the watchdog's lock */
    struct pel_stall *stall;     /* the present one */
    pthread_t thread;            /* the loop's */
    unsigned generation;         /* of forks; 0: not watched */
    uint64_t seen;               /* progress at the last look */
    int64_t moved_at;            /* some instant after which the present standing began */
    int64_t looked_at, standing; /* the last look, and the nanoseconds that it stood then */
};

/* Nanoseconds of the threshold, 0: no watching; the descriptor for reports, -1: none. It must stay open. */
void pel_watchdog_set(int64_t threshold, int fd);

/* Watches the calling thread's loop from now on. 0, or PEL_ESYSTEM when there can be no thread: then it is not watched,
 * and all other functions may be called nevertheless. */
int pel_watchdog_watch(struct pel_watch *watch, pel_whereabouts *place);

/* Call it on the loop's thread, before the thread or the memory ends. Of one that is not watched: does nothing. */
void pel_watchdog_forget(struct pel_watch *watch);

/* Ends the stall that was told: it lasted from the loop's last wait, whose end is `since`, until now. The caller frees
 * it (pel_free). NULL when there is none after all. */
struct pel_stall *pel_watchdog_end(struct pel_watch *watch, int64_t since);

/* Whether the thread sleeps until a loop has something to do. */
int pel_watchdog_resting(void);

/* The number of loops that are watched. */
size_t pel_watchdog_count(void);

/* What a look at a loop shows, `elapsed` nanoseconds after the last one. For the watchdog itself, and its test. */
enum pel_sight { PEL_RESTS, PEL_MOVES, PEL_STANDS, PEL_STALLS };
enum pel_sight pel__watchdog_look(struct pel_watch *watch, int64_t now, int64_t elapsed, int64_t threshold);

extern int pel__watchdog_asleep; /* atomic */
void pel__watchdog_wake(void);

/* The loop has made a step. 1 when a stall has ended with it: call pel_watchdog_end. */
static inline int pel_watch_step(struct pel_watch *watch)
{
    __atomic_store_n(&watch->progress, watch->progress + 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&watch->told, __ATOMIC_RELAXED);
}

/* The loop is about to wait, and has nothing else to do. 1 as above. */
static inline int pel_watch_rest(struct pel_watch *watch)
{
    __atomic_store_n(&watch->resting, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&watch->told, __ATOMIC_SEQ_CST);
}

/* The wait is over. */
static inline void pel_watch_wake(struct pel_watch *watch)
{
    __atomic_store_n(&watch->progress, watch->progress + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->resting, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pel__watchdog_asleep, __ATOMIC_SEQ_CST) && watch->generation)
        pel__watchdog_wake();
}

#endif
