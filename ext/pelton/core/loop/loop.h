#pragma once

#include <stddef.h>
#include <stdint.h>
#include "core/base/error.h"
#include "core/base/link.h"
#include "core/loop/timer.h"

/*
 * The event loop: descriptors, timers and one wait. It collects events and never calls Ruby. One thread owns a loop;
 * other threads may call only pel_loop_wake.
 *
 * The loop itself stores the events of a wait, not a stack frame, so that another fiber can take over the loop and
 * continue with the next event. Each event carries the generation of its registration: an event for a handle that was
 * removed meanwhile is dropped, even when the descriptor's number has been reused.
 */

enum pel_events {
    PEL_READABLE = 1, /* also: the next read returns end of file, an error, or a hang-up */
    PEL_WRITABLE = 2, /* also: the next write returns an error or a hang-up */
    PEL_PRIORITY = 4, /* urgent data */
    PEL_HANGUP = 8    /* no more data will arrive: the peer shut down its side, or the descriptor failed */
};

enum pel_trigger {
    PEL_EDGE,   /* for descriptors that we own: registered once, reported once per change, see pel_loop_rearm */
    PEL_ONESHOT /* for descriptors of other owners: reported once, then silent until armed again */
};

/* The number of forks between this process and its first ancestor. A loop that was opened under another number belongs
 * to the parent: its registrations must not be touched, because the kernel shares them between the two processes. */
extern unsigned pel_fork_generation;

#define PEL_UNREGISTERED UINT32_MAX
#define PEL_FOREVER INT64_MAX

struct pel_handle {
    int fd;        /* the loop never closes it */
    uint32_t slot; /* index in the loop's table, or PEL_UNREGISTERED */
    /* Called by pel_loop_dispatch. It must neither call Ruby code nor switch fibers. It may close any handle. */
    void (*on_event)(struct pel_handle *handle, unsigned events);
};

struct pel_event {
    uint32_t slot, generation;
    unsigned events;
};

struct pel_loop;

/* The interface of a backend. The loop's thread alone calls these functions. wait allocates nothing. */
struct pel_backend {
    const char *name;
    int (*open)(struct pel_loop *loop);
    void (*close)(struct pel_loop *loop);
    int (*arm)(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger, int known);
    void (*disarm)(struct pel_loop *loop, struct pel_handle *handle);
    int (*rearm)(struct pel_loop *loop, struct pel_handle *handle, unsigned events); /* NULL: edges need no rearming */
    /* Waits at most timeout nanoseconds (0: polls; PEL_FOREVER) and fills loop->events. Runs with or without the GVL.
     * Returns 0 or PEL_ESYSTEM; an interrupted wait returns 0 and no events. */
    int (*wait)(struct pel_loop *loop, int64_t timeout);
};

extern const struct pel_backend pel_backend_poll;
/* A wait's timeout for systems that know no nanoseconds: rounded up, so that no wait ends too early. -1: for ever. */
static inline int pel__loop_milliseconds(int64_t timeout)
{
    if (timeout == PEL_FOREVER)
        return -1;
    return timeout / 1000000 >= INT32_MAX ? INT32_MAX : (int)((timeout + 999999) / 1000000);
}

#ifdef HAVE_SYS_EPOLL_H
extern const struct pel_backend pel_backend_epoll;
#endif
#ifdef HAVE_KQUEUE
extern const struct pel_backend pel_backend_kqueue;
#endif

/* The names of those that there are, for people. */
#if defined(HAVE_SYS_EPOLL_H)
#define PEL_BACKENDS "epoll or poll"
#elif defined(HAVE_KQUEUE)
#define PEL_BACKENDS "kqueue or poll"
#else
#define PEL_BACKENDS "poll"
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
    size_t registered; /* the number of handles, without the loop's own wake-up handle */
    size_t streams;    /* the number of handles that are open streams */
    struct pel_event events[PEL_LOOP_EVENTS];
    int event_count, event_next;
    struct pel_timers timers;
    int64_t now; /* the end of the last wait, in nanoseconds of the monotonic clock */
    struct pel_handle wake_handle;
    int wake_write_fd;
    int waiting; /* atomic: the owner is inside a wait that other threads must interrupt */
    unsigned fork_generation;
    struct pel_link *flush_list, *flush_now; /* streams that write before the next wait, and in the current flush */
};

/* Whether the loop was opened before a fork, by the parent. Then arm and wait return PEL_ECLOSED, and disarm removes
 * the handle without a system call. */
static inline int pel_loop_inherited(const struct pel_loop *loop)
{
    return loop->fork_generation != pel_fork_generation;
}

/* The monotonic clock's current time in nanoseconds. */
int64_t pel_now(void);

/* Opens a loop on the named backend ("epoll", "kqueue", "poll"; NULL: the best one). Returns 0, PEL_ESYSTEM,
 * PEL_EMEMORY, or PEL_EARGUMENT for an unknown name. After a failure there is nothing to close. */
int pel_loop_open(struct pel_loop *loop, const char *backend);

/* Closes the loop's own descriptors. Registered handles and streams become unregistered; their descriptors stay open.
 * In a child after a fork this does not affect the parent's loop. */
void pel_loop_close(struct pel_loop *loop);

/* Registers a handle, or changes the events that a registered handle waits for. The caller has set fd and on_event, and
 * slot to PEL_UNREGISTERED for a new handle. Arming for one shot starts a new generation: a pending event of an earlier
 * shot is dropped, since the descriptor may be a different one by now. Returns 0, PEL_EMEMORY, PEL_ECLOSED, or
 * PEL_ESYSTEM with errno (EPERM: a file that is always ready; EEXIST: one shot requested for a descriptor whose owner
 * has registered it for edges). */
int pel_loop_arm(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger);

/* Requests the next event of an edge-triggered handle that was drained (EAGAIN, or a short read). */
int pel_loop_rearm(struct pel_loop *loop, struct pel_handle *handle, unsigned events);

/* Unregisters a handle. Call it before the descriptor is closed. Does nothing for a handle that is not registered. */
void pel_loop_disarm(struct pel_loop *loop, struct pel_handle *handle);

/* Waits at most timeout nanoseconds and sets now. All events of the last wait must have been dispatched. The caller
 * computes the timeout (pel_loop_timeout). Runs with or without the GVL. Returns 0, PEL_ECLOSED, or PEL_ESYSTEM with
 * errno: the loop is unusable, because somebody closed its descriptor. */
int pel_loop_wait(struct pel_loop *loop, int64_t timeout);

/* The nanoseconds from `now` until the next timer, at least 0; PEL_FOREVER without timers. */
int64_t pel_loop_timeout(struct pel_loop *loop, int64_t now);

/* Passes one event to its handle. Returns 1, or 0 when no event is left. */
int pel_loop_dispatch(struct pel_loop *loop);

/* Ends a wait of the loop's thread. Any thread and any signal handler may call it. A burst of calls writes once. */
void pel_loop_wake(struct pel_loop *loop);
