#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

#define LAST_TICKS 64 /* for jobs that go on making jobs when nothing else keeps a stopping reactor */

/* How a run stops: roots are stopped, parked fibers are cancelled, and have the grace time to end. */

static void grace_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    (void)timer;
    reactor->phase = PEL_LEAVING;
}

/* Stops roots up to the one without a stop function, which marks the end. */
static VALUE stop_roots_up_to_mark(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;
    struct pel_root *root;

    while ((root = pel_roots_first(&reactor->roots))->stop) {
        VALUE object = root->object;
        pel_roots_remove(&reactor->roots, root);
        root->stop(reactor, root);
        RB_GC_GUARD(object);
    }
    return Qnil;
}

void pel_stop_roots(struct pel_reactor *reactor)
{
    struct pel_root mark = {.stop = NULL}; /* roots that add themselves again come after it */
    int state;

    pel_roots_add(&reactor->roots, &mark, Qnil);
    do
        pel_protect(stop_roots_up_to_mark, (VALUE)reactor, &state);
    while (state && !NIL_P(pel_take_error(state)));
    pel_roots_remove(&reactor->roots, &mark);
}

/* As many exceptions as fibers are parked. Making one calls Ruby, and thereby trap handlers, which may park fibers and
 * let others go on: so all are made before the list of parked fibers is walked. */
static VALUE make_exceptions(const struct pel_reactor *reactor)
{
    VALUE exceptions = rb_ary_new();

    while (RARRAY_LEN(exceptions) < (long)reactor->parked.count)
        rb_ary_push(exceptions, rb_exc_new_cstr(pel_eCancelled, "the reactor stops"));
    return exceptions;
}

/* Cancels each parked fiber once. A fiber whose ensure blocks park again may take the grace time. */
static VALUE cancel_parked_fibers(VALUE argument)
{
    struct pel_reactor *reactor = (struct pel_reactor *)argument;
    VALUE exceptions = make_exceptions(reactor);

    for (struct pel_waiter *waiter = reactor->parked.head.next; waiter != &reactor->parked.head; waiter = waiter->next)
        pel_waiter_raise(reactor, waiter, rb_ary_pop(exceptions));
    return Qnil;
}

void pel_begin_to_stop(struct pel_reactor *reactor)
{
    reactor->grace.deadline = pel_now() + reactor->grace.time;
    reactor->grace.timer.on_timeout = grace_on_timeout;
    reactor->grace.last_ticks_left = LAST_TICKS;
    pel_timer_add(&reactor->loop.timers, &reactor->grace.timer.entry, reactor->grace.deadline);
    pel_stop_roots(reactor);
    pel_dispatch(reactor, cancel_parked_fibers, (VALUE)reactor);
}
