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

/* An object, not a part of the fiber's stack: the block may give control away for ever (Fiber.yield), and its stack is
 * freed. While it is armed the reactor keeps it, and it its fiber. */
struct pel_timeout {
    struct pel_alarm alarm; /* first */
    struct pel_timeout *previous, *next;
    struct pel_reactor *reactor;
    struct pel_worker *worker; /* the current one, when the fiber is its own, or NULL */
    VALUE self, fiber, exception;
    unsigned fork_generation;
    uint8_t rung;
};

static void timeout_mark(void *data)
{
    struct pel_timeout *timeout = data;

    rb_gc_mark(timeout->reactor->self);
    rb_gc_mark(timeout->fiber); /* pinned: C compares it */
    rb_gc_mark(timeout->exception);
}

/* An armed one is freed only together with its reactor, before or after it. After: it is inactive. */
static void timeout_free(void *data)
{
    struct pel_timeout *timeout = data;

    if (pel_timer_active(&timeout->alarm.timer) && timeout->fork_generation == pel_fork_generation)
        pel_timer_cancel(&timeout->reactor->loop.timers, &timeout->alarm.timer);
    xfree(timeout);
}

static size_t timeout_size(const void *data)
{
    return sizeof(struct pel_timeout);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: its fiber is young. */
static const rb_data_type_t timeout_type = {
    .wrap_struct_name = "Pelton::Scheduler timeout",
    .function = {.dmark = timeout_mark, .dfree = timeout_free, .dsize = timeout_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

void pel_timeouts_mark(struct pel_reactor *reactor)
{
    for (struct pel_timeout *timeout = reactor->timeouts; timeout; timeout = timeout->next)
        rb_gc_mark(timeout->self);
}

static void unlink_timeout(struct pel_timeout *timeout)
{
    *(timeout->previous ? &timeout->previous->next : &timeout->reactor->timeouts) = timeout->next;
    if (timeout->next)
        timeout->next->previous = timeout->previous;
}

static void ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct pel_timeout *timeout = (struct pel_timeout *)alarm;

    timeout->rung = 1;
    unlink_timeout(timeout);
    pel_raise_soon(reactor, timeout->fiber, timeout->worker, timeout->exception);
}

static void arm(struct pel_timeout *timeout, int64_t deadline)
{
    struct pel_reactor *reactor = timeout->reactor;

    timeout->next = reactor->timeouts;
    if (timeout->next)
        timeout->next->previous = timeout;
    reactor->timeouts = timeout;
    pel_timer_add(&reactor->loop.timers, &timeout->alarm.timer, deadline);
}

static void disarm(struct pel_timeout *timeout)
{
    if (timeout->rung || timeout->fork_generation != pel_fork_generation)
        return;
    pel_timer_cancel(&timeout->reactor->loop.timers, &timeout->alarm.timer);
    unlink_timeout(timeout);
}

static VALUE call_block(VALUE seconds)
{
    return rb_yield(seconds);
}

/* What is raised in the block. It is made now, because it is raised while the loop is turned. */
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

static VALUE new_timeout(struct pel_reactor *reactor, VALUE exception)
{
    struct pel_timeout *timeout;
    VALUE self = TypedData_Make_Struct(rb_cObject, struct pel_timeout, &timeout_type, timeout);

    timeout->self = self;
    timeout->fiber = timeout->exception = Qnil;
    timeout->reactor = reactor;
    timeout->fork_generation = pel_fork_generation;
    timeout->alarm.ring = ring;
    timeout->fiber = rb_fiber_current();
    timeout->exception = exception;
    if (reactor->current_worker && reactor->current_worker->fiber == timeout->fiber)
        timeout->worker = reactor->current_worker;
    RB_GC_GUARD(self);
    return self;
}

/* timeout_after(seconds, class = Timeout::Error, message = "execution expired") { } */
static VALUE scheduler_timeout_after(int argc, VALUE *argv, VALUE self)
{
    VALUE standard = rb_path2class("Timeout::Error"), class, message, exception, value, object;
    struct pel_timeout *timeout;
    int hidden, state, raised;
    int64_t deadline;

    rb_check_arity(argc, 1, 3);
    class = argc > 1 && !NIL_P(argv[1]) ? argv[1] : standard;
    message = argc > 2 && !NIL_P(argv[2]) ? argv[2] : rb_str_new_cstr("execution expired");
    hidden = class == standard;
    exception = to_raise(hidden, class, message);
    deadline = pel_deadline(argv[0]);
    object = new_timeout(pel_scheduler_reactor(self), exception);
    timeout = RTYPEDDATA_DATA(object);
    arm(timeout, deadline);
    value = pel_protect(call_block, argv[0], &state);
    disarm(timeout);
    raised = timeout->rung && !pel_late_forget(timeout->fiber, exception);
    if (state && !(hidden && rb_errinfo() == exception))
        pel_rethrow(state);
    if (state)
        rb_set_errinfo(Qnil);
    /* Over, but the fiber never waited again, or the block swallowed what was not meant for it. */
    if (timeout->rung && (hidden || !raised))
        raise_expired(class, message, exception);
    RB_GC_GUARD(object); /* not armed any more, only the stack holds it */
    return value;
}

void pel_init_scheduler_timeout(VALUE module)
{
    eExpired = rb_define_class_under(module, "Expired", rb_eException);
    rb_define_method(module, "timeout_after", scheduler_timeout_after, -1);
}
