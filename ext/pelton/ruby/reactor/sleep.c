#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

struct sleeper {
    struct pel_waiter waiter; /* first */
    struct sleeper *outer;    /* of the same fiber, which sleeps again in a trap handler */
};

static int sleep_until(struct pel_reactor *reactor, int64_t deadline, int is_locked)
{
    struct sleeper sleeper = {.waiter = {.exception = Qfalse, .held = {.locked = (uint8_t)is_locked}}};
    VALUE fiber = rb_fiber_current();
    st_data_t key = (st_data_t)fiber, outer = 0;
    int state;

    st_lookup(reactor->parked.sleepers, key, &outer);
    sleeper.outer = (struct sleeper *)outer;
    st_insert(reactor->parked.sleepers, key, (st_data_t)&sleeper);
    state = pel_park_protected(reactor, &sleeper.waiter, deadline);
    if (outer)
        st_insert(reactor->parked.sleepers, key, outer);
    else
        st_delete(reactor->parked.sleepers, &key, NULL);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    return !sleeper.waiter.timed_out;
}

int pel_sleep(struct pel_reactor *reactor, int64_t deadline)
{
    return sleep_until(reactor, deadline, 0);
}

int pel_sleep_until_unlocked(struct pel_reactor *reactor, int64_t deadline)
{
    return sleep_until(reactor, deadline, 1);
}

/* Wakes all sleepers of the fiber, because the caller cannot say which of them it means. Each sleeper checks by itself
 * whether it has what it waited for. */
int pel_unblock(struct pel_reactor *reactor, VALUE fiber)
{
    st_data_t innermost;

    if (!st_lookup(reactor->parked.sleepers, (st_data_t)fiber, &innermost))
        return 0;
    for (struct sleeper *sleeper = (struct sleeper *)innermost; sleeper; sleeper = sleeper->outer)
        pel_waiter_unblock(reactor, &sleeper->waiter);
    return 1;
}
