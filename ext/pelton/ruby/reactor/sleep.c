#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

struct pel_sleeper {
    struct pel_waiter waiter;            /* first */
    struct pel_sleeper *outer;           /* of the same fiber, which sleeps again in a trap handler */
    VALUE mutex;                         /* is awaited by a request, Qfalse: none */
    struct pel_sleeper *previous, *next; /* of those that await a Mutex */
};

/* ---- the requests that wait for a Mutex ------------------------------------------------------------------------ */

static void link_locked(struct pel_reactor *reactor, struct pel_sleeper *sleeper)
{
    sleeper->next = reactor->parked.locked;
    if (sleeper->next)
        sleeper->next->previous = sleeper;
    reactor->parked.locked = sleeper;
}

static void unlink_locked(struct pel_reactor *reactor, struct pel_sleeper *sleeper)
{
    *(sleeper->previous ? &sleeper->previous->next : &reactor->parked.locked) = sleeper->next;
    if (sleeper->next)
        sleeper->next->previous = sleeper->previous;
}

static struct pel_sleeper *oldest_request(struct pel_reactor *reactor, VALUE mutex)
{
    struct pel_sleeper *oldest = NULL;

    for (struct pel_sleeper *sleeper = reactor->parked.locked; sleeper; sleeper = sleeper->next)
        if (sleeper->mutex == mutex && !sleeper->waiter.abandoned &&
            (!oldest || sleeper->waiter.rank.began < oldest->waiter.rank.began))
            oldest = sleeper;
    return oldest;
}

/* ---- sleeping -------------------------------------------------------------------------------------------------- */

static int sleep_until(struct pel_reactor *reactor, int64_t deadline, VALUE mutex)
{
    struct pel_sleeper sleeper = {.waiter = {.exception = Qfalse, .held = {.locked = mutex != Qfalse}}};
    VALUE fiber = rb_fiber_current();
    st_data_t key = (st_data_t)fiber, outer = 0;
    int state;

    st_lookup(reactor->parked.sleepers, key, &outer);
    sleeper.outer = (struct pel_sleeper *)outer;
    st_insert(reactor->parked.sleepers, key, (st_data_t)&sleeper);
    if (mutex && reactor->rank.began) {
        sleeper.mutex = mutex;
        link_locked(reactor, &sleeper);
    }
    state = pel_park_protected(reactor, &sleeper.waiter, deadline);
    if (sleeper.mutex)
        unlink_locked(reactor, &sleeper);
    if (outer)
        st_insert(reactor->parked.sleepers, key, outer);
    else
        st_delete(reactor->parked.sleepers, &key, NULL);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    RB_GC_GUARD(mutex);
    return !sleeper.waiter.timed_out;
}

int pel_sleep(struct pel_reactor *reactor, int64_t deadline)
{
    return sleep_until(reactor, deadline, Qfalse);
}

int pel_sleep_until_unlocked(struct pel_reactor *reactor, int64_t deadline, VALUE mutex)
{
    return sleep_until(reactor, deadline, mutex);
}

/* Wakes all sleepers of the fiber, because the caller cannot say which of them it means. Each sleeper checks by itself
 * whether it has what it waited for. */
int pel_unblock(struct pel_reactor *reactor, VALUE fiber)
{
    st_data_t innermost;

    if (!st_lookup(reactor->parked.sleepers, (st_data_t)fiber, &innermost))
        return 0;
    for (struct pel_sleeper *sleeper = (struct pel_sleeper *)innermost; sleeper; sleeper = sleeper->outer)
        pel_waiter_unblock(reactor, &sleeper->waiter);
    return 1;
}

/* Ruby wakes the first fiber on the Mutex's list, and each that finds it locked again goes to the list's end. */
int pel_unblock_by_mutex(struct pel_reactor *reactor, VALUE fiber, VALUE mutex)
{
    struct pel_sleeper *oldest;

    if (!pel_unblock(reactor, fiber))
        return 0;
    oldest = oldest_request(reactor, mutex);
    if (oldest && !oldest->waiter.fired)
        pel_waiter_unblock(reactor, &oldest->waiter);
    return 1;
}
