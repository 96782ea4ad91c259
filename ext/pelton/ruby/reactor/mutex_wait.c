#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

/* Code in C unlocks a Mutex without telling: so a timer looks, too, the first time after LEAST_NS, and then after twice
 * the time before. */
#define LEAST_NS (500 * 1000)
#define MOST_NS (INT64_C(256) * 1000 * 1000)

static void look_later(struct pel_mutex_waiter *entry)
{
    pel_timer_add(&entry->reactor->loop.timers, &entry->timer.entry, pel_now() + entry->pause);
    if (entry->pause < MOST_NS)
        entry->pause *= 2;
}

static void look_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct pel_mutex_waiter *entry = (struct pel_mutex_waiter *)timer;

    (void)reactor;
    pel_mutex_wake(entry->mutex);
    if (!entry->waiter.fired)
        look_later(entry);
}

void pel_mutex_wait(struct pel_reactor *reactor, VALUE mutex)
{
    struct pel_mutex_waiter entry = {.timer = {.on_timeout = look_on_timeout, .on_stack = 1},
                                     .waiter = {.exception = Qfalse},
                                     .reactor = reactor,
                                     .mutex = mutex,
                                     .pause = LEAST_NS};
    int state = 0;

    pel_mutex_enter(mutex, &entry);
    while (!state && RTEST(rb_mutex_locked_p(mutex))) {
        entry.waiter = (struct pel_waiter){.exception = Qfalse, .held = {.locked = 1}};
        look_later(&entry);
        state = pel_park_protected(reactor, &entry.waiter, PEL_FOREVER);
        pel_timer_cancel(&reactor->loop.timers, &entry.timer.entry);
    }
    pel_mutex_leave(mutex, &entry);
    if (state) {
        pel_mutex_wake(mutex); /* passes the wake-up on */
        pel_rethrow(state);
    }
    RB_GC_GUARD(mutex);
}
