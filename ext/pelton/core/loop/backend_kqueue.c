#include "core/loop/loop.h"

#ifdef HAVE_KQUEUE

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/event.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "core/base/alloc.h"

/*
 * Backend on kqueue(2), for macOS and the BSDs. A descriptor has a filter for each direction, and the kernel reports
 * the filters one by one; epoll reports a descriptor. So a one-shot registration is silenced here when its first filter
 * has fired, and events of one descriptor in one wait are merged for it.
 *
 * Written after the manual pages of macOS and FreeBSD. Linux has no kqueue: `rake portability:core` only compiles this
 * file, and of the tests only CI's job on macOS runs it. So poll is the default there, too (loop.c), and this backend
 * is chosen by PELTON_BACKEND=kqueue.
 */

struct filters {
    uint8_t events; /* filters that the kernel has for the slot's descriptor */
    uint8_t oneshot;
};

struct kqueue_set {
    struct filters *slots;
    uint32_t slot_count;
    uint8_t *owned; /* by descriptor: 1 while a stream of our own is registered for edges */
    int owned_count;
};

static int kqueue_open(struct pel_loop *loop)
{
    struct kqueue_set *set = pel_calloc(1, sizeof *set);

    if (!set)
        return PEL_EMEMORY;
    loop->backend_data = set;
    loop->backend_fd = kqueue();
    if (loop->backend_fd < 0) {
        pel_free(set);
        loop->backend_data = NULL;
        return PEL_ESYSTEM;
    }
    fcntl(loop->backend_fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

/* A kqueue is not inherited through a fork: in a child its number may be another descriptor's by now. */
static void kqueue_close(struct pel_loop *loop)
{
    struct kqueue_set *set = loop->backend_data;

    if (!pel_loop_inherited(loop))
        close(loop->backend_fd);
    loop->backend_fd = -1;
    pel_free(set->slots);
    pel_free(set->owned);
    pel_free(set);
    loop->backend_data = NULL;
}

static int grow(struct kqueue_set *set, uint32_t slot_count, int fd)
{
    if (slot_count > set->slot_count) {
        struct filters *slots = pel_realloc(set->slots, slot_count * sizeof *slots);
        if (!slots)
            return PEL_EMEMORY;
        memset(slots + set->slot_count, 0, (slot_count - set->slot_count) * sizeof *slots);
        set->slots = slots;
        set->slot_count = slot_count;
    }
    if (fd >= set->owned_count) {
        int count = fd + 64;
        uint8_t *owned = pel_realloc(set->owned, (size_t)count);
        if (!owned)
            return PEL_EMEMORY;
        memset(owned + set->owned_count, 0, (size_t)(count - set->owned_count));
        set->owned = owned;
        set->owned_count = count;
    }
    return 0;
}

/* The filters' numbers, and the events that they stand for. kqueue has no portable filter for urgent data. */
static const struct {
    int16_t filter;
    uint8_t event;
} directions[] = {{EVFILT_READ, PEL_READABLE}, {EVFILT_WRITE, PEL_WRITABLE}};

static int change(struct pel_loop *loop, int fd, int16_t filter, uint16_t flags, uint64_t id)
{
    struct kevent event;

    EV_SET(&event, fd, filter, flags, 0, 0, (void *)(uintptr_t)id);
    return kevent(loop->backend_fd, &event, 1, NULL, 0, NULL);
}

/* ENOENT: a one-shot filter that has fired, or somebody else has closed the descriptor. */
static void delete_filters(struct pel_loop *loop, int fd, struct filters *filters)
{
    for (int i = 0; i < 2; i++)
        if (filters->events & directions[i].event)
            change(loop, fd, directions[i].filter, EV_DELETE, 0);
    filters->events = 0;
}

/* epoll refuses files, which are always ready; kqueue would report the bytes that are left to the end of the file. */
static int refuse_file(int fd)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return 1;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return 0;
    errno = EPERM;
    return 1;
}

static int kqueue_arm(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger,
                      int known)
{
    struct kqueue_set *set = loop->backend_data;
    uint64_t id = (uint64_t)loop->slots[handle->slot].generation << 32 | handle->slot;
    uint16_t flags = EV_ADD | (trigger == PEL_EDGE ? EV_CLEAR : EV_ONESHOT);
    struct filters *filters;
    int code, error;

    if (!known && refuse_file(handle->fd))
        return PEL_ESYSTEM;
    if ((code = grow(set, loop->slot_count, handle->fd)) < 0)
        return code;
    if (trigger == PEL_ONESHOT && set->owned[handle->fd]) {
        errno = EEXIST;
        return PEL_ESYSTEM;
    }
    filters = &set->slots[handle->slot];
    delete_filters(loop, handle->fd, filters);
    filters->oneshot = trigger == PEL_ONESHOT;
    for (int i = 0; i < 2; i++) {
        if (!(events & directions[i].event))
            continue;
        if (change(loop, handle->fd, directions[i].filter, flags, id) < 0) {
            error = errno;
            delete_filters(loop, handle->fd, filters);
            errno = error;
            return PEL_ESYSTEM;
        }
        filters->events |= directions[i].event;
    }
    if (trigger == PEL_EDGE)
        set->owned[handle->fd] = 1;
    return 0;
}

static void kqueue_disarm(struct pel_loop *loop, struct pel_handle *handle)
{
    struct kqueue_set *set = loop->backend_data;
    struct filters *filters = &set->slots[handle->slot];

    delete_filters(loop, handle->fd, filters);
    if (!filters->oneshot)
        set->owned[handle->fd] = 0;
}

static unsigned events_of(const struct kevent *event)
{
    unsigned events = event->filter == EVFILT_WRITE ? PEL_WRITABLE : PEL_READABLE;

    if (event->flags & EV_EOF)
        events |= PEL_HANGUP | PEL_READABLE | (event->filter == EVFILT_WRITE || event->fflags ? PEL_WRITABLE : 0);
    if (event->flags & EV_ERROR)
        events |= PEL_HANGUP | PEL_READABLE | PEL_WRITABLE;
    return events;
}

/* The event of this wait that the slot has got already, or NULL. */
static struct pel_event *earlier(struct pel_loop *loop, uint32_t slot)
{
    for (int i = loop->event_count; i-- > 0;)
        if (loop->events[i].slot == slot)
            return &loop->events[i];
    return NULL;
}

static void add_event(struct pel_loop *loop, const struct kevent *event)
{
    struct kqueue_set *set = loop->backend_data;
    uint64_t id = (uint64_t)(uintptr_t)event->udata;
    uint32_t slot = (uint32_t)id, generation = (uint32_t)(id >> 32);
    struct filters *filters = &set->slots[slot];

    if (filters->oneshot) {
        struct pel_event *first = earlier(loop, slot);
        filters->events &= (uint8_t) ~(event->filter == EVFILT_WRITE ? PEL_WRITABLE : PEL_READABLE);
        if (first && first->generation == generation) {
            first->events |= events_of(event);
            return;
        }
    }
    loop->events[loop->event_count++] =
        (struct pel_event){.slot = slot, .generation = generation, .events = events_of(event)};
}

/* Registrations for one shot are silent until they are armed again, in the other direction as well. */
static void silence(struct pel_loop *loop)
{
    struct kqueue_set *set = loop->backend_data;

    for (int i = 0; i < loop->event_count; i++) {
        struct pel_slot *slot = &loop->slots[loop->events[i].slot];
        struct filters *filters = &set->slots[loop->events[i].slot];
        if (filters->oneshot && filters->events && slot->handle && slot->generation == loop->events[i].generation)
            delete_filters(loop, slot->handle->fd, filters);
    }
}

static int kqueue_wait(struct pel_loop *loop, int64_t timeout)
{
    struct kevent events[PEL_LOOP_EVENTS];
    struct timespec time = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
    int count = kevent(loop->backend_fd, NULL, 0, events, PEL_LOOP_EVENTS, timeout == PEL_FOREVER ? NULL : &time);

    if (count < 0)
        return errno == EINTR ? 0 : PEL_ESYSTEM;
    for (int i = 0; i < count; i++)
        add_event(loop, &events[i]);
    silence(loop);
    return 0;
}

const struct pel_backend pel_backend_kqueue = {.name = "kqueue",
                                               .open = kqueue_open,
                                               .close = kqueue_close,
                                               .arm = kqueue_arm,
                                               .disarm = kqueue_disarm,
                                               .rearm = NULL,
                                               .wait = kqueue_wait};

#endif
