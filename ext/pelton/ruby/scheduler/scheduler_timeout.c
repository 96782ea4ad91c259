#include "ruby/scheduler/scheduler.h"

#include <string.h>
#include "ruby/base/protect.h"

/*
 * The hook timeout_after, which Timeout.timeout calls: when the time is over it raises in the fiber, wherever it waits.
 *
 * As in Ruby's own Timeout, code inside the block cannot rescue an error of the default class: an Expired is raised
 * there, and becomes a Timeout::Error when it leaves the block. Pelton::TimeoutError, the class of Pelton.timeout, is
 * treated alike: code that rescues the error of one operation must not go on when the time of the whole block is over.
 * Any other error class that the caller gave is raised as it is.
 */

static VALUE eExpired;

/* An object, and not on the fiber's stack: the block may give control away for good (Fiber.yield), and then its stack
 * is freed. While the timeout is armed, the reactor keeps it alive, and it keeps its fiber alive. */
struct scheduler_timeout {
    struct pel_reactor_timer timer; /* first */
    struct pel_kept kept;           /* linked while the timeout is armed */
    struct pel_reactor *reactor;
    struct pel_worker *worker; /* the current worker if the fiber is that worker's, or NULL */
    VALUE fiber, exception;
    unsigned fork_generation;
    uint8_t fired;
};

static void scheduler_timeout_mark(void *data)
{
    struct scheduler_timeout *timeout = data;

    rb_gc_mark(timeout->reactor->self);
    rb_gc_mark(timeout->fiber); /* pinned: C compares its address */
    rb_gc_mark(timeout->exception);
}

/* An armed timeout is freed only together with its reactor, in any order. If the reactor was freed first, the timer is
 * inactive. */
static void scheduler_timeout_free(void *data)
{
    struct scheduler_timeout *timeout = data;

    if (pel_timer_active(&timeout->timer.entry) && timeout->fork_generation == pel_fork_generation)
        pel_timer_cancel(&timeout->reactor->loop.timers, &timeout->timer.entry);
    PEL_FREE(timeout);
}

static size_t scheduler_timeout_size(const void *data)
{
    return sizeof(struct scheduler_timeout);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: the timeout refers to its fiber, which is young. */
static const rb_data_type_t scheduler_timeout_type = {
    .wrap_struct_name = "Pelton::Scheduler timeout",
    .function = {.dmark = scheduler_timeout_mark, .dfree = scheduler_timeout_free, .dsize = scheduler_timeout_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static void scheduler_timeout_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct scheduler_timeout *timeout = (struct scheduler_timeout *)timer;

    timeout->fired = 1;
    pel_link_remove(&timeout->kept.link);
    pel_raise_or_defer(reactor, timeout->fiber, timeout->worker, timeout->exception);
}

static void arm_scheduler_timeout(struct scheduler_timeout *timeout, int64_t deadline)
{
    struct pel_reactor *reactor = timeout->reactor;

    pel_link_insert(&timeout->kept.link, &reactor->kept);
    pel_timer_add(&reactor->loop.timers, &timeout->timer.entry, deadline);
}

static void disarm_scheduler_timeout(struct scheduler_timeout *timeout)
{
    if (timeout->fired || timeout->fork_generation != pel_fork_generation)
        return;
    pel_timer_cancel(&timeout->reactor->loop.timers, &timeout->timer.entry);
    pel_link_remove(&timeout->kept.link);
}

static VALUE call_timeout_block(VALUE seconds)
{
    return rb_yield(seconds);
}

/* The exception to raise in the block. It is made in advance, because a timer raises it, which calls no Ruby. */
static VALUE make_exception(int hidden, VALUE class, VALUE message)
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

static VALUE new_scheduler_timeout(struct pel_reactor *reactor, VALUE exception)
{
    struct scheduler_timeout *timeout;
    VALUE self = TypedData_Make_Struct(rb_cObject, struct scheduler_timeout, &scheduler_timeout_type, timeout);

    timeout->kept.object = self;
    timeout->fiber = timeout->exception = Qnil;
    timeout->reactor = reactor;
    timeout->fork_generation = pel_fork_generation;
    timeout->timer.on_timeout = scheduler_timeout_on_timeout;
    timeout->fiber = rb_fiber_current();
    timeout->exception = exception;
    if (reactor->workers.current && reactor->workers.current->fiber == timeout->fiber)
        timeout->worker = reactor->workers.current;
    RB_GC_GUARD(self);
    return self;
}

/* timeout_after(seconds, class = Timeout::Error, message = "execution expired") { }. Instead of the default class,
 * newer versions of timeout pass an exception of their own, and turn it into the error after the block. */
static VALUE scheduler_timeout_after(int argc, VALUE *argv, VALUE self)
{
    VALUE standard = rb_path2class("Timeout::Error"), class, message, exception, value, object;
    struct scheduler_timeout *timeout;
    int own, hidden, state, raised;
    int64_t deadline;

    rb_check_arity(argc, 1, 3);
    class = argc > 1 && !NIL_P(argv[1]) ? argv[1] : standard;
    message = argc > 2 && !NIL_P(argv[2]) ? argv[2] : rb_str_new_cstr("execution expired");
    own = strcmp(rb_obj_classname(class), "Timeout::ExitException") == 0;
    hidden = own || class == standard || class == pel_eTimeoutError;
    exception = own ? class : make_exception(hidden, class, message);
    deadline = pel_deadline(argv[0]);
    object = new_scheduler_timeout(pel_scheduler_reactor(self), exception);
    timeout = RTYPEDDATA_DATA(object);
    arm_scheduler_timeout(timeout, deadline);
    value = pel_protect(call_timeout_block, argv[0], &state);
    disarm_scheduler_timeout(timeout);
    raised = timeout->fired && !pel_pending_exception_forget(timeout->fiber, exception);
    if (state && !(hidden && rb_errinfo() == exception))
        pel_rethrow(state);
    if (state)
        rb_set_errinfo(Qnil);
    /* The time is over, but the fiber has not waited since, or the block has rescued the exception. */
    if (timeout->fired && own)
        rb_exc_raise(exception);
    if (timeout->fired && (hidden || !raised))
        raise_expired(class, message, exception);
    RB_GC_GUARD(object); /* disarmed: only the stack refers to it */
    return value;
}

void pel_init_scheduler_timeout(VALUE module)
{
    eExpired = rb_define_class_under(module, "Expired", rb_eException);
    rb_define_method(module, "timeout_after", scheduler_timeout_after, -1);
}
