#ifndef PEL_REACTOR_H
#define PEL_REACTOR_H

#include <ruby.h>
#include "../core/loop.h"
#include "../core/splice.h"
#include "../core/stream.h"
#include "../core/watchdog.h"
#include "job.h"
#include "listed.h"
#include "park.h"

/*
 * The reactor: a loop, the fibers that wait for it, and the queues of what is ready. Each thread has at most one.
 *
 * Fibers (the state table is in docs/architecture.md). Exactly one worker fiber turns the loop; callbacks run on it. A
 * callback that waits is parked together with the fiber it runs on, and a pooled worker takes the loop over. A parking
 * fiber with nothing else pending waits inline. Whatever happens, there is one place that switches fibers: pel_switch
 * in fiber.c, and Fiber#transfer is all it uses.
 *
 * Where no reactor runs, pel_park turns the loop's C part itself and blocks the thread.
 */

/* ---- alarms: timers of the reactor ---------------------------------------------------------------------------- */

struct pel_alarm {
    struct pel_timer timer; /* first */
    /* C that calls no Ruby code and switches no fiber: it may make objects, fire, settle and enqueue. */
    void (*ring)(struct pel_reactor *reactor, struct pel_alarm *alarm);
    uint8_t on_stack; /* it lies on a fiber's stack: cancelled when that fiber is given up */
};

/* ---- spares: who can do without descriptors ---------------------------------------------------------------------- */

struct pel_spare {
    struct pel_spare *next;
    /* Descriptors have run out: closes some that nobody would miss. Their number. C only. */
    unsigned (*close_some)(struct pel_spare *spare);
};

/* Has one of them close some; 0 when nobody can. */
int pel_spare(struct pel_reactor *reactor);

/* ---- the reactor ---------------------------------------------------------------------------------------------- */

#define PEL_HOT_BUFFER 65536
#define PEL_BUDGET 256             /* ready operations, or 4 KB pieces, before the loop must turn */
#define PEL_BATCH_NS (1000 * 1000) /* time for jobs before the loop must turn */
#define PEL_HANDOVERS 64           /* fibers that wake each other, beyond a tick's batch, before the loop must turn */
#define PEL_IDLE_WORKERS 128       /* pooled workers that are kept for the next callbacks that wait; more end */
#define PEL_UNCOUNTED UINT32_MAX
#define PEL_LAST_TICKS 64 /* for jobs that go on making jobs when nothing else keeps a stopping reactor */

enum pel_phase {
    PEL_IDLE, /* nobody is in run */
    PEL_RUNNING,
    PEL_STOPPING, /* stop was called: what is parked is cancelled, within the grace time */
    PEL_LEAVING   /* the turner goes back to run's caller */
};

struct pel_reactor {
    struct pel_loop loop;
    VALUE self, thread;
    unsigned fork_generation;
    enum pel_phase phase;
    int standalone;                /* Fiber.schedule was called outside run: close turns until it is done */
    int64_t grace, grace_deadline; /* nanoseconds; the deadline is 0 until stopping has begun */
    struct pel_alarm grace_alarm;
    uint32_t last_ticks;
    VALUE value; /* what run returns */
    VALUE fatal; /* what run raises: an exception that nobody may swallow, Qnil */

    struct pel_queue ready, due;
    struct pel_operation *chain_end; /* where the ready queue's last job, when it is a chain of operations, ends */
    uint32_t batch_left;             /* ready jobs of this tick that are still to run; or PEL_UNCOUNTED */
    uint32_t handovers_left;         /* fibers that became ready in this tick and may run in it */
    int64_t batch_end;
    int due_over, ready_over; /* the time in this tick is over for due jobs, for ready ones */
    int64_t spin_ns;          /* the next wait may spin so long before it sleeps: set by who waits, taken by the wait */
    int32_t budget;           /* what ready operations may still do before the loop must turn */

