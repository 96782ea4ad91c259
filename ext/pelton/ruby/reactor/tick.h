#pragma once

#include "core/loop/timer.h"

/* One iteration of the loop, and what it calls. Include reactor.h. */

struct pel_reactor;

struct pel_reactor_timer {
    struct pel_timer entry; /* first */
    /* Must neither call Ruby code nor switch fibers. May make objects, fire waiters, settle operations and enqueue. */
    void (*on_timeout)(struct pel_reactor *reactor, struct pel_reactor_timer *timer);
    uint8_t on_stack; /* the timer lies on a fiber's stack: it is cancelled when that fiber is abandoned */
};

#define PEL_SILENCE_NS (INT64_C(5) * 1000 * 1000 * 1000) /* the first such wait of a run: see tick.silence */

struct pel_ticks {
    uint64_t number;
    int64_t spin_ns; /* the next wait may spin so long before it sleeps; set by an awaiting caller, reset by the wait */
    uint8_t fired_off_queue; /* in this tick: the wait of a fiber that blocks the thread may be over */
    char *hot_buffer;        /* PEL_HOT_BUFFER bytes, borrowed for the time of one receive */
    int64_t silence; /* nanoseconds that the loop waits where nothing that it knows can wake it, before it says so */
    int64_t idle_ns; /* waited in all runs */
};

enum pel_wait_mode {
    PEL_POLL,       /* do not wait */
    PEL_WAIT,       /* wait, unless a job is ready */
    PEL_WAIT_ALWAYS /* wait even if jobs are ready: on a fiber that blocks the thread */
};

#define PEL_BUDGET 256 /* of each tick: operations that were ready at once, or 4 KB pieces */

/* Makes one loop iteration's C part: flush, poll or wait, dispatch events, expire timers. Runs no Ruby code except trap
 * handlers, which may park. Returns 0, or the state of a pending interrupt that raised. */
int pel_tick(struct pel_reactor *reactor, enum pel_wait_mode wait_mode);

/* A tick that does not wait, in the middle of a callback: data that has arrived is received and operations are settled,
 * but no fiber switches. May raise an interrupt, as Ruby code may anywhere. */
void pel_poll(struct pel_reactor *reactor);

#define PEL_HOT_BUFFER 65536

/* The loop's only buffer for receiving. The next call that may run Ruby or receive overwrites it. */
char *pel_hot_buffer(struct pel_reactor *reactor);
