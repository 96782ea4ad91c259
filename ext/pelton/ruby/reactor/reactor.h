#ifndef PELTON_RUBY_REACTOR_REACTOR_H
#define PELTON_RUBY_REACTOR_REACTOR_H

#include <ruby.h>
#include "core/loop/loop.h"
#include "core/loop/watchdog.h"
#include "core/stream/splice.h"
#include "core/stream/stream.h"
#include "ruby/base/error.h"
#include "ruby/base/roots.h"
#include "ruby/base/seconds.h"
#include "ruby/reactor/dispatch.h"
#include "ruby/reactor/give_up.h"
#include "ruby/reactor/job.h"
#include "ruby/reactor/park.h"
#include "ruby/reactor/pending_exception.h"
#include "ruby/reactor/waiter.h"
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

/* ---- timers of the reactor ------------------------------------------------------------------------------------- */

struct pel_reactor_timer {
    struct pel_timer entry; /* first */
    /* Must neither call Ruby code nor switch fibers. May make objects, fire waiters, settle operations and enqueue. */
    void (*on_timeout)(struct pel_reactor *reactor, struct pel_reactor_timer *timer);
    uint8_t on_stack; /* the timer lies on a fiber's stack: it is cancelled when that fiber is abandoned */
};

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

#define PEL_HOT_BUFFER 65536
#define PEL_BUDGET 256             /* operations that were ready at once, or 4 KB pieces, before the next tick */
#define PEL_BATCH_NS (1000 * 1000) /* the time that a tick gives to due jobs, and again to ready jobs */
#define PEL_HANDOVERS 64           /* fibers that wake each other, beyond a tick's batch, before the next tick */
#define PEL_IDLE_WORKERS 128       /* workers that the pool keeps for callbacks that wait; surplus workers end */
#define PEL_SENIORITY_NS (250 * 1000 * 1000) /* for so long a request that has begun goes before all later ones */
#define PEL_UNCOUNTED UINT32_MAX
#define PEL_LAST_TICKS 64 /* for jobs that go on making jobs when nothing else keeps a stopping reactor */

enum pel_phase {
    PEL_IDLE, /* outside run */
    PEL_RUNNING,
    PEL_STOPPING, /* stop was called: parked fibers are cancelled, and have the grace time to end */
    PEL_LEAVING   /* the loop runner goes back to run's caller */
};

/* Whether workers carry fiber-locals (Thread.current[:x]) from fiber to fiber, and so share one set, the loop's. */
enum pel_locals_mode {
    PEL_LOCALS_APART,    /* each fiber has its own */
    PEL_LOCALS_CARRIED,  /* the workers share a set */
    PEL_LOCALS_OF_CALLER /* run's caller shares the set as well: it provides the first one, and takes over the last */
};

struct pel_reactor {
    struct pel_loop loop;
    VALUE self, thread;
    unsigned fork_generation;
    enum pel_phase phase;
    int began_outside_run;         /* Fiber.schedule has begun fibers outside run: close runs the loop until they end */
    int64_t grace, grace_deadline; /* nanoseconds; the deadline is 0 until stopping has begun */
    struct pel_reactor_timer grace_timer;
    uint32_t last_ticks_left;
    VALUE value;          /* run returns it */
    VALUE fatal;          /* run raises it: an exception that no code may swallow, Qnil */
    uint8_t main_pending; /* the task of run's block has not ended, and should */

