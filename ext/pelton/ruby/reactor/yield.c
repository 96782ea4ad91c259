#include "ruby/reactor/yield.h"

#include "ruby/base/protect.h"

static int nothing_ready(const struct pel_reactor *reactor)
{
    return reactor->phase == PEL_RUNNING && !pel_jobs_p(reactor);
}

void pel_yield(struct pel_reactor *reactor)
{
    struct pel_waiter waiter = {.yields = 1};
    int state;

    reactor->budget = PEL_BUDGET;
    if (!pel_can_park(reactor) || reactor->phase == PEL_LEAVING)
        return;
    if (nothing_ready(reactor)) { /* then this fiber makes the loop's tick itself */
        pel_note_progress(reactor);
        if ((state = pel_tick(reactor, PEL_POLL)) && (state = pel_interrupt_run(reactor, state)))
            pel_rethrow(state);
        if (nothing_ready(reactor) && !pel_pending_exception_p(rb_fiber_current()))
            return;
    }
    pel_end_batch(reactor); /* so the next switch goes to a worker */
    pel_park(reactor, &waiter, PEL_FOREVER);
}

void pel_budget_exhausted(struct pel_reactor *reactor)
{
    if (RTEST(rb_attr_get(rb_fiber_current(), rb_intern("@pelton_without_yielding")))) {
        reactor->budget = PEL_BUDGET;
        pel_note_progress(reactor);
    } else {
        pel_yield(reactor);
    }
}