    int carries;  /* fiber-locals go from worker to worker; 2: and from run's caller to them and back */
    VALUE locals; /* the loop's set of them, a Hash or nil, while no worker's fiber holds it */
    VALUE caller; /* the fiber that called run; fibers that end land there */
    VALUE target; /* whom the last switch was meant for */
    VALUE thrown; /* what was raised last in a fiber that waited, Qnil */
    uint64_t arrivals;
    struct pel_worker *workers, *idle_workers, *current_worker;
    uint32_t worker_count, idle_count;
    struct pel_waiter parked; /* head of the ring of parked waiters, the last to park first */
    uint32_t parked_count;
    struct pel_waiter given_up; /* head of the ring of waiters whose fibers outlived a grace time and never run again */
    struct st_table *sleepers;  /* fiber => the innermost of its sleepers */
    struct pel_timeout *timeouts; /* those that are armed (scheduler_timeout.c) */

    struct pel_descriptor **descriptors; /* by number: descriptors of others that were waited for */
    int descriptor_capacity;

    size_t references;       /* what keeps run going beside parked fibers: operations, one-shot timers, listeners */
    uint8_t fired_off_queue; /* in this tick: the fiber that insists on waiting may have to wait no more */
    struct pel_list list;    /* what is active, and kept alive */
    struct pel_spare *spares;
    char *hot_buffer; /* PEL_HOT_BUFFER bytes, lent for the time of one receive */
    struct pel_splice splice;

    /* statistics */
    uint64_t turns, switches, jobs_run;
    int64_t idle_ns, ran_ns, began_at; /* waiting in runs; in the runs before this one; when this one began */
    struct pel_watch watch;            /* it steps with each turn, job and switch */
    struct pel_stall *past_stalls;     /* those over, and not yet told to Ruby; the first one first */
    uint64_t stalls;
    int64_t longest_stall;
};

/* Begins and ends the watch over a reactor that runs on this thread. */
void pel_watch(struct pel_reactor *reactor);
void pel_unwatch(struct pel_reactor *reactor);

/* Counts a stall that is over, and puts it on the ready queue. */
void pel_end_stall(struct pel_reactor *reactor);

static inline void pel_step(struct pel_reactor *reactor)
{
    if (pel_watch_step(&reactor->watch))
        pel_end_stall(reactor);
}

/* The reactor of this thread; one is made when there is none. After a fork the inherited one is closed and replaced.
 * Raises Pelton::Error when it cannot be opened. */
struct pel_reactor *pel_reactor_current(void);

/* The reactor of this thread if there is one, NULL otherwise. Never raises. */
struct pel_reactor *pel_reactor_existing(void);

/* The running reactor of this thread. Raises NotRunningError, naming what was called. */
struct pel_reactor *pel_reactor_running(const char *what);

/* From a Pelton::Reactor object. Raises ClosedError for one that is closed or inherited through a fork. */
struct pel_reactor *pel_reactor_get(VALUE self);

/* From the same, whatever its state. */
struct pel_reactor *pel_reactor_peek(VALUE self);

/* Whether a waiting call parks (1) or blocks the thread (0). A fiber that Ruby calls blocking parks as well: blocking
 * would keep the loop from what is waited for. Ruby itself calls no hook there. */
static inline int pel_can_park(const struct pel_reactor *reactor)
{
    return reactor->phase != PEL_IDLE;
}

/* Called by an operation that was done without waiting: after a budget the loop is turned once, so that ready data
 * starves nobody. cost: 1 + kilobytes moved / 4. */
static inline void pel_spend(struct pel_reactor *reactor, int32_t cost)
{
    if ((reactor->budget -= cost) <= 0)
        pel_overspend(reactor);
}

/* The loop's one buffer for receiving. Its content is gone at the next call that may run Ruby or receive. */
char *pel_hot_buffer(struct pel_reactor *reactor);

/* ---- turning (turn.c) ------------------------------------------------------------------------------------------ */

