#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

int pel_descriptors_wait(struct pel_reactor *reactor, struct pel_awaited *awaited, int count, int64_t deadline)
{
    struct pel_waiter waiter = {.held.source = count == 1 ? (uint32_t)awaited->fd + 1 : 0};
    int state = 0, ready = 0;

    for (int i = 0; i < count && !state; i++) {
        state = pel_descriptor_arm(reactor, &waiter, &awaited[i]);
        ready |= awaited[i].ready;
    }
    if (!state && !ready)
        state = pel_park_protected(reactor, &waiter, deadline);
    for (int i = 0; i < count; i++)
        pel_descriptor_unlink(&awaited[i]);
    return state;
}

unsigned pel_descriptor_wait(struct pel_reactor *reactor, VALUE io, int fd, unsigned events, int64_t deadline)
{
    struct pel_awaited awaited = {.io = io, .fd = fd, .events = events};
    int state = pel_descriptors_wait(reactor, &awaited, 1, deadline);

    if (state)
        pel_rethrow(state);
    return awaited.ready;
}