    struct pel_queue due, ready, begun, arrived;
    struct pel_rank rank;  /* of the code that runs */
    uint32_t begun_parked; /* parked waiters of requests that have begun */
    uint8_t request_ran;   /* in this tick: a job of a request */
    uint64_t
        begin_put_off_in; /* the tick in which no request has begun, because something begun may be able to go on; 0 */
    uint64_t ranked;      /* jobs that were ever put on `begun` */
    int64_t last_began;   /* when the last request began: no two at once */
    int64_t seniority;    /* nanoseconds: PEL_SENIORITY_NS but in tests */
    struct pel_operation *chain_end; /* the last operation of the ready queue's last job, if that is a chain of them */
    uint32_t batch_left;             /* ready jobs that may still run in this tick; PEL_UNCOUNTED: not counted yet */
    uint32_t handovers_left;         /* fibers that became ready in this tick and may still run in it */
    int64_t batch_end;
    uint8_t due_time_used, ready_time_used, requests_time_used; /* these jobs have had their time in this tick */
    int64_t silence; /* nanoseconds that the loop waits where nothing that it knows can wake it, before it says so */
    int64_t spin_ns; /* the next wait may spin so long before it sleeps; set by an awaiting caller, reset by the wait */
    int32_t budget;  /* what operations that are ready at once may still cost before the next tick */

    enum pel_locals_mode locals_mode;
    VALUE locals;        /* the loop's set, a Hash or nil, while no worker's fiber holds it */
    VALUE caller;        /* the fiber that called run; fibers that end land there */
    VALUE switch_target; /* the fiber that the last switch was meant for */
    VALUE last_raised;   /* the exception that was last raised in a waiting fiber, Qnil */
    uint32_t refusals;   /* of a fiber that was ended, and waits again */
    uint64_t arrivals;   /* of fibers, after switches */
    struct pel_worker *workers, *idle_workers, *current_worker;
    uint32_t worker_count, idle_count;
    struct pel_waiter parked;               /* head of the circular list of parked waiters, the last to park first */
    uint32_t parked_count, transient_count; /* of all parked waiters, and of the transient ones among them */
    struct pel_waiter abandoned;       /* head of the circular list of waiters whose fibers outlived a grace time */
    struct st_table *sleepers;         /* fiber => the innermost of its sleepers */
    struct st_table *workers_by_fiber; /* fiber => struct pel_worker */
    struct pel_link *kept;             /* struct pel_kept: objects that the reactor keeps alive */

    struct pel_descriptor **descriptors; /* by number: descriptors of other owners that fibers have waited for */
    int descriptor_capacity;

    size_t references; /* of active operations, one-shot timers, listeners: as parked fibers, they keep run going */
    uint8_t reports_collected; /* a job is queued that reports failed tasks whose objects were collected */
    uint8_t fired_off_queue;   /* in this tick: the wait of a fiber that blocks the thread may be over */
    struct pel_roots roots;    /* the active objects */
    struct pel_reclaimer *reclaimers;
    char *hot_buffer; /* PEL_HOT_BUFFER bytes, borrowed for the time of one receive */
    struct pel_splice splice;

