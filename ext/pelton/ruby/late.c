#include "late.h"

#include "../core/alloc.h"
#include "error.h"

/* Exceptions that are meant for a fiber: raised when it is parked and may be disturbed, kept for its next wait
 * otherwise. */

static void keep(struct pel_reactor *reactor, struct pel_late *late)
{
    late->raised = 0;
    late->next = reactor->late;
    reactor->late = late;
}

static int cancels(VALUE exception)
{
    return exception && RTEST(rb_obj_is_kind_of(exception, pel_eCancelled));
}

/* Once is enough: the second Cancelled would strike the ensure block that the first one has begun. */
static int cancelled_already(struct pel_reactor *reactor, VALUE fiber)
{
    for (struct pel_late *late = reactor->late; late; late = late->next)
        if (late->fiber == fiber && cancels(late->exception))
            return 1;
    return 0;
}

void pel_raise_next(struct pel_reactor *reactor, VALUE fiber, VALUE exception)
{
    struct pel_late *late;

    if (cancels(exception) && cancelled_already(reactor, fiber))
        return;
    pel_late_drop(reactor, Qfalse);
    if (!(late = pel_calloc(1, sizeof *late)))
        rb_memerror();
    late->fiber = fiber;
    late->exception = exception;
    late->owned = 1;
    keep(reactor, late);
}

static int may_raise(const struct pel_waiter *waiter)
{
    return !waiter->unblocked && waiter->exception == Qfalse;
}

void pel_waiter_raise(struct pel_reactor *reactor, struct pel_waiter *waiter, VALUE exception)
{
    if (may_raise(waiter)) {
        waiter->exception = exception;
        pel_waiter_fire(reactor, waiter);
    } else if (!cancels(exception) || !cancels(waiter->exception)) {
        pel_raise_next(reactor, waiter->fiber, exception);
    }
}

void pel_waiter_postpone(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    if (waiter->exception == Qfalse)
        return;
    if (waiter->late)
        keep(reactor, waiter->late);
    else
        pel_raise_next(reactor, waiter->fiber, waiter->exception);
    waiter->exception = Qfalse;
    waiter->late = NULL;
}

static void raise_late(struct pel_reactor *reactor, struct pel_late *late, struct pel_waiter *waiter)
{
    late->raised = 1;
    waiter->exception = late->exception;
    if (late->owned)
        pel_free(late);
    else
        waiter->late = late;
    pel_waiter_fire(reactor, waiter);
}

void pel_raise_late(struct pel_reactor *reactor, struct pel_late *late)
{
    struct pel_waiter *waiter = late->worker ? late->worker->waiter : NULL; /* of many that park, found at once */

    if (!waiter || waiter->fiber != late->fiber)
        waiter = pel_waiter_of(reactor, late->fiber);
    if (waiter && may_raise(waiter))
        raise_late(reactor, late, waiter);
    else
        keep(reactor, late);
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
    if (!first || !may_raise(waiter))
        return;
    pel_late_forget(reactor, first);
    raise_late(reactor, first, waiter);
}

static int over(const struct pel_late *late, VALUE fiber)
{
    return late->owned && (NIL_P(fiber) || late->fiber == fiber || !RTEST(rb_fiber_alive_p(late->fiber)));
}

void pel_late_drop(struct pel_reactor *reactor, VALUE fiber)
{
    struct pel_late **link = &reactor->late;

    while (*link) {
        struct pel_late *late = *link;
        if (!over(late, fiber)) {
            link = &late->next;
            continue;
        }
        *link = late->next;
        pel_free(late);
    }
}

void pel_late_mark(struct pel_reactor *reactor)
{
    for (struct pel_late *late = reactor->late; late; late = late->next) {
        if (!late->owned) /* it lies on its fiber's stack */
            continue;
        rb_gc_mark(late->fiber);
        rb_gc_mark(late->exception);
    }
}
