#pragma once

#include <ruby.h>
#include <stdint.h>
#include "ruby/reactor/hold.h"
#include "ruby/reactor/job.h"

/* Waiters: the record of a fiber that waits for one thing. Include reactor.h. */

struct pel_operation;
struct pel_reactor;
struct pel_sleeper;
struct pel_timer;

/* A waiter lives on the C stack of the waiting fiber. The reactor links and marks it while the fiber is parked. */
struct pel_waiter {
    struct pel_waiter *previous, *next;
    struct pel_waiter *next_awaiter; /* the next fiber that awaits the same operation */
    struct pel_operation *operation; /* its result is kept alive until this fiber has taken it; may be NULL */
    struct pel_timer *deadline;
    struct pel_rank rank;
    struct pel_held_wait held; /* of a request that has begun */
    VALUE fiber;
    VALUE exception;    /* is raised in the fiber when it wakes, Qfalse: none */
    VALUE starts_fiber; /* the waiter is ready at once, and this new fiber runs first, Qfalse: none */
    uint8_t yields;     /* the waiter is ready at once; the loop makes an iteration, and all that is ready, first */
    uint8_t fired;      /* the awaited event has happened; later wake-ups are no-ops */
    uint8_t queued;     /* the waiter is on a queue, and its fiber must not go on before its turn */
    uint8_t timed_out;  /* the deadline fired the waiter */
    uint8_t unblocked;  /* pel_unblock fired it: a Mutex or a Queue relies on this fiber going on */
    uint8_t off_queue;  /* firing puts it on no queue, because the wait blocks the thread or was abandoned */
    uint8_t transient;  /* of a transient task: the wait does not keep run going */
    uint8_t given_up;   /* the reactor leaves, and the fiber has had its turn to end */
    uint8_t abandoned;  /* run has ended while the fiber was parked: the fiber never goes on */
};

struct pel_parked {
    struct pel_waiter head;           /* of the circular list of parked waiters, the last to park first */
    uint32_t count, transient, begun; /* of all, of those of transient tasks, of requests that have begun */
    VALUE last_raised;                /* the exception that was last raised in a waiting fiber, Qnil */
    struct st_table *sleepers;        /* fiber => the innermost of its sleepers (sleep.c) */
    struct pel_sleeper *locked;       /* those of requests that wait for a Mutex, the last in front */
    struct pel_waiter abandoned;      /* head of the list of waiters whose fibers outlived a grace time */
};

/* Functions of the operations, whose room stands above this one and which a wait for an operation needs. That room sets
 * them when it is loaded. */
struct pel_operation_hooks {
    void (*mark)(struct pel_operation *operation);
    void (*mark_job)(const struct pel_job *job);                         /* of an operation */
    int (*deliver)(struct pel_reactor *reactor, int *state);             /* pel_operation_deliver */
    void (*spawn_main)(struct pel_reactor *reactor, VALUE block);        /* starts run's block as a task */
    unsigned (*report_failures)(struct pel_reactor *reactor);            /* pel_failures_report */
    int (*report_failures_now)(struct pel_reactor *reactor, int *state); /* pel_failures_report_now */
};

extern struct pel_operation_hooks pel_operation_hooks;

/* Whether the waiter's fiber may go on: the waiter was fired, and has left the queue. */
static inline int pel_woken(const struct pel_waiter *waiter)
{
    return waiter->fired && !waiter->queued;
}

/* Wakes a waiter: puts it on the ready queue, unless it was fired before. Never fails, because parking has reserved a
 * slot on the queue. May be called by the reactor's thread, and by any other thread that holds the GVL. */
void pel_waiter_fire(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Wakes a waiter whose deadline has come: puts it on the due queue. */
void pel_waiter_time_out(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* A queue of fibers that wait for their turns, first in, first out. A zeroed one is empty. Each entry lies on the stack
 * of its fiber. */
struct pel_turn {
    struct pel_waiter *waiter;
    struct pel_turn *next;
};

struct pel_turns {
    struct pel_turn *first, *last;
};

void pel_turns_enter(struct pel_turns *turns, struct pel_turn *turn);

/* Takes an entry out, wherever it stands. Does nothing for one that is not there. */
void pel_turns_leave(struct pel_turns *turns, struct pel_turn *turn);

/* Wakes the fiber whose turn is next, if there is one; or all. Leaves the entries in the queue. */
void pel_turns_fire_first(struct pel_reactor *reactor, const struct pel_turns *turns);
void pel_turns_fire_all(struct pel_reactor *reactor, const struct pel_turns *turns);

/* The innermost waiter of a parked fiber; NULL when the fiber is not parked. */
struct pel_waiter *pel_waiter_of(struct pel_reactor *reactor, VALUE fiber);

void pel_waiters_mark(struct pel_reactor *reactor);
