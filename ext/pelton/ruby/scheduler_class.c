#include "reactor.h"

#include <ruby/fiber/scheduler.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ruby/io.h>
#include "descriptor.h"
#include "scheduler.h"

/*
 * The hooks of Ruby's Fiber::Scheduler that are on a hot path; the others are in lib/pelton/scheduler.rb. In a child
 * after a fork Ruby still calls the parent's scheduler: the hooks then block, on a reactor of the child's own.
 */

/* For hooks that another thread may call: NULL when there is none in this process. Never raises. */
static struct pel_reactor *successor(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_peek(self);

    return pel_loop_inherited(&reactor->loop) ? NULL : reactor;
}

struct pel_reactor *pel_scheduler_reactor(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_existing();
    return reactor && reactor->self == self ? reactor : pel_reactor_current();
}

int64_t pel_deadline(VALUE seconds)
{
    return NIL_P(seconds) ? PEL_FOREVER : pel_now() + pel_nanoseconds(seconds);
}

/* ---- block, unblock, sleep ------------------------------------------------------------------------------------ */

/* sleep(0) lets the others run, as it does for threads. */
static VALUE scheduler_kernel_sleep(int argc, VALUE *argv, VALUE self)
{
    struct pel_reactor *reactor = pel_scheduler_reactor(self);
    double seconds;

    rb_check_arity(argc, 0, 1);
    seconds = argc > 0 && !NIL_P(argv[0]) ? NUM2DBL(argv[0]) : 1;
    if (seconds < 0)
        rb_raise(rb_eArgError, "time interval must not be negative");
    if (seconds == 0)
        pel_yield(reactor);
    else
        pel_sleep(reactor, pel_deadline(argc > 0 ? argv[0] : Qnil));
    return Qtrue;
}

static VALUE scheduler_block(int argc, VALUE *argv, VALUE self)
{
    rb_check_arity(argc, 1, 2);
    return pel_sleep(pel_scheduler_reactor(self), pel_deadline(argc > 1 ? argv[1] : Qnil)) ? Qtrue : Qfalse;
}

/* From any thread. The look-up is made now, while the GVL is held: an unblock that waited in a queue could hit the
 * fiber's next sleep. */
static VALUE scheduler_unblock(VALUE self, VALUE blocker, VALUE fiber)
{
    struct pel_reactor *reactor = successor(self);

    if (reactor)
        pel_unblock(reactor, fiber);
    return Qnil;
}

/* ---- fibers --------------------------------------------------------------------------------------------------- */

static VALUE scheduler_fiber(int argc, VALUE *argv, VALUE self)
{
    struct pel_reactor *reactor = pel_scheduler_reactor(self);
    VALUE block = rb_block_proc();

    return reactor->phase == PEL_IDLE ? pel_run_outside(reactor, block) : pel_start_fiber(reactor, block);
}

/* Called by Fiber.set_scheduler and at the thread's end. */
static VALUE scheduler_close(VALUE self)
{
    struct pel_reactor *reactor = successor(self);

    if (reactor)
        pel_run_close(reactor);
    return Qnil;
}

/* ---- descriptors ---------------------------------------------------------------------------------------------- */

static unsigned pel_events_of(int ruby_events)
{
    return (ruby_events & RB_WAITFD_IN ? PEL_READABLE : 0) | (ruby_events & RB_WAITFD_OUT ? PEL_WRITABLE : 0) |
           (ruby_events & RB_WAITFD_PRI ? PEL_PRIORITY : 0);
}

static VALUE scheduler_io_wait(int argc, VALUE *argv, VALUE self)
{
    VALUE timeout;
    int wanted, ready;
    unsigned told;

    rb_check_arity(argc, 2, 3);
    wanted = NUM2INT(argv[1]);
    timeout = argc > 2 ? argv[2] : Qnil;
#ifdef HAVE_RB_IO_TIMEOUT
    if (NIL_P(timeout))
        timeout = rb_io_timeout(argv[0]); /* Ruby leaves that to the scheduler, and raises when it is told false */
#endif
    told = pel_descriptor_wait(pel_scheduler_reactor(self), rb_io_descriptor(argv[0]), pel_events_of(wanted),
                               pel_deadline(timeout));
    ready = (told & PEL_READABLE ? RB_WAITFD_IN : 0) | (told & PEL_WRITABLE ? RB_WAITFD_OUT : 0) |
            (told & PEL_PRIORITY ? RB_WAITFD_PRI : 0);
    return ready & wanted ? INT2NUM(ready & wanted) : Qfalse;
}

/* Who waits for a descriptor that is closed goes on, and meets the error. Ruby 4 gives its number, which is closed
 * here: otherwise Ruby would offload that. Before, true would only mean that there is nothing left to do. */
static VALUE scheduler_io_close(VALUE self, VALUE descriptor)
{
    struct pel_reactor *reactor = successor(self);
    int number = RB_INTEGER_TYPE_P(descriptor);
    int fd = number ? NUM2INT(descriptor) : rb_io_descriptor(descriptor);

    if (reactor)
        pel_descriptor_forget(reactor, fd);
    if (number && close(fd) < 0)
        rb_sys_fail("close");
    return number ? Qtrue : Qfalse;
}

/* From any thread. */
static VALUE scheduler_fiber_interrupt(VALUE self, VALUE fiber, VALUE exception)
{
    struct pel_reactor *reactor = successor(self);
    return reactor && pel_raise_in(reactor, fiber, exception) ? Qtrue : Qfalse;
}

/* pidfd(pid): a descriptor that is readable when the process has ended; nil where there is none. */
static VALUE scheduler_pidfd(VALUE self, VALUE pid)
{
#ifdef SYS_pidfd_open
    int fd = (int)syscall(SYS_pidfd_open, NUM2PIDT(pid), 0);

    if (fd >= 0) {
        rb_update_max_fd(fd); /* it is closed on exec already */
        return INT2FIX(fd);
    }
#endif
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
    rb_define_method(module, "io_close", scheduler_io_close, 1);
    rb_define_method(module, "fiber_interrupt", scheduler_fiber_interrupt, 2);
    rb_define_method(module, "scheduler_close", scheduler_close, 0);
    rb_define_method(module, "close", scheduler_close, 0);
    rb_define_private_method(module, "pidfd", scheduler_pidfd, 1);
    pel_init_scheduler_read(module);
    pel_init_scheduler_select(module);
    pel_init_scheduler_timeout(module);
    rb_include_module(pel_cReactor, module);
}
