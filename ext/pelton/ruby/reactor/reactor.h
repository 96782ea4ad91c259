#pragma once

#include <ruby.h>
#include "core/loop/loop.h"
#include "core/stream/splice.h"
#include "core/stream/stream.h"
#include "ruby/base/checked.h"
#include "ruby/base/convert.h"
#include "ruby/base/exception.h"
#include "ruby/base/roots.h"
#include "ruby/reactor/descriptor.h"
#include "ruby/reactor/dispatch.h"
#include "ruby/reactor/give_up.h"
#include "ruby/reactor/job.h"
#include "ruby/reactor/locals.h"
#include "ruby/reactor/mutex_queue.h"
#include "ruby/reactor/park.h"
#include "ruby/reactor/pending_exception.h"
#include "ruby/reactor/rank.h"
#include "ruby/reactor/run.h"
#include "ruby/reactor/tick.h"
#include "ruby/reactor/turn.h"
#include "ruby/reactor/waiter.h"
#include "ruby/reactor/watchdog_class.h"
#include "ruby/reactor/worker.h"

/*
 * The reactor: a loop, the fibers that wait for it, and the queues of ready jobs. Each thread has at most one.
 *
 * Fibers (docs/internals/architecture.md has the state table): exactly one worker fiber, the loop runner, runs the
 * loop, and callbacks run on it. When a callback waits, the fiber it runs on is parked with it, and a pooled worker
 * becomes the loop runner. A fiber that parks while nothing else is pending waits inline, without a switch. One
 * function alone switches fibers, pel_switch in switch.c, and it uses Fiber#transfer alone.
 *
 * Where no reactor runs, pel_park makes the loop's iterations itself and blocks the thread.
 */

/* ---- reclaiming descriptors ------------------------------------------------------------------------------------ */

/* An owner of idle connections, which it can close when the process has run out of descriptors. */
struct pel_reclaimer {
    struct pel_reclaimer *next;
    /* Closes some descriptors that are not in use, and returns their number. Calls no Ruby. */
    unsigned (*close_some)(struct pel_reclaimer *reclaimer);
};

/* Has one of the reactor's reclaimers close some descriptors; 0 when none of them can. */
int pel_reclaim_descriptors(struct pel_reactor *reactor);

/* Whether a call that has just returned this code is worth one more try: it found no descriptor, and some were closed
 * meanwhile, those of idle connections, or else those of objects that are garbage. May collect and compact. */
int pel_try_again_p(struct pel_reactor *reactor, int code);

/* ---- objects that live while they are linked ------------------------------------------------------------------- */

/* Unlike a GC root, it is not stopped with the reactor. */
struct pel_kept {
    struct pel_link link;
    VALUE object;
};

/* ---- the reactor ----------------------------------------------------------------------------------------------- */

/* What the room of operations keeps with a reactor. */
struct pel_operations {
    struct pel_operation *chain_end; /* the last operation of the ready queue's last job, if that is a chain of them */
    uint8_t reports_collected;       /* a job is queued that reports failed tasks whose objects were collected */
};

/* Each part belongs to the file whose header has its struct. Those that each operation needs stand first. */
struct pel_reactor {
    struct pel_loop loop;
    VALUE self, thread;
    enum pel_phase phase;
    int32_t budget;       /* what operations that are ready at once may still cost before the next tick: yield.h */
    struct pel_rank rank; /* of the code that runs */
    struct pel_batch batch;
    struct pel_queues queues;
    struct pel_seniority seniority;
    struct pel_hold hold;
    struct pel_operations operations;
    size_t references; /* of active operations, one-shot timers, listeners: as parked fibers, they keep run going */
    struct pel_workers workers;
    struct pel_switches switches;
    struct pel_parked parked;
    struct pel_stalls stalls;
    struct pel_ticks tick;
    struct pel_locals locals;
    struct pel_run run;
    struct pel_roots roots; /* the active objects */
    struct pel_grace grace;
    struct pel_descriptors descriptors;
    struct pel_link *kept; /* struct pel_kept: objects that the reactor keeps alive */
    struct pel_reclaimer *reclaimers;
    struct pel_splice splice;
};

extern VALUE pel_cReactor;

/* The reactor of this thread; one is made when there is none. After a fork the inherited one is closed and replaced.
 * Raises Pelton::Error when it cannot be opened. */
struct pel_reactor *pel_reactor_current(void);

/* The reactor of this thread if there is one, otherwise NULL. Never raises. */
struct pel_reactor *pel_reactor_existing(void);

/* The running reactor of this thread. Raises NotRunningError, whose message names the caller's method. */
struct pel_reactor *pel_reactor_running(const char *method);

/* The reactor of a Pelton::Reactor object. Raises ClosedError when it is closed, or was inherited through a fork. */
struct pel_reactor *pel_reactor_get(VALUE self);

/* The same, whatever the reactor's state. */
struct pel_reactor *pel_reactor_peek(VALUE self);

/* Whether a waiting call parks (1) or blocks the thread (0). A fiber that Ruby calls blocking parks as well, although
 * Ruby itself calls no scheduler hook there: blocking would keep the loop from the awaited event. */
static inline int pel_can_park(const struct pel_reactor *reactor)
{
    return reactor->phase != PEL_IDLE;
}

/* Tells the watchdog that the loop makes progress. */
static inline void pel_note_progress(struct pel_reactor *reactor)
{
    if (pel_watch_step(&reactor->stalls.watch))
        pel_end_stall(reactor);
}

/* Whether a job stands on any queue. */
static inline int pel_jobs_p(const struct pel_reactor *reactor)
{
    return pel_queues_count(&reactor->queues) > 0;
}

/* Whether nothing keeps run going: no parked fiber but those of transient tasks, no job, no reference, no output to
 * flush. */
static inline int pel_nothing_left(const struct pel_reactor *reactor)
{
    return reactor->parked.count == reactor->parked.transient && !pel_jobs_p(reactor) && !reactor->references &&
           !reactor->loop.flush_list;
}
