#include "ruby/reactor/reactor.h"

#include <ruby/debug.h>
#include "ruby/base/protect.h"

static VALUE tag; /* of the throw that ends a fiber */

/* ---- ending a fiber -------------------------------------------------------------------------------------------- */

struct base_call {
    VALUE (*function)(VALUE);
    VALUE argument;
};

static VALUE call_base(RB_BLOCK_CALL_FUNC_ARGLIST(tag, call))
{
    return ((struct base_call *)call)->function(((struct base_call *)call)->argument);
}

VALUE pel_call_until_ended(VALUE (*function)(VALUE), VALUE argument)
{
    struct base_call call = {.function = function, .argument = argument};

    return rb_catch_obj(tag, call_base, (VALUE)&call);
}

static VALUE throw_to_base(VALUE nothing)
{
    rb_throw_obj(tag, nothing);
}

/* Ruby has Fiber#kill from 3.3 on. A second call does nothing. */
static VALUE kill_fiber(VALUE fiber)
{
    ID kill = rb_intern("kill");

    return rb_respond_to(fiber, kill) ? rb_funcall(fiber, kill, 0) : Qnil;
}

/* No `rescue` sees it, until it has passed an `ensure` written in Ruby. A fiber that it ends passes it on to the fiber
 * that gets control, as an exception. */
static VALUE raise_unseen(VALUE exception)
{
    rb_exc_fatal(exception);
}

static VALUE make_given_up(VALUE nothing)
{
    return rb_exc_new_cstr(pel_eCancelled, "the reactor stopped before this fiber ended");
}

/* Called in a fiber that does not end, before the next method, which may wait: so outside of all waits. It may be
 * another fiber than the one that was ended last, which has resumed that one. */
static void stop_for_good(rb_event_flag_t event, VALUE self, VALUE object, ID method, VALUE class)
{
    struct pel_reactor *reactor = RTYPEDDATA_DATA(self); /* as pel_end_fiber has set the hook */
    int state;

    if (rb_fiber_current() == reactor->run.caller || object == reactor->self) /* a hook, called by what waits */
        return;
    rb_thread_remove_event_hook_with_data(rb_thread_current(), stop_for_good, self);
    pel_switch(reactor, reactor->run.caller, &state);
    if (state)
        pel_rethrow(state);
}

static int state_of_end(void)
{
    VALUE exception;
    int state;

    pel_protect(throw_to_base, Qnil, &state);
    if (NIL_P(pel_take_error(state)))
        return state;
    /* The base of a fiber that the program has made catches nothing. */
    pel_protect(kill_fiber, rb_fiber_current(), &state);
    if (state)
        return state;
    exception = pel_protect(make_given_up, Qnil, &state);
    if (!state)
        pel_protect(raise_unseen, exception, &state);
    return state;
}

int pel_end_fiber(struct pel_reactor *reactor)
{
    int state = state_of_end();

    if (++reactor->grace.refusals == PEL_REFUSALS) /* last, because the above calls methods */
        rb_thread_add_event_hook(rb_thread_current(), stop_for_good, RUBY_EVENT_CALL | RUBY_EVENT_C_CALL,
                                 reactor->self);
    return state;
}

/* ---- ending all fibers ----------------------------------------------------------------------------------------- */

int pel_given_up(const struct pel_reactor *reactor, VALUE fiber)
{
    return reactor->phase == PEL_LEAVING && fiber != reactor->run.caller;
}

/* A fiber that was unblocked has been given a Mutex or an item already: so it goes on, and is ended when it waits
 * again. NULL when all have had their turn. */
static struct pel_waiter *give_up_next(struct pel_reactor *reactor)
{
    struct pel_waiter *waiter = reactor->parked.head.next;

    while (waiter != &reactor->parked.head && (waiter->given_up || waiter->fiber == reactor->run.caller))
        waiter = waiter->next;
    if (waiter == &reactor->parked.head)
        return NULL;
    waiter->given_up = 1;
    pel_unqueue_waiter(reactor, waiter);
    waiter->fired = 1;
    return waiter;
}

/* The Cancelled of an ended fiber is dropped. */
static void take_error(struct pel_reactor *reactor, int state)
{
    VALUE error = pel_take_error(state);

    if (NIL_P(error))
        pel_rethrow(state);
    pel_fail_run(reactor, error);
}

static void take_interrupts(struct pel_reactor *reactor)
{
    int state;

    while ((state = pel_protected_check_ints()))
        take_error(reactor, state);
}

void pel_give_up_parked(struct pel_reactor *reactor)
{
    struct pel_waiter *waiter;

    while ((waiter = give_up_next(reactor))) {
        int state;
        reactor->grace.refusals = 0;
        /* A fiber that has resumed another one cannot be switched to. It goes on, and ends, when that one has ended. */
        if (!pel_switch(reactor, waiter->fiber, &state))
            pel_take_error(state);
        else if (state)
            take_error(reactor, state);
        if (reactor->grace.refusals >= PEL_REFUSALS) /* the hook is left if the fiber has ended at last */
            rb_thread_remove_event_hook_with_data(rb_thread_current(), stop_for_good, reactor->self);
        take_interrupts(reactor);
    }
}

void pel_init_give_up(void)
{
    tag = rb_obj_alloc(rb_cObject);
    rb_gc_register_mark_object(tag);
}