enum pel_patience {
    PEL_LOOK,  /* do not wait */
    PEL_WAIT,  /* wait, unless something is ready */
    PEL_INSIST /* wait, whatever is ready: on a fiber that blocks the thread */
};

/* Turns the loop's C part once: flush, look or wait, dispatch events, expire timers. Runs no Ruby code but that of trap
 * handlers, which may park. Returns 0, or the state of a pending interrupt that raised. */
int pel_tick(struct pel_reactor *reactor, enum pel_patience patience);

/* A tick that does not wait, in the middle of a callback: what came is received and settled, but no fiber switches. May
 * raise an interrupt, as Ruby code may anywhere. */
void pel_look(struct pel_reactor *reactor);

/* Turns the loop on a worker's fiber. Returns when the worker is one too many. */
void pel_turn(struct pel_reactor *reactor, struct pel_worker *worker);

/* Keeps an interrupt for run to raise. 0, or the state when it is not run's: Thread#kill, no run, or meant for the
 * fiber. */
int pel_interrupted(struct pel_reactor *reactor, int state);

/* ---- fibers (fiber.c) ------------------------------------------------------------------------------------------ */

struct pel_worker {
    struct pel_worker *next, *next_idle;
    struct pel_reactor *reactor;
    VALUE fiber;
    struct pel_operation *task; /* the task that runs on it */
    VALUE task_object;          /* its Pelton::Task; Qfalse */
    struct pel_waiter *waiter;  /* the innermost waiter of what runs on it */
    VALUE left; /* its fiber-locals when it last gave control away; Qfalse: it holds the loop's; Qundef: it never did */
    VALUE put_aside; /* its callback's, while the callback runs with a clean set; Qfalse: it does not */
    uint8_t idle;    /* it is in the pool */
};

/* Transfers to a fiber: the one place. 1 when somebody has transferred back; *state is 0, or to be passed to
 * pel_rethrow: somebody raised into this fiber, or the thread is being killed. (An interrupt on arrival ends run
 * instead.) 0 when the switch failed, with its *state. */
int pel_switch(struct pel_reactor *reactor, VALUE fiber, int *state);

/* Switches from the waiter's fiber (NULL: from run's caller) to the next ready one, or to a worker that turns the loop;
 * not when the waiter was woken meanwhile. 0 or a state, as pel_switch. */
int pel_hand_over(struct pel_reactor *reactor, const struct pel_waiter *waiter);

/* Puts a worker into the pool and takes it out. */
void pel_worker_rest(struct pel_reactor *reactor, struct pel_worker *worker);
void pel_worker_rise(struct pel_reactor *reactor, struct pel_worker *worker);

/* Starts a non-blocking fiber at once; the caller goes on when the fiber first waits or ends. Returns the fiber. */
VALUE pel_start_fiber(struct pel_reactor *reactor, VALUE proc);

/* Marks workers and waiters. */
void pel_fibers_mark(struct pel_reactor *reactor);

/* ---- run (run.c) ----------------------------------------------------------------------------------------------- */

/* Starts a fiber where the reactor does not run but is the thread's scheduler: it comes as far as its first wait, and
 * goes on when the scheduler is closed, or in the next run. Returns the fiber. */
VALUE pel_run_outside(struct pel_reactor *reactor, VALUE proc);

/* The scheduler's close: turns until what was begun outside run is done. Raises when it is called inside run. */
void pel_run_close(struct pel_reactor *reactor);

/* Begins to stop: stops what is listed, and raises Cancelled in every parked fiber. */
void pel_begin_to_stop(struct pel_reactor *reactor);

/* Seconds as nanoseconds: 0 for negative ones, half of for ever for very many. Raises TypeError, ArgumentError. */
int64_t pel_nanoseconds(VALUE seconds);

extern VALUE pel_mPelton, pel_cReactor;

void pel_init_reactor(void);
void pel_init_run(void);
void pel_init_fiber(void);
void pel_init_timer(void);
void pel_init_watchdog(void);

#endif
