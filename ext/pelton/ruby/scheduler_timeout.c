#include "late.h"

#include "protect.h"
#include "scheduler.h"

/*
 * The hook timeout_after, which Timeout.timeout calls: raises in the fiber when the time is over, wherever it waits.
 *
 * As with Timeout's own way, an error of the default class cannot be rescued inside the block: what is raised there is
 * an Expired, which becomes the Timeout::Error when it leaves the block. A class that was asked for is raised as it is.
 */

static VALUE eExpired;

struct timeout {
    struct pel_alarm alarm; /* first */
    struct pel_late late;
    struct pel_reactor *reactor;
    uint8_t rung;
};

/* Plain C, so that it rings also where a fiber that cannot park blocks. */
static void ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct timeout *timeout = (struct timeout *)alarm;

    timeout->rung = 1;
    pel_raise_late(reactor, &timeout->late);
}

static VALUE call_block(VALUE seconds)
{
    return rb_yield(seconds);
}

/* What is raised in the block. It is made now, because a timer that rings in C makes nothing. */
static VALUE to_raise(int hidden, VALUE class, VALUE message)
{
    if (hidden)
        return rb_exc_new_str(eExpired, rb_String(message));
    return rb_funcall(class, rb_intern("exception"), 1, message);
}

NORETURN(static void raise_expired(VALUE class, VALUE message, VALUE expired));

static void raise_expired(VALUE class, VALUE message, VALUE expired)
{
    VALUE error = rb_funcall(class, rb_intern("exception"), 1, message);
    VALUE backtrace = rb_funcall(expired, rb_intern("backtrace"), 0);

    if (!NIL_P(backtrace))
        rb_funcall(error, rb_intern("set_backtrace"), 1, backtrace);
    rb_exc_raise(error);
}

/* timeout_after(seconds, class = Timeout::Error, message = "execution expired") { } */
static VALUE scheduler_timeout_after(int argc, VALUE *argv, VALUE self)
{
    struct timeout timeout = {.alarm = {.ring = ring, .on_stack = 1}};
    VALUE standard = rb_path2class("Timeout::Error"), class, message, value;
    int hidden, state;

    rb_check_arity(argc, 1, 3);
    class = argc > 1 && !NIL_P(argv[1]) ? argv[1] : standard;
    message = argc > 2 && !NIL_P(argv[2]) ? argv[2] : rb_str_new_cstr("execution expired");
    hidden = class == standard;
    timeout.reactor = pel_scheduler_reactor(self);
    timeout.late.fiber = rb_fiber_current();
    if (timeout.reactor->current_worker && timeout.reactor->current_worker->fiber == timeout.late.fiber)
        timeout.late.worker = timeout.reactor->current_worker;
    timeout.late.exception = to_raise(hidden, class, message);
    pel_timer_add(&timeout.reactor->loop.timers, &timeout.alarm.timer, pel_deadline(argv[0]));
    value = pel_protect(call_block, argv[0], &state);
    pel_timer_cancel(&timeout.reactor->loop.timers, &timeout.alarm.timer);
    pel_late_forget(timeout.reactor, &timeout.late);
    if (state && !(hidden && rb_errinfo() == timeout.late.exception))
        pel_rethrow(state);
    if (state)
        rb_set_errinfo(Qnil);
    /* Over, but the fiber never waited again, or the block swallowed what was not meant for it. */
    if (timeout.rung && (hidden || !timeout.late.raised))
        raise_expired(class, message, timeout.late.exception);
    RB_GC_GUARD(self);
    return value;
}

void pel_init_scheduler_timeout(VALUE module)
{
    eExpired = rb_define_class_under(module, "Expired", rb_eException);
    rb_define_method(module, "timeout_after", scheduler_timeout_after, -1);
}
