#include "core/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/base/alloc.h"
#ifdef HAVE_SYS_EVENTFD_H
#include <sys/eventfd.h>
#endif

unsigned pel_fork_generation;

static void count_fork(void)
{
    pel_fork_generation++;
}

static void register_fork_handler(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

int64_t pel_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static const struct pel_backend *find_backend(const char *name)
{
#ifdef HAVE_SYS_EPOLL_H
    if (!name || strcmp(name, "epoll") == 0)
        return &pel_backend_epoll;
#else
    if (!name)
        return &pel_backend_poll;
#endif
#ifdef HAVE_KQUEUE
    if (strcmp(name, "kqueue") == 0)
        return &pel_backend_kqueue;
#endif
    return strcmp(name, "poll") == 0 ? &pel_backend_poll : NULL;
}

static void on_loop_wake(struct pel_handle *handle, unsigned events)
{
    struct pel_loop *loop = (struct pel_loop *)((char *)handle - offsetof(struct pel_loop, wake_handle));
    char bytes[64];
    (void)events;
    /* One read empties an eventfd. */
    while (read(handle->fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        ;
    pel_loop_rearm(loop, handle, PEL_READABLE);
}

static int open_wake_handle(struct pel_loop *loop)
{
#ifdef HAVE_SYS_EVENTFD_H
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0)
        return PEL_ESYSTEM;
    loop->wake_handle.fd = loop->wake_write_fd = fd;
#else
    int fds[2];
    if (pipe(fds) < 0)
        return PEL_ESYSTEM;
    for (int i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    loop->wake_handle.fd = fds[0];
    loop->wake_write_fd = fds[1];
#endif
    loop->wake_handle.slot = PEL_UNREGISTERED;
    loop->wake_handle.on_event = on_loop_wake;
    return 0;
}

static void close_wake_handle(struct pel_loop *loop)
{
    if (loop->wake_write_fd >= 0 && loop->wake_write_fd != loop->wake_handle.fd)
        close(loop->wake_write_fd);
    if (loop->wake_handle.fd >= 0)
        close(loop->wake_handle.fd);
    loop->wake_handle.fd = loop->wake_write_fd = -1;
}

int pel_loop_open(struct pel_loop *loop, const char *backend)
{
    static pthread_once_t registered = PTHREAD_ONCE_INIT;
    int code, error;

    pthread_once(&registered, register_fork_handler);
    memset(loop, 0, sizeof *loop);
    loop->fork_generation = pel_fork_generation;
    loop->free_slot = PEL_UNREGISTERED;
    loop->wake_handle.fd = loop->wake_write_fd = loop->backend_fd = -1;
    loop->now = pel_now();
    loop->backend = find_backend(backend);
    if (!loop->backend)
        return PEL_EARGUMENT;
    pel_timers_init(&loop->timers, loop->now);
    if ((code = loop->backend->open(loop)) < 0)
        goto no_backend;
    if ((code = open_wake_handle(loop)) < 0 ||
        (code = pel_loop_arm(loop, &loop->wake_handle, PEL_READABLE, PEL_EDGE)) < 0) {
        error = errno;
        close_wake_handle(loop);
        loop->backend->close(loop);
        errno = error;
        goto no_backend;
    }
    loop->registered = 0;
    return 0;

no_backend:
    error = errno;
    pel_free(loop->slots);
    loop->slots = NULL;
    pel_timers_free(&loop->timers);
    errno = error;
    return code;
}

static void clear_flush_list(struct pel_link **list)
{
    while (*list)
        pel_link_remove(*list);
}

void pel_loop_close(struct pel_loop *loop)
{
    if (loop->wake_handle.fd < 0)
        return;
    loop->backend->close(loop);
    close_wake_handle(loop);
    clear_flush_list(&loop->flush_list);
    clear_flush_list(&loop->flush_now);
    for (uint32_t i = 0; i < loop->slot_count; i++)
        if (loop->slots[i].handle)
            loop->slots[i].handle->slot = PEL_UNREGISTERED;
    pel_free(loop->slots);
    loop->slots = NULL;
    loop->slot_count = 0;
    loop->event_count = loop->event_next = 0;
    if (!pel_loop_inherited(loop)) /* in a child, timers may lie on stacks that no longer exist */
        pel_timers_free(&loop->timers);
}

static int allocate_slot(struct pel_loop *loop, struct pel_handle *handle)
{
    if (loop->free_slot == PEL_UNREGISTERED) {
        uint32_t count = loop->slot_count ? loop->slot_count * 2 : 64;
        struct pel_slot *slots = pel_realloc(loop->slots, count * sizeof *slots);
        if (!slots)
            return PEL_EMEMORY;
        for (uint32_t i = count; i-- > loop->slot_count;) {
            slots[i] = (struct pel_slot){.next_free = loop->free_slot};
            loop->free_slot = i;
        }
        loop->slots = slots;
        loop->slot_count = count;
    }
    handle->slot = loop->free_slot;
    loop->free_slot = loop->slots[handle->slot].next_free;
    loop->slots[handle->slot].handle = handle;
    loop->registered++;
    return 0;
}

static void release_slot(struct pel_loop *loop, struct pel_handle *handle)
{
    struct pel_slot *slot = &loop->slots[handle->slot];
    slot->handle = NULL;
    slot->generation++;
    slot->next_free = loop->free_slot;
    loop->free_slot = handle->slot;
    handle->slot = PEL_UNREGISTERED;
    loop->registered--;
}

int pel_loop_arm(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger)
{
    int known = handle->slot != PEL_UNREGISTERED, code;

    if (pel_loop_inherited(loop)) {
        errno = EBADF;
        return PEL_ECLOSED;
    }
    if (!known && (code = allocate_slot(loop, handle)) < 0)
        return code;
    if (trigger == PEL_ONESHOT)
        loop->slots[handle->slot].generation++;
    code = loop->backend->arm(loop, handle, events, trigger, known);
    if (code < 0 && !known) {
        int error = errno;
        release_slot(loop, handle);
        errno = error;
    }
    return code;
}

int pel_loop_rearm(struct pel_loop *loop, struct pel_handle *handle, unsigned events)
{
    if (pel_loop_inherited(loop))
        return PEL_ECLOSED;
    return loop->backend->rearm ? loop->backend->rearm(loop, handle, events) : 0;
}

void pel_loop_disarm(struct pel_loop *loop, struct pel_handle *handle)
{
    if (handle->slot == PEL_UNREGISTERED)
        return;
    if (!pel_loop_inherited(loop))
        loop->backend->disarm(loop, handle);
    release_slot(loop, handle);
}

int pel_loop_wait(struct pel_loop *loop, int64_t timeout)
{
    int code;

    if (pel_loop_inherited(loop))
        return PEL_ECLOSED;
    loop->event_count = loop->event_next = 0;
    code = loop->backend->wait(loop, timeout);
    loop->now = pel_now();
    return code;
}

int64_t pel_loop_timeout(struct pel_loop *loop, int64_t now)
{
    int64_t next = pel_timers_next(&loop->timers);

    if (next == INT64_MAX)
        return PEL_FOREVER;
    return next > now ? next - now : 0;
}

int pel_loop_dispatch(struct pel_loop *loop)
{
    while (loop->event_next < loop->event_count) {
        struct pel_event event = loop->events[loop->event_next++];
        struct pel_slot *slot = &loop->slots[event.slot];
        if (slot->handle && slot->generation == event.generation) {
            slot->handle->on_event(slot->handle, event.events);
            return 1;
        }
    }
    loop->event_count = loop->event_next = 0;
    return 0;
}

void pel_loop_wake(struct pel_loop *loop)
{
    if (__atomic_exchange_n(&loop->waiting, 0, __ATOMIC_SEQ_CST)) {
        uint64_t one = 1;
        int error = errno;
        ssize_t written = write(loop->wake_write_fd, &one, sizeof one);
        (void)written; /* EAGAIN: a wake-up is pending already */
        errno = error;
    }
}
