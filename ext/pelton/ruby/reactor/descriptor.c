#include "ruby/reactor/reactor.h"

#include <errno.h>
#include "ruby/base/protect.h"

struct pel_descriptor {
    struct pel_handle handle; /* first */
    struct pel_reactor *reactor;
    struct pel_awaited *awaited; /* one for each fiber that waits */
};

static unsigned awaited_events(struct pel_descriptor *descriptor)
{
    unsigned events = 0;

    for (struct pel_awaited *awaited = descriptor->awaited; awaited; awaited = awaited->next)
        events |= awaited->events;
    return events;
}

/* Wakes all waiters, so that their next system call meets the error, except one that is not parked yet (NULL: none).
 * Returns their number. */
static unsigned wake_descriptor_waiters(struct pel_descriptor *descriptor, const struct pel_waiter *except)
{
    unsigned count = 0;

    for (struct pel_awaited *awaited = descriptor->awaited; awaited; awaited = awaited->next) {
        if (awaited->waiter == except)
            continue;
        awaited->ready = awaited->events;
        pel_waiter_fire(descriptor->reactor, awaited->waiter);
        count++;
    }
    return count;
}

static void descriptor_on_event(struct pel_handle *handle, unsigned events)
{
    struct pel_descriptor *descriptor = (struct pel_descriptor *)handle;
    struct pel_awaited **link = &descriptor->awaited;

    while (*link) {
        struct pel_awaited *awaited = *link;
        unsigned ready =
            events & PEL_HANGUP && !(events & awaited->events) ? awaited->events : events & awaited->events;
        if (!ready) {
            link = &awaited->next;
            continue;
        }
        *link = awaited->next;
        awaited->ready = ready;
        pel_waiter_fire(descriptor->reactor, awaited->waiter);
    }
    if (descriptor->awaited &&
        pel_loop_arm(&descriptor->reactor->loop, handle, awaited_events(descriptor), PEL_ONESHOT) < 0)
        wake_descriptor_waiters(descriptor, NULL);
}

static struct pel_descriptor *descriptor_for(struct pel_reactor *reactor, int fd)
{
    struct pel_descriptor *descriptor;

    if (fd >= reactor->descriptors.capacity) {
        int capacity = reactor->descriptors.capacity ? reactor->descriptors.capacity : 64;
        while (capacity <= fd)
            capacity *= 2;
        REALLOC_N(reactor->descriptors.by_number, struct pel_descriptor *, capacity);
        for (int i = reactor->descriptors.capacity; i < capacity; i++)
            reactor->descriptors.by_number[i] = NULL;
        reactor->descriptors.capacity = capacity;
    }
    if (!(descriptor = reactor->descriptors.by_number[fd])) {
        descriptor = reactor->descriptors.by_number[fd] = RB_ZALLOC(struct pel_descriptor);
        descriptor->handle = (struct pel_handle){.fd = fd, .slot = PEL_UNREGISTERED, .on_event = descriptor_on_event};
        descriptor->reactor = reactor;
    }
    return descriptor;
}

void pel_descriptor_unlink(struct pel_awaited *awaited)
{
    if (awaited->descriptor)
        PEL_CHAIN_REMOVE(awaited->descriptor->awaited, awaited, next);
}

struct arming {
    struct pel_reactor *reactor;
    struct pel_waiter *waiter;
    struct pel_awaited *awaited;
};

static VALUE arm_awaited(VALUE argument)
{
    struct arming *arming = (struct arming *)argument;
    struct pel_awaited *awaited = arming->awaited;

    if (awaited->fd < 0)
        rb_raise(rb_eIOError, "closed stream");
    awaited->waiter = arming->waiter;
    awaited->descriptor = descriptor_for(arming->reactor, awaited->fd);
    awaited->next = awaited->descriptor->awaited;
    awaited->descriptor->awaited = awaited;
    if (pel_loop_arm(&arming->reactor->loop, &awaited->descriptor->handle, awaited_events(awaited->descriptor),
                     PEL_ONESHOT) == 0)
        return Qnil;
    if (errno != EPERM) {
        int error = errno;
        wake_descriptor_waiters(awaited->descriptor, awaited->waiter);
        rb_syserr_fail(error, "cannot wait for a descriptor");
    }
    awaited->ready = awaited->events; /* a plain file is always ready */
    return Qnil;
}

int pel_descriptor_arm(struct pel_reactor *reactor, struct pel_waiter *waiter, struct pel_awaited *awaited)
{
    struct arming arming = {.reactor = reactor, .waiter = waiter, .awaited = awaited};
    int state;

    pel_protect(arm_awaited, (VALUE)&arming, &state);
    return state;
}

unsigned pel_descriptor_forget(struct pel_reactor *reactor, int fd)
{
    struct pel_descriptor *descriptor =
        fd >= 0 && fd < reactor->descriptors.capacity ? reactor->descriptors.by_number[fd] : NULL;

    if (!descriptor)
        return 0;
    pel_loop_disarm(&reactor->loop, &descriptor->handle);
    return wake_descriptor_waiters(descriptor, NULL);
}

static int is_closed(const struct pel_descriptor *descriptor)
{
    struct pel_awaited *awaited = descriptor ? descriptor->awaited : NULL;

    while (awaited && !(awaited->io && RTEST(rb_funcall(awaited->io, rb_intern("closed?"), 0))))
        awaited = awaited->next;
    return awaited != NULL;
}

static VALUE forget_closed(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;

    for (int fd = 0; fd < reactor->descriptors.capacity; fd++)
        if (is_closed(reactor->descriptors.by_number[fd]))
            pel_descriptor_forget(reactor, fd);
    return Qnil;
}

int pel_descriptors_forget_closed(struct pel_reactor *reactor)
{
    int state;

    pel_protect(forget_closed, (VALUE)reactor, &state);
    return state;
}

void pel_descriptors_free(struct pel_reactor *reactor)
{
    for (int i = 0; i < reactor->descriptors.capacity; i++)
        xfree(reactor->descriptors.by_number[i]);
    xfree(reactor->descriptors.by_number);
    reactor->descriptors.by_number = NULL;
    reactor->descriptors.capacity = 0;
}
