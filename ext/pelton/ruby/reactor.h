#ifndef PEL_REACTOR_H
#define PEL_REACTOR_H

#include <ruby.h>
#include "../core/loop.h"
#include "../core/stream.h"
#include "../core/watchdog.h"

/*
 * The reactor: a loop, the fibers that wait for it, and the queue of what is ready. Each thread has at most one.
 *
 * Fibers (the state table is in docs/architecture.md). Exactly one worker fiber turns the loop; callbacks run on it. A
 * callback that waits is parked together with the fiber it runs on, and a pooled worker takes the loop over. A parking
 * fiber with nothing else pending waits inline. Whatever happens, there is one place that switches fibers: pel_switch
 * in park.c, and Fiber#transfer is all it uses.
 *
 * Where no reactor runs, or on a blocking fiber, pel_park turns the loop's C part itself and blocks.
 */

struct pel_reactor;
struct pel_worker;
struct pel_operation;

/* ---- waiters: a fiber that waits for one thing ---------------------------------------------------------------- */

enum pel_wakeup {
    PEL_WOKEN = 1, /* what was waited for has happened */
    PEL_TIMED_OUT  /* the deadline came first */
};

/* Lives on the C stack of the waiting fiber; linked and marked through the reactor while it is parked. */
struct pel_waiter {
    struct pel_waiter *previous, *next;
    struct pel_waiter *next_awaiter; /* the next fiber that awaits the same operation */
    struct pel_operation *operation; /* which keeps its result alive until this fiber has taken it, or NULL */
    VALUE fiber;
    VALUE exception; /* raised in the fiber when it wakes (pel_raise_in), Qfalse */
    struct pel_worker *worker;
    uint8_t fired;     /* what it waits for has happened; later wake-ups are no-ops */
    uint8_t queued;    /* it is on the ready queue, and must not leave before its turn */
    uint8_t timed_out; /* its deadline fired it */
    uint8_t cancelled; /* the reactor's stop has raised Cancelled in it: once is enough */
};

/* Parks the current fiber until the waiter is fired or the monotonic clock reaches deadline (PEL_FOREVER: never).
 * Blocks where parking is not possible. Raises what was raised in it, after unlinking the waiter. The caller keeps the
 * waiter (zeroed) on its stack. Use it where nothing but the reactor refers to the waiter; otherwise use the next one.
 */
enum pel_wakeup pel_park(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline);

/* The same, but an exception is returned as a state for pel_rethrow instead of being raised: the caller can take the
 * waiter off its lists first. 0: look at waiter->timed_out. */
int pel_park_protected(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline);

/* Wakes a waiter: puts it on the ready queue, unless it is there already. Thread of the reactor, or any other thread
 * that holds the GVL. */
