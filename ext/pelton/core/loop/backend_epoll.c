#include "core/loop/loop.h"

#ifdef HAVE_SYS_EPOLL_H

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/* The backend on epoll(7). An edge-triggered registration needs no further system call. */

static int epoll_open(struct pel_loop *loop)
{
    loop->backend_fd = epoll_create1(EPOLL_CLOEXEC);
    return loop->backend_fd < 0 ? PEL_ESYSTEM : 0;
}

static void epoll_close(struct pel_loop *loop)
{
    close(loop->backend_fd);
    loop->backend_fd = -1;
}

static int epoll_arm(struct pel_loop *loop, struct pel_handle *handle, unsigned events, enum pel_trigger trigger,
                     int known)
{
    struct epoll_event event = {.events = trigger == PEL_EDGE ? EPOLLET : EPOLLONESHOT};
    int operation = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    event.data.u64 = (uint64_t)loop->slots[handle->slot].generation << 32 | handle->slot;
    if (events & PEL_READABLE)
        event.events |= EPOLLIN | EPOLLRDHUP;
    if (events & PEL_WRITABLE)
        event.events |= EPOLLOUT;
    if (events & PEL_PRIORITY)
        event.events |= EPOLLPRI;
    if (epoll_ctl(loop->backend_fd, operation, handle->fd, &event) == 0)
        return 0;
    /* Another owner closed the descriptor, so the kernel dropped the registration; this is a new descriptor of the same
     * number. */
    if (errno == ENOENT && known && epoll_ctl(loop->backend_fd, EPOLL_CTL_ADD, handle->fd, &event) == 0)
        return 0;
    /* The descriptor is still registered by one-shot waits that came before. An edge-triggered registration may replace
     * those, but not the other way round: the owner of the edges would never be notified again. */
    if (errno == EEXIST && trigger == PEL_EDGE && epoll_ctl(loop->backend_fd, EPOLL_CTL_MOD, handle->fd, &event) == 0)
        return 0;
    return PEL_ESYSTEM;
}

static void epoll_disarm(struct pel_loop *loop, struct pel_handle *handle)
{
    struct epoll_event ignored;
    epoll_ctl(loop->backend_fd, EPOLL_CTL_DEL, handle->fd, &ignored);
}

static int epoll_wait_nanoseconds(struct pel_loop *loop, struct epoll_event *events, int64_t timeout)
{
#ifdef HAVE_EPOLL_PWAIT2
    if (timeout > 0 && timeout != PEL_FOREVER) {
        struct timespec time = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
        int count = epoll_pwait2(loop->backend_fd, events, PEL_LOOP_EVENTS, &time, NULL);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) /* EPERM: a sandbox that does not allow the call */
            return count;
    }
#endif
    return epoll_wait(loop->backend_fd, events, PEL_LOOP_EVENTS, pel__loop_milliseconds(timeout));
}

static int epoll_wait_for_events(struct pel_loop *loop, int64_t timeout)
{
    struct epoll_event events[PEL_LOOP_EVENTS];
    int count = epoll_wait_nanoseconds(loop, events, timeout);

    if (count < 0)
        return errno == EINTR ? 0 : PEL_ESYSTEM;
    for (int i = 0; i < count; i++) {
        unsigned bits = events[i].events, ready = 0;
        if (bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            ready |= PEL_READABLE;
        if (bits & (EPOLLOUT | EPOLLHUP | EPOLLERR))
            ready |= PEL_WRITABLE;
        if (bits & EPOLLPRI)
            ready |= PEL_PRIORITY;
        if (bits & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            ready |= PEL_HANGUP;
        loop->events[i] = (struct pel_event){
            .slot = (uint32_t)events[i].data.u64, .generation = (uint32_t)(events[i].data.u64 >> 32), .events = ready};
    }
    loop->event_count = count;
    return 0;
}

const struct pel_backend pel_backend_epoll = {.name = "epoll",
                                              .open = epoll_open,
                                              .close = epoll_close,
                                              .arm = epoll_arm,
                                              .disarm = epoll_disarm,
                                              .rearm = NULL,
                                              .wait = epoll_wait_for_events};

#endif
