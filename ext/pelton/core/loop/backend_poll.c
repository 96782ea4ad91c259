#include "core/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include "core/base/alloc.h"

#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

/*
 * The backend on poll(2): portable and simple. A descriptor is reported once and then leaves the set until it is armed
 * again (pel_loop_rearm for edges), so that level-triggered poll behaves like the epoll backend.
 */

struct poll_set {
    struct pollfd *entries; /* entry i belongs to slot i; fd -1: nothing waits for it */
    uint8_t *edges;         /* the events of slot i, if it is registered edge-triggered */
    uint32_t count;
    uint32_t used; /* entries from here on are free: poll refuses more entries than descriptors may be open */
    uint32_t next; /* the entry that the next wait checks first, so that busy low slots cannot starve high ones */
};

static int poll_open(struct pel_loop *loop)
{
    loop->backend_data = pel_calloc(1, sizeof(struct poll_set));
    return loop->backend_data ? 0 : PEL_EMEMORY;
}

static void poll_close(struct pel_loop *loop)
{
    struct poll_set *set = loop->backend_data;
    pel_free(set->entries);
    pel_free(set->edges);
    pel_free(set);
    loop->backend_data = NULL;
}

static int grow_poll_set(struct poll_set *set, uint32_t count)
{
    struct pollfd *entries = pel_realloc(set->entries, count * sizeof *entries);
    uint8_t *edges;

    if (!entries)
        return PEL_EMEMORY;
    set->entries = entries;
    edges = pel_realloc(set->edges, count);
    if (!edges)
        return PEL_EMEMORY;
    set->edges = edges;
    for (uint32_t i = set->count; i < count; i++) {
        entries[i] = (struct pollfd){.fd = -1};
        edges[i] = 0;
    }
    set->count = count;
    return 0;
}

static short poll_bits(unsigned events)
{
    return (short)((events & PEL_READABLE ? POLLIN | POLLRDHUP : 0) | (events & PEL_WRITABLE ? POLLOUT : 0) |
                   (events & PEL_PRIORITY ? POLLPRI : 0));
}

static int poll_arm(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger,
                    int known)
{
    struct poll_set *set = loop->backend_data;
    int code;

    (void)known;
    if (fcntl(handle->fd, F_GETFD) < 0)
        return PEL_ESYSTEM; /* as epoll does; poll itself would report the descriptor as ready */
    if (handle->slot >= set->count && (code = grow_poll_set(set, loop->slot_count)) < 0)
        return code;
    if (handle->slot >= set->used)
        set->used = handle->slot + 1;
    set->entries[handle->slot] = (struct pollfd){.fd = handle->fd, .events = poll_bits(events)};
    set->edges[handle->slot] = trigger == PEL_EDGE ? (uint8_t)events : 0;
    return 0;
}

static int poll_rearm(struct pel_loop *loop, struct pel_handle *handle, unsigned events)
{
    struct poll_set *set = loop->backend_data;
    struct pollfd *entry;

    if (handle->slot == PEL_UNREGISTERED)
        return 0;
    entry = &set->entries[handle->slot];
    entry->fd = handle->fd;
    entry->events |= poll_bits(events & set->edges[handle->slot]);
    return 0;
}

static void poll_disarm(struct pel_loop *loop, struct pel_handle *handle)
{
    struct poll_set *set = loop->backend_data;
    set->entries[handle->slot] = (struct pollfd){.fd = -1};
    set->edges[handle->slot] = 0;
    while (set->used && (set->used - 1 == handle->slot || !loop->slots[set->used - 1].handle))
        set->used--;
}

static int wait_for(struct poll_set *set, int64_t timeout)
{
#ifdef HAVE_PPOLL
    struct timespec time = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
    return ppoll(set->entries, set->used, timeout == PEL_FOREVER ? NULL : &time, NULL);
#else
    return poll(set->entries, set->used, pel__loop_milliseconds(timeout));
#endif
}

static int poll_wait(struct pel_loop *loop, int64_t timeout)
{
    struct poll_set *set = loop->backend_data;
    int left = wait_for(set, timeout);

    if (left < 0)
        return errno == EINTR ? 0 : PEL_ESYSTEM;
    /* Entries beyond the event array's capacity stay armed, and the next wait reports them. */
    for (uint32_t seen = 0; seen < set->used && left > 0 && loop->event_count < PEL_LOOP_EVENTS; seen++) {
        uint32_t i = set->next < set->used ? set->next : 0;
        struct pollfd *entry = &set->entries[i];
        unsigned ready = 0;
        set->next = i + 1;
        if (entry->fd < 0 || !entry->revents)
            continue;
        left--;
        if (entry->revents & (POLLIN | POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
            ready |= PEL_READABLE;
        if (entry->revents & (POLLOUT | POLLHUP | POLLERR | POLLNVAL))
            ready |= PEL_WRITABLE;
        if (entry->revents & POLLPRI)
            ready |= PEL_PRIORITY;
        if (entry->revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
            ready |= PEL_HANGUP;
        loop->events[loop->event_count++] =
            (struct pel_event){.slot = i, .generation = loop->slots[i].generation, .events = ready};
        entry->events = set->edges[i] ? entry->events & ~poll_bits(ready) : 0;
        /* poll reports a hang-up whatever events are requested, and repeats it with each call. */
        if (!entry->events || entry->revents & (POLLHUP | POLLERR | POLLNVAL))
            *entry = (struct pollfd){.fd = -1};
        entry->revents = 0;
    }
    return 0;
}

const struct pel_backend pel_backend_poll = {.name = "poll",
                                             .open = poll_open,
                                             .close = poll_close,
                                             .arm = poll_arm,
                                             .disarm = poll_disarm,
                                             .rearm = poll_rearm,
                                             .wait = poll_wait};
