#include "reactor.h"

/* Exceptions that are due for a fiber, which may not be parked just now. */

static int raise_late(struct pel_reactor *reactor, struct pel_late *late, struct pel_waiter *waiter)
{
    if (waiter->exception != Qfalse || !pel_waiter_raise(reactor, waiter, late->exception))
        return 0;
    late->raised = 1;
    return 1;
}

void pel_raise_late(struct pel_reactor *reactor, struct pel_late *late)
{
    struct pel_waiter *waiter = late->worker ? late->worker->waiter : NULL; /* of many that park, found at once */

    if (!waiter || waiter->fiber != late->fiber)
        waiter = pel_waiter_of(reactor, late->fiber);
    if (waiter && raise_late(reactor, late, waiter))
        return;
    late->next = reactor->late;
    reactor->late = late;
}

void pel_late_forget(struct pel_reactor *reactor, struct pel_late *late)
{
    struct pel_late **link = &reactor->late;

    while (*link && *link != late)
        link = &(*link)->next;
    if (*link)
        *link = late->next;
}

void pel_late_take(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    struct pel_late *late, *first = NULL; /* to come */

    for (late = reactor->late; late; late = late->next)
        if (late->fiber == waiter->fiber)
            first = late;
    if (!first || waiter->exception != Qfalse)
        return;
    if (raise_late(reactor, first, waiter))
        pel_late_forget(reactor, first);
}
