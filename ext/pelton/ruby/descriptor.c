#include "descriptor.h"

#include <errno.h>
#include "protect.h"

struct waiting {
    struct pel_waiter waiter; /* first */
    struct waiting *next;
    unsigned events, told;
};

struct pel_descriptor {
    struct pel_handle handle; /* first */
    struct pel_reactor *reactor;
    struct waiting *waiting;
};

static unsigned wanted(struct pel_descriptor *descriptor)
{
    unsigned events = 0;

    for (struct waiting *waiting = descriptor->waiting; waiting; waiting = waiting->next)
        events |= waiting->events;
    return events;
}

static void on_event(struct pel_handle *handle, unsigned events)
{
    struct pel_descriptor *descriptor = (struct pel_descriptor *)handle;
    struct waiting **link = &descriptor->waiting;

    while (*link) {
        struct waiting *waiting = *link;
        unsigned told = events & PEL_HANGUP && !(events & waiting->events) ? waiting->events : events & waiting->events;
        if (!told) {
            link = &waiting->next;
            continue;
        }
        *link = waiting->next;
        waiting->told = told;
        pel_waiter_fire(descriptor->reactor, &waiting->waiter);
    }
    if (descriptor->waiting)
        pel_loop_arm(&descriptor->reactor->loop, handle, wanted(descriptor), PEL_ONESHOT);
}

static struct pel_descriptor *descriptor_for(struct pel_reactor *reactor, int fd)
{
    struct pel_descriptor *descriptor;

    if (fd >= reactor->descriptor_capacity) {
        int capacity = reactor->descriptor_capacity ? reactor->descriptor_capacity : 64;
        while (capacity <= fd)
            capacity *= 2;
        REALLOC_N(reactor->descriptors, struct pel_descriptor *, capacity);
        for (int i = reactor->descriptor_capacity; i < capacity; i++)
            reactor->descriptors[i] = NULL;
        reactor->descriptor_capacity = capacity;
    }
    if (!(descriptor = reactor->descriptors[fd])) {
        descriptor = reactor->descriptors[fd] = RB_ZALLOC(struct pel_descriptor);
        descriptor->handle = (struct pel_handle){.fd = fd, .slot = PEL_UNREGISTERED, .on_event = on_event};
        descriptor->reactor = reactor;
    }
    return descriptor;
}

static void unlink_waiting(struct pel_descriptor *descriptor, struct waiting *waiting)
{
    struct waiting **link = &descriptor->waiting;

    while (*link && *link != waiting)
        link = &(*link)->next;
    if (*link)
        *link = waiting->next;
}

unsigned pel_descriptor_wait(struct pel_reactor *reactor, int fd, unsigned events, int64_t deadline)
{
    struct waiting waiting = {.waiter = {.exception = Qfalse}, .events = events};
    struct pel_descriptor *descriptor;
    int state;

    if (fd < 0)
        rb_raise(rb_eIOError, "closed stream");
    descriptor = descriptor_for(reactor, fd);
    waiting.next = descriptor->waiting;
    descriptor->waiting = &waiting;
    if (pel_loop_arm(&reactor->loop, &descriptor->handle, wanted(descriptor), PEL_ONESHOT) < 0) {
        int error = errno;
        unlink_waiting(descriptor, &waiting);
        if (error == EPERM)
            return events;
        rb_syserr_fail(error, "cannot wait for a descriptor");
    }
    state = pel_park_protected(reactor, &waiting.waiter, deadline);
    unlink_waiting(descriptor, &waiting);
    if (state)
        pel_rethrow(state);
    return waiting.told;
}

unsigned pel_descriptor_forget(struct pel_reactor *reactor, int fd)
{
    struct pel_descriptor *descriptor = fd >= 0 && fd < reactor->descriptor_capacity ? reactor->descriptors[fd] : NULL;
    unsigned count = 0;

    if (!descriptor)
        return 0;
    while (descriptor->waiting) {
        struct waiting *waiting = descriptor->waiting;
        descriptor->waiting = waiting->next;
        waiting->told = waiting->events;
        pel_waiter_fire(reactor, &waiting->waiter);
        count++;
    }
    pel_loop_disarm(&reactor->loop, &descriptor->handle);
    return count;
}

void pel_descriptors_free(struct pel_reactor *reactor)
{
    for (int i = 0; i < reactor->descriptor_capacity; i++)
        xfree(reactor->descriptors[i]);
    xfree(reactor->descriptors);
    reactor->descriptors = NULL;
    reactor->descriptor_capacity = 0;
}
