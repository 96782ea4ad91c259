#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

/* The fibers of Fiber.schedule, which Ruby makes through the scheduler's fiber hook. */

static VALUE call_scheduled(VALUE proc)
{
    return rb_proc_call_with_block(proc, 0, NULL, Qnil);
}

/* pair: the Pelton::Reactor and the proc. */
static VALUE dispatch_scheduled(VALUE pair)
{
    pel_dispatch(RTYPEDDATA_DATA(RARRAY_AREF(pair, 0)), call_scheduled, RARRAY_AREF(pair, 1));
    return Qnil;
}

static VALUE scheduled_body(RB_BLOCK_CALL_FUNC_ARGLIST(argument, pair))
{
    struct pel_reactor *reactor = RTYPEDDATA_DATA(RARRAY_AREF(pair, 0));

    reactor->switches.arrivals++;
    reactor->workers.current = NULL;
    pel_call_until_ended(dispatch_scheduled, pair);
    pel_pending_exception_drop(rb_fiber_current());
    return Qnil; /* the fiber ends in run's caller, which hands the loop over */
}

VALUE pel_start_fiber(struct pel_reactor *reactor, VALUE proc)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    VALUE fiber = pel_fiber_new(rb_proc_new(scheduled_body, rb_assoc_new(reactor->self, proc)), 1);
    int state;

    waiter.starts_fiber = fiber;
    state = pel_park_protected(reactor, &waiter, PEL_FOREVER);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    return fiber;
}
