#ifndef PEL_LOOP_H
#define PEL_LOOP_H

#include <stddef.h>
#include <stdint.h>
#include "error.h"
#include "timer.h"

/*
 * The loop: descriptors, timers and one wait. It collects events and never calls Ruby. One thread owns a loop; only
 * pel_loop_wake may be called from elsewhere.
 *
 * Events of one wait are kept in the loop, not on a stack: whoever takes the loop over goes on with the next one. Each
 * carries the generation of its registration, so an event for a handle that was removed meanwhile is dropped, even when
 * the descriptor's number has been used again.
 */

enum pel_events {
    PEL_READABLE = 1, /* also: end of file, an error, or a hang-up is to be read */
    PEL_WRITABLE = 2, /* also: an error or a hang-up is to be met by the next write */
    PEL_PRIORITY = 4, /* urgent data */
    PEL_HANGUP = 8    /* nothing comes after what is there: the peer shut its side, or the descriptor failed */
};

enum pel_trigger {
    PEL_EDGE,   /* for descriptors of our own: registered once, told once a change, see pel_loop_rearm */
    PEL_ONESHOT /* for descriptors of others: told once, then silent until armed again */
};

/* How often this process is a child: a loop made under another number is the parent's, whose registrations must not be
 * touched, because the kernel shares them. */
extern unsigned pel_fork_generation;

#define PEL_UNREGISTERED UINT32_MAX
#define PEL_FOREVER INT64_MAX

struct pel_handle {
    int fd;        /* the loop never closes it */
    uint32_t slot; /* place in the loop's table, PEL_UNREGISTERED when in none */
    /* Called by pel_loop_dispatch. Plain C: it must neither call Ruby code nor switch fibers. It may close any handle.
     */
    void (*on_event)(struct pel_handle *handle, unsigned events);
};

struct pel_event {
    uint32_t slot, generation;
    unsigned events;
};

struct pel_loop;
struct pel_stream;

/* What a backend must do. All functions but wait are called by the loop's thread only; none allocates in wait. */
struct pel_backend {
    const char *name;
    int (*open)(struct pel_loop *loop);
    void (*close)(struct pel_loop *loop);
    int (*arm)(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger, int known);
    void (*disarm)(struct pel_loop *loop, struct pel_handle *handle);
    int (*rearm)(struct pel_loop *loop, struct pel_handle *handle, unsigned events); /* NULL: edges need none */
    /* Waits at most timeout nanoseconds (0: only looks; PEL_FOREVER), fills loop->events. Runs with or without the GVL.
     * Returns 0 or PEL_ESYSTEM; an interrupted wait is 0 with no events. */
    int (*wait)(struct pel_loop *loop, int64_t timeout);
};

extern const struct pel_backend pel_backend_poll;
#ifdef HAVE_SYS_EPOLL_H
extern const struct pel_backend pel_backend_epoll;
#endif

#define PEL_LOOP_EVENTS 256

struct pel_slot {
    struct pel_handle *handle; /* NULL: free */
    uint32_t generation;
    uint32_t next_free;
};

struct pel_loop {
    const struct pel_backend *backend;
    void *backend_data;
    int backend_fd;
    struct pel_slot *slots;
    uint32_t slot_count, free_slot;
    size_t registered; /* handles, the loop's own wake-up not counted */
    size_t streams;    /* those of them that are open streams */
    struct pel_event events[PEL_LOOP_EVENTS];
    int event_count, event_next;
    struct pel_timers timers;
    int64_t now; /* nanoseconds of the monotonic clock when the last wait ended */
    struct pel_handle wake_handle;
    int wake_write_fd;
    int waiting; /* atomic: the owner is inside a wait that must be woken */
    unsigned fork_generation;
    struct pel_stream *flush_list, *flush_now; /* flush.h: to be flushed by the next call, and by the present one */
};

/* Whether it came through a fork. Then arm and wait answer PEL_ECLOSED, and disarm forgets without a system call. */
static inline int pel_loop_inherited(const struct pel_loop *loop)
{
    return loop->fork_generation != pel_fork_generation;
}

/* Nanoseconds of the monotonic clock. */
int64_t pel_now(void);

/* Opens a loop on the named backend ("epoll", "poll"; NULL: the best one). 0, PEL_ESYSTEM, PEL_EMEMORY or, for a name
 * that is not known, PEL_EARGUMENT. After a failure there is nothing to close. */
int pel_loop_open(struct pel_loop *loop, const char *backend);

/* Closes the loop's own descriptors. Registered handles and streams are forgotten, their descriptors stay open. In a
 * child after a fork this leaves the parent's loop as it is. */
void pel_loop_close(struct pel_loop *loop);

/* Registers a handle (its fd and on_event are set, its slot is PEL_UNREGISTERED or its present place) or changes what
 * is waited for. Arming for one shot makes a new generation: an event that an earlier shot has left is dropped, since
 * the descriptor may be another one by now. 0, PEL_EMEMORY, PEL_ECLOSED, or PEL_ESYSTEM with errno (EPERM: a file that
 * is always ready; EEXIST: one shot for a descriptor that is registered for edges: it has an owner). */
int pel_loop_arm(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger);

/* Says that an edge-triggered handle was drained (EAGAIN, or a short read) and its next change is to be told. */
int pel_loop_rearm(struct pel_loop *loop, struct pel_handle *handle, unsigned events);

/* Forgets a handle; call it before its descriptor is closed. Legal for one that is not registered. */
void pel_loop_disarm(struct pel_loop *loop, struct pel_handle *handle);

/* Waits, at most timeout nanoseconds, and sets now. Only when all events of the last wait have been dispatched. The
 * caller computes the timeout (pel_loop_timeout). Runs with or without the GVL. 0, PEL_ECLOSED, or PEL_ESYSTEM with
 * errno: the loop cannot go on, somebody closed its descriptor. */
int pel_loop_wait(struct pel_loop *loop, int64_t timeout);

/* Nanoseconds from `now` until the next timer, 0 at least, PEL_FOREVER when there is none. */
int64_t pel_loop_timeout(struct pel_loop *loop, int64_t now);

/* Hands one event to its handle. 1 when one was handed over, 0 when none is left. */
int pel_loop_dispatch(struct pel_loop *loop);

/* Ends a wait of the loop's thread. From any thread or signal handler. A burst of calls writes once. */
void pel_loop_wake(struct pel_loop *loop);

#endif
