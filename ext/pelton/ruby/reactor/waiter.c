#include "ruby/reactor/reactor.h"

struct pel_operation_hooks pel_operation_hooks;

/* ---- waking --------------------------------------------------------------------------------------------------- */

static void fire_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter, struct pel_queue *queue)
{
    if (waiter->fired)
        return;
    waiter->fired = 1;
    if (!waiter->off_queue) {
        pel_queue_waiter(reactor, queue, waiter);
        return;
    }
    reactor->tick.fired_off_queue = 1;
    if (__atomic_load_n(&reactor->loop.waiting, __ATOMIC_RELAXED))
        pel_loop_wake(&reactor->loop);
}

void pel_waiter_fire(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    fire_waiter(reactor, waiter, waiter->rank.began ? &reactor->queues.begun : &reactor->queues.ready);
}

void pel_waiter_time_out(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    if (!waiter->fired)
        waiter->timed_out = 1;
    fire_waiter(reactor, waiter, &reactor->queues.due);
}

/* ---- turns ---------------------------------------------------------------------------------------------------- */

void pel_turns_enter(struct pel_turns *turns, struct pel_turn *turn)
{
    turn->next = NULL;
    *(turns->last ? &turns->last->next : &turns->first) = turn;
    turns->last = turn;
}

void pel_turns_leave(struct pel_turns *turns, struct pel_turn *turn)
{
    struct pel_turn **link = &turns->first, *before = NULL;

    for (; *link && *link != turn; link = &before->next)
        before = *link;
    if (!*link)
        return;
    *link = turn->next;
    if (turns->last == turn)
        turns->last = before;
}

void pel_turns_fire_first(struct pel_reactor *reactor, const struct pel_turns *turns)
{
    if (turns->first)
        pel_waiter_fire(reactor, turns->first->waiter);
}

void pel_turns_fire_all(struct pel_reactor *reactor, const struct pel_turns *turns)
{
    for (const struct pel_turn *turn = turns->first; turn; turn = turn->next)
        pel_waiter_fire(reactor, turn->waiter);
}

/* ---- all waiters ---------------------------------------------------------------------------------------------- */

/* The list begins with the waiter that parked last: of several waiters of one fiber, the innermost. */
struct pel_waiter *pel_waiter_of(struct pel_reactor *reactor, VALUE fiber)
{
    struct pel_waiter *waiter;
    st_data_t worker;

    /* Programs interrupt many fibers in a row, such as all requests of a server whose database is slow. */
    if (st_lookup(reactor->workers.by_fiber, (st_data_t)fiber, &worker)) {
        waiter = ((struct pel_worker *)worker)->waiter;
        if (waiter && waiter->fiber == fiber && !waiter->abandoned)
            return waiter;
    }
    for (waiter = reactor->parked.head.next; waiter != &reactor->parked.head; waiter = waiter->next)
        if (waiter->fiber == fiber)
            return waiter;
    return NULL;
}

static void mark_waiters(const struct pel_waiter *head)
{
    for (struct pel_waiter *waiter = head->next; waiter != head; waiter = waiter->next) {
        rb_gc_mark(waiter->fiber); /* pinned: C compares and keeps its address */
        if (waiter->exception)
            rb_gc_mark(waiter->exception);
        if (waiter->operation)
            pel_operation_hooks.mark(waiter->operation);
    }
}

void pel_waiters_mark(struct pel_reactor *reactor)
{
    mark_waiters(&reactor->parked.head);
    mark_waiters(&reactor->parked.abandoned);
}