void pel_waiter_fire(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* The innermost waiter of a parked fiber; NULL when it is not parked. */
struct pel_waiter *pel_waiter_of(struct pel_reactor *reactor, VALUE fiber);

/* Raises exception in a parked fiber, when its turn comes. 0 when the fiber is not parked in this reactor. */
int pel_raise_in(struct pel_reactor *reactor, VALUE fiber, VALUE exception);

/* An exception that is due for a fiber wherever it waits: at once when it is parked, otherwise when it parks next (it
 * may have resumed another fiber, which is parked). Lives on that fiber's C stack; fiber and worker are set by the
 * caller. */
struct pel_late {
    struct pel_late *next;
    VALUE fiber, exception;
    struct pel_worker *worker; /* the current one when fiber was, or NULL */
    uint8_t raised;
};
void pel_raise_late(struct pel_reactor *reactor, struct pel_late *late);

/* Gives a fiber that parks the first exception that came too late for its last wait, unless it has one already. */
void pel_late_take(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* Before its memory is used for something else. Legal for one that is not on its way. */
void pel_late_forget(struct pel_reactor *reactor, struct pel_late *late);

/* ---- jobs: what is ready to run on the turning fiber ---------------------------------------------------------- */

struct pel_job {
    void (*run)(struct pel_reactor *reactor, void *data); /* may call Ruby, raise, and park. NULL: data is a waiter */
    void (*mark)(void *data);                             /* marks what data needs; may be NULL */
    void *data;
};

/* Puts a job at the end of the ready queue. Any thread that holds the GVL. Raises NoMemoryError. */
void pel_enqueue(struct pel_reactor *reactor, struct pel_job job);

/* Puts a job before all others; only from a job, in whose place it comes. Never grows the queue. */
void pel_enqueue_first(struct pel_reactor *reactor, struct pel_job job);

/* Puts a block on the ready queue, to be called with no argument. */
void pel_enqueue_proc(struct pel_reactor *reactor, VALUE proc);

/* ---- alarms: timers of the reactor ---------------------------------------------------------------------------- */

struct pel_alarm {
    struct pel_timer timer; /* first */
    void (*ring)(struct pel_reactor *reactor, struct pel_alarm *alarm);
    uint8_t calls_ruby; /* rung on the turning fiber only, under protection; otherwise plain C, rung anywhere */
};

/* ---- listed objects ------------------------------------------------------------------------------------------- */

/* An object that C refers to while it is active: an armed timer, an open listener, a stream with a data callback. */
struct pel_listed {
    struct pel_listed *previous, *next;                                   /* NULL: not listed */
    VALUE object;                                                         /* marked while listed, pinned */
    void (*stop)(struct pel_reactor *reactor, struct pel_listed *listed); /* when the reactor stops; it delists */
};

/* ---- the reactor ---------------------------------------------------------------------------------------------- */

#define PEL_HOT_BUFFER 65536
#define PEL_BUDGET 256             /* ready operations, or 4 KB pieces, before the loop must turn */
#define PEL_BATCH_NS (1000 * 1000) /* time for jobs before the loop must turn */
#define PEL_IDLE_WORKERS 128       /* pooled fibers that are kept for the next callbacks that wait */
#define PEL_HANDOVERS 64           /* fibers that wake each other, beyond a tick's batch, before the loop must turn */

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
    int64_t grace, grace_deadline; /* nanoseconds; the deadline is 0 until stopping has begun */
    struct pel_alarm grace_alarm;
    VALUE value; /* what run returns */
    VALUE fatal; /* what run raises: an exception that nobody may swallow, Qnil */

    struct pel_job *jobs; /* the ready queue: a ring, capacity a power of two */
    uint32_t job_head, job_count, job_capacity;
    struct pel_operation *chain_end; /* where the queue's last job, when it is a chain of operations, ends */
    uint32_t batch_left;             /* jobs of this tick that are still to run */
    uint32_t handovers_left;         /* fibers that became ready in this tick and may run in it */
    int64_t batch_end;
    int64_t spin_ns; /* the next wait may spin so long before it sleeps: set by who waits, taken by the wait */
    int32_t budget;  /* what ready operations may still do before the loop must turn */

    VALUE caller; /* the fiber that called run */
    VALUE target; /* whom the last switch was meant for */
    uint64_t arrivals;
    struct pel_worker *workers, *idle_workers, *current_worker, *retired;
    uint32_t worker_count, idle_count;
    struct pel_waiter parked; /* head of the ring of parked waiters, the last to park first */
    uint32_t parked_count;
    struct pel_late *late;
    struct st_table *sleepers; /* fiber => waiter, for the scheduler's block and kernel_sleep */

    struct pel_descriptor **descriptors; /* by number: descriptors of others that were waited for */
    int descriptor_capacity;

    size_t references; /* what keeps run going beside parked fibers: operations, one-shot timers, listeners */
    struct pel_stream *flush_list;
    struct pel_listed listed; /* head of a ring */
    char *hot_buffer;         /* PEL_HOT_BUFFER bytes, lent for the time of one receive */

    /* statistics */
    uint64_t turns, switches, jobs_run;
    int64_t idle_ns, started_at;
    struct pel_watch watch;        /* it steps with each turn, job and switch */
    struct pel_stall *past_stalls; /* those over, and not yet told to Ruby; the first one first */
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

/* Whether a waiting call on the current fiber parks (1) or blocks (0). */
int pel_can_park(struct pel_reactor *reactor);

/* The running reactor of this thread. Raises NotRunningError, naming what was called. */
struct pel_reactor *pel_reactor_running(const char *what);

/* From a Pelton::Reactor object. */
struct pel_reactor *pel_reactor_get(VALUE self);

/* Called by an operation that was done without waiting: after a budget the loop is turned once, so that ready data
 * starves nobody. cost: 1 + kilobytes moved / 4. */
static inline void pel_spend(struct pel_reactor *reactor, int32_t cost);
void pel_yield_turn(struct pel_reactor *reactor);

static inline void pel_spend(struct pel_reactor *reactor, int32_t cost)
{
    if ((reactor->budget -= cost) <= 0)
        pel_yield_turn(reactor);
}

/* Puts a stream with output on the list that is flushed at the tick's end. */
void pel_flush_later(struct pel_reactor *reactor, struct pel_stream *stream);

/* Takes a stream off that list, before it is closed or freed. */
void pel_flush_forget(struct pel_reactor *reactor, struct pel_stream *stream);

/* The loop's one buffer for receiving. Its content is gone at the next call that may run Ruby or receive. */
char *pel_hot_buffer(struct pel_reactor *reactor);

/* Keeps an object alive while it is active, and remembers it for the reactor's stop. */
void pel_list_add(struct pel_reactor *reactor, struct pel_listed *listed, VALUE object);
void pel_list_remove(struct pel_reactor *reactor, struct pel_listed *listed);

/* Calls function(argument), which may raise and park, and reports what it raises as an uncaught error of a callback. */
void pel_dispatch(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument);

/* An error that nobody rescued: to Pelton.on_error, or out of run when it is not a StandardError. */
void pel_uncaught(struct pel_reactor *reactor, VALUE error);

/* Ends run with an exception. */
void pel_fail_run(struct pel_reactor *reactor, VALUE exception);

enum pel_patience {
    PEL_LOOK,  /* do not wait */
    PEL_WAIT,  /* wait, unless something is ready */
    PEL_INSIST /* wait, whatever is ready: on a fiber that blocks the thread */
};

/* Turns the loop's C part once: flush, look or wait, dispatch events, expire timers. No Ruby, but memory for results.
 * Returns 0, or the state of a pending interrupt that raised. */
int pel_tick(struct pel_reactor *reactor, enum pel_patience patience);

/* A tick that does not wait, in the middle of a callback: what came is received and settled, but no Ruby runs and no
 * fiber switches. May raise an interrupt, as Ruby code may anywhere. */
void pel_look(struct pel_reactor *reactor);

/* Rings the alarms that are due and need no Ruby. 1 when one that calls Ruby is next. */
int pel_ring_alarms(struct pel_reactor *reactor);

/* Rings all that need no Ruby, also behind one that does: for a fiber that blocks, while nobody may ring that one. */
void pel_ring_plain_alarms(struct pel_reactor *reactor);

/* park.c, for turn.c */
struct pel_worker {
    struct pel_worker *next, *previous, *next_idle;
    struct pel_reactor *reactor;
    VALUE fiber;
    struct pel_operation *task; /* the task that runs on it */
    struct pel_waiter *waiter;  /* the innermost waiter of what runs on it */
    uint8_t cancel_pending;
};

/* The list of all workers, and the pool of those that wait at their base frame. */
void pel_remember_worker(struct pel_reactor *reactor, struct pel_worker *worker);
void pel_forget_worker(struct pel_reactor *reactor, struct pel_worker *worker);
void pel_pool_worker(struct pel_reactor *reactor, struct pel_worker *worker);
void pel_unpool_worker(struct pel_reactor *reactor, struct pel_worker *worker);

/* Transfers to a fiber: the one place. Comes back when somebody transfers here. 0, or a state for pel_rethrow: the
 * switch failed, somebody raised into this fiber, or the thread is being killed. An interrupt on arrival ends run
 * instead. */
int pel_switch(struct pel_reactor *reactor, VALUE fiber);

/* Switches to the next ready fiber, or to a worker that turns the loop. As pel_switch. */
int pel_hand_over(struct pel_reactor *reactor);

/* Turns the loop on a worker's fiber, for ever. */
void pel_turn(struct pel_reactor *reactor, struct pel_worker *worker);

/* Keeps an interrupt for run to raise. 0, or the state when it cannot be kept (Thread#kill, no run). */
int pel_interrupted(struct pel_reactor *reactor, int state);

/* Takes the next job off the ready queue. */
struct pel_job pel_dequeue(struct pel_reactor *reactor);
static inline struct pel_job *pel_next_job(struct pel_reactor *reactor)
{
    return reactor->job_count ? &reactor->jobs[reactor->job_head] : NULL;
}

static inline struct pel_job *pel_last_job(struct pel_reactor *reactor)
{
    return reactor->job_count
               ? &reactor->jobs[(reactor->job_head + reactor->job_count - 1) & (reactor->job_capacity - 1)]
               : NULL;
}

/* Marks workers and waiters. */
void pel_mark_fibers(struct pel_reactor *reactor);

/* A non-blocking fiber that has not begun. */
VALUE pel_new_fiber(VALUE proc);

/* Starts a non-blocking fiber at once; the caller goes on when the fiber first waits or ends. Returns the fiber. */
VALUE pel_start_fiber(struct pel_reactor *reactor, VALUE proc);

/* Seconds as nanoseconds: 0 for negative ones, half of for ever for very many. Raises TypeError, ArgumentError. */
int64_t pel_nanoseconds(VALUE seconds);

extern VALUE pel_mPelton, pel_cReactor;
extern unsigned pel_fork_generation;

void pel_init_reactor(void);
void pel_init_operation(void);
void pel_init_task(void);
void pel_init_timer(void);
void pel_init_scheduler(void);
void pel_init_stream(void);
void pel_init_watchdog(void);

#endif
