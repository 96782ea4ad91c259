#include "reactor.h"

#include <ruby/fiber/scheduler.h>
#include <ruby/io.h>
#include "descriptor.h"
#include "error.h"
#include "protect.h"
#include "scheduler.h"

/*
 * The hooks of Ruby's Fiber::Scheduler that are on a hot path; the others are in lib/pelton/scheduler.rb. In a child
 * after a fork Ruby still calls the parent's scheduler: the hooks then block, on a reactor of the child's own.
 */

struct pel_reactor *pel_scheduler_reactor(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_existing();
    return reactor && reactor->self == self ? reactor : pel_reactor_current();
}

int64_t pel_deadline(VALUE seconds)
{
    return NIL_P(seconds) ? PEL_FOREVER : pel_now() + pel_nanoseconds(seconds);
}

/* Parks the current fiber where unblock finds it. 1 when it was unblocked, 0 when the time was over. */
static int sleep_until(struct pel_reactor *reactor, int64_t deadline)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    VALUE fiber = rb_fiber_current();
    st_data_t key = (st_data_t)fiber, outer = 0;
    int state;

    st_lookup(reactor->sleepers, key, &outer); /* a trap handler may sleep on a fiber that sleeps */
    st_insert(reactor->sleepers, key, (st_data_t)&waiter);
    state = pel_park_protected(reactor, &waiter, deadline);
    if (outer)
        st_insert(reactor->sleepers, key, outer);
    else
        st_delete(reactor->sleepers, &key, NULL);
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    return !waiter.timed_out;
}

static VALUE scheduler_kernel_sleep(int argc, VALUE *argv, VALUE self)
{
    sleep_until(pel_scheduler_reactor(self), pel_deadline(argc > 0 ? argv[0] : Qnil));
    return Qtrue;
}

static VALUE scheduler_block(int argc, VALUE *argv, VALUE self)
{
    rb_check_arity(argc, 1, 2);
    return sleep_until(pel_scheduler_reactor(self), pel_deadline(argc > 1 ? argv[1] : Qnil)) ? Qtrue : Qfalse;
}

/* From any thread. The look-up is made now, while the GVL is held: an unblock that waited in a queue could hit the
 * fiber's next sleep. */
static VALUE scheduler_unblock(VALUE self, VALUE blocker, VALUE fiber)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    st_data_t waiter;

    if (st_lookup(reactor->sleepers, (st_data_t)fiber, &waiter))
        pel_waiter_fire(reactor, (struct pel_waiter *)waiter);
    return Qnil;
}

static VALUE scheduler_fiber(int argc, VALUE *argv, VALUE self)
{
    return pel_start_fiber(pel_scheduler_reactor(self), rb_block_proc());
}

static unsigned pel_events_of(int ruby_events)
{
    return (ruby_events & RB_WAITFD_IN ? PEL_READABLE : 0) | (ruby_events & RB_WAITFD_OUT ? PEL_WRITABLE : 0) |
           (ruby_events & RB_WAITFD_PRI ? PEL_PRIORITY : 0);
}

static VALUE scheduler_io_wait(int argc, VALUE *argv, VALUE self)
{
    int wanted, ready;
    unsigned told;

    rb_check_arity(argc, 2, 3);
    wanted = NUM2INT(argv[1]);
    told = pel_descriptor_wait(pel_scheduler_reactor(self), rb_io_descriptor(argv[0]), pel_events_of(wanted),
                               pel_deadline(argc > 2 ? argv[2] : Qnil));
    ready = (told & PEL_READABLE ? RB_WAITFD_IN : 0) | (told & PEL_WRITABLE ? RB_WAITFD_OUT : 0) |
            (told & PEL_PRIORITY ? RB_WAITFD_PRI : 0);
    return ready & wanted ? INT2NUM(ready & wanted) : Qfalse;
}

/* Called by Fiber.set_scheduler(nil) and at the thread's end. run has ended by then, or an exception has ended it. */
static VALUE scheduler_close(VALUE self)
{
    return Qnil;
}

void pel_init_scheduler(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Scheduler");

    rb_define_method(module, "kernel_sleep", scheduler_kernel_sleep, -1);
    rb_define_method(module, "block", scheduler_block, -1);
    rb_define_method(module, "unblock", scheduler_unblock, 2);
    rb_define_method(module, "fiber", scheduler_fiber, -1);
    rb_define_method(module, "io_wait", scheduler_io_wait, -1);
    rb_define_method(module, "scheduler_close", scheduler_close, 0);
    pel_init_scheduler_read(module);
    pel_init_scheduler_select(module);
    pel_init_scheduler_timeout(module);
    rb_include_module(pel_cReactor, module);
}