    /* statistics */
    uint8_t measures_waits; /* the workers' `waited` is wanted */
    uint64_t iterations, switches, jobs_run;
    int64_t idle_ns, ran_ns, began_at; /* time waited in all runs; time of all earlier runs; when this run began */
    struct pel_watch watch;            /* makes progress with each tick, job and switch */
    struct pel_stall *past_stalls;     /* stalls that are over and not yet reported to Ruby, in their order */
    uint64_t stalls;
    int64_t longest_stall;
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

/* An operation that was done without waiting calls this. When the budget is exhausted the loop makes one iteration, so
 * that ready data starves no other connection. cost: 1 + kilobytes moved / 4. */
static inline void pel_spend(struct pel_reactor *reactor, int32_t cost)
{
    if ((reactor->budget -= cost) <= 0)
        pel_budget_exhausted(reactor);
}

/* Puts a worker into the pool. */
static inline void pel_worker_pool_put(struct pel_reactor *reactor, struct pel_worker *worker)
{
    worker->idle = 1;
    worker->next_idle = reactor->idle_workers;
    reactor->idle_workers = worker;
    reactor->idle_count++;
}

/* Removes a worker from the pool. */
static inline void pel_worker_pool_remove(struct pel_reactor *reactor, struct pel_worker *worker)
{
    struct pel_worker **link = &reactor->idle_workers;

    while (*link != worker)
        link = &(*link)->next_idle;
    *link = worker->next_idle;
    worker->idle = 0;
    reactor->idle_count--;
}

/* ---- the watchdog (watchdog_class.c) --------------------------------------------------------------------------- */

/* Begins and ends the watch over a reactor that runs on this thread. */
void pel_watch(struct pel_reactor *reactor);
void pel_unwatch(struct pel_reactor *reactor);

/* Counts a stall that is over, and enqueues its report. */
void pel_end_stall(struct pel_reactor *reactor);

/* Tells the watchdog that the loop makes progress. */
static inline void pel_note_progress(struct pel_reactor *reactor)
{
    if (pel_watch_step(&reactor->watch))
        pel_end_stall(reactor);
}

/* ---- one iteration of the loop (tick.c) ------------------------------------------------------------------------ */

enum pel_wait_mode {
    PEL_POLL,       /* do not wait */
    PEL_WAIT,       /* wait, unless a job is ready */
    PEL_WAIT_ALWAYS /* wait even if jobs are ready: on a fiber that blocks the thread */
};

/* Makes one loop iteration's C part: flush, poll or wait, dispatch events, expire timers. Runs no Ruby code except trap
 * handlers, which may park. Returns 0, or the state of a pending interrupt that raised. */
int pel_tick(struct pel_reactor *reactor, enum pel_wait_mode wait_mode);

/* Whether nothing that the loop knows can end its wait: no timer, no descriptor. Another thread can, or a trap handler.
 * (silence.c) */
int pel_silent(const struct pel_reactor *reactor, int64_t timeout);

/* Such a wait has lasted for reactor->silence: if no thread can end it either, the log names the fibers that wait. */
void pel_note_silence(struct pel_reactor *reactor);

#define PEL_SILENCE_NS (INT64_C(5) * 1000 * 1000 * 1000)

/* A tick that does not wait, in the middle of a callback: data that has arrived is received and operations are settled,
 * but no fiber switches. May raise an interrupt, as Ruby code may anywhere. */
void pel_poll(struct pel_reactor *reactor);

/* Whether nothing keeps run going: no parked fiber but those of transient tasks, no job, no reference, no output to
 * flush. */
static inline int pel_nothing_left(const struct pel_reactor *reactor)
{
    return reactor->parked_count == reactor->transient_count && !pel_jobs_p(reactor) && !reactor->references &&
           !reactor->loop.flush_list;
}

/* The loop's only buffer for receiving. The next call that may run Ruby or receive overwrites it. */
char *pel_hot_buffer(struct pel_reactor *reactor);

/* ---- running (run_loop.c, stop.c, run.c) ----------------------------------------------------------------------- */

/* Runs the loop on a worker's fiber. Returns when the worker must end, because the pool is full or run is over. */
void pel_run_loop(struct pel_reactor *reactor, struct pel_worker *worker);

/* Begins to stop: stops all GC roots, and raises Cancelled in every parked fiber. */
void pel_begin_to_stop(struct pel_reactor *reactor);

/* Stops each GC root once; a root may add itself again. An error of one root does not keep the others from stopping. */
void pel_stop_roots(struct pel_reactor *reactor);

/* Starts a fiber where the reactor is the thread's scheduler but does not run. The fiber runs to its first wait, and
 * goes on when the scheduler is closed, or in the next run. Returns the fiber. */
VALUE pel_run_outside(struct pel_reactor *reactor, VALUE proc);

/* The scheduler's close: runs the loop until all fibers that began outside run have ended. Raises inside run. */
void pel_run_close(struct pel_reactor *reactor);

void pel_init_reactor(void);
void pel_init_reactor_class(void);
void pel_init_run(void);
void pel_init_worker(void);
void pel_init_timer(void);
void pel_init_timer_table(void);
void pel_init_watchdog(void);
void pel_init_stop_limit(void);

/* Pelton::Inotify, on systems that have inotify: EventMachine's file watches use it. */
void pel_init_inotify(void);

#endif
