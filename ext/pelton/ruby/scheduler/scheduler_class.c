#include "ruby/reactor/reactor.h"

#include <ruby/fiber/scheduler.h>
#ifdef HAVE_CONST_SYS_PIDFD_OPEN
#include <sys/syscall.h>
#endif
#include <unistd.h>
#include <ruby/debug.h>
#include <ruby/io.h>
#include "ruby/base/long_calls.h"
#include "ruby/reactor/yield.h"
#include "ruby/scheduler/scheduler.h"

/*
 * The hooks of Ruby's Fiber::Scheduler that are on a hot path; the others are in lib/pelton/waiting/scheduler.rb. In a
 * child after a fork Ruby still calls the parent's scheduler: the hooks then block, on a reactor of the child's own.
 */

/* The reactor for hooks that another thread may call; NULL in a child after a fork. Raises nothing but what an object
 * that was never initialized gets. */
static struct pel_reactor *uninherited_reactor(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_peek(self);

    if (!reactor->parked.head.next)
        return pel_reactor_get(self);
    return pel_loop_inherited(&reactor->loop) ? NULL : reactor;
}

/* ---- block, unblock, sleep ------------------------------------------------------------------------------------ */

/* sleep(0) lets other fibers run, as it lets other threads run. */
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
    int64_t deadline;

    rb_check_arity(argc, 1, 2);
    if (pel_mutex_taken_over_p(argv[0])) {
        pel_mutex_wait(pel_scheduler_reactor(self), argv[0]);
        return Qtrue;
    }
    deadline = pel_deadline(argc > 1 ? argv[1] : Qnil);
    if (pel_mutex_p(argv[0]))
        return pel_sleep_until_unlocked(pel_scheduler_reactor(self), deadline, argv[0]) ? Qtrue : Qfalse;
    return pel_sleep(pel_scheduler_reactor(self), deadline) ? Qtrue : Qfalse;
}

/* Called by any thread. The sleeper is looked up now, while the GVL is held: an unblock that waited in a queue could
 * wake the fiber from its next sleep. */
static VALUE scheduler_unblock(VALUE self, VALUE blocker, VALUE fiber)
{
    struct pel_reactor *reactor = uninherited_reactor(self);

    if (reactor && (pel_mutex_p(blocker) ? pel_unblock_by_mutex(reactor, fiber, blocker) : pel_unblock(reactor, fiber)))
        return Qnil;
    /* From 3.2 on Ruby calls this also for a thread that closes an IO on a blocking fiber. Such a thread does not park
     * its fiber, but sleeps as a whole. Until 3.4 the blocker is that thread, from 4.0 on the IO. No method is called
     * to wake it: an interrupt of the caller may be pending, and the call would raise it. */
    if (RTEST(rb_obj_is_kind_of(blocker, rb_cThread)))
        rb_thread_wakeup_alive(blocker);
    else if (RB_TYPE_P(blocker, T_FILE))
        rb_thread_wakeup_alive(pel_reactor_peek(self)->thread);
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
    struct pel_reactor *reactor = uninherited_reactor(self);

    if (reactor)
        pel_run_close(reactor);
    return Qnil;
}

/* ---- descriptors ---------------------------------------------------------------------------------------------- */

static unsigned events_of_ruby(int ruby_events)
{
    return (ruby_events & RB_WAITFD_IN ? PEL_READABLE : 0) | (ruby_events & RB_WAITFD_OUT ? PEL_WRITABLE : 0) |
           (ruby_events & RB_WAITFD_PRI ? PEL_PRIORITY : 0);
}

static VALUE scheduler_io_wait(int argc, VALUE *argv, VALUE self)
{
    VALUE timeout;
    int wanted, ready;
    unsigned events;

    rb_check_arity(argc, 2, 3);
    wanted = NUM2INT(argv[1]);
    timeout = argc > 2 ? argv[2] : Qnil;
#ifdef HAVE_RB_IO_TIMEOUT
    /* Ruby leaves this timeout to the scheduler, and raises when the hook returns false. rb_io_timeout does not look at
     * what it gets. */
    if (NIL_P(timeout) && RB_TYPE_P(argv[0], T_FILE))
        timeout = rb_io_timeout(argv[0]);
#endif
    events = pel_descriptor_wait(pel_scheduler_reactor(self), argv[0], rb_io_descriptor(argv[0]),
                                 events_of_ruby(wanted), pel_deadline(timeout));
    ready = (events & PEL_READABLE ? RB_WAITFD_IN : 0) | (events & PEL_WRITABLE ? RB_WAITFD_OUT : 0) |
            (events & PEL_PRIORITY ? RB_WAITFD_PRI : 0);
    return ready & wanted ? INT2NUM(ready & wanted) : Qfalse;
}

/* A fiber that waits for the descriptor goes on, and meets the error. Ruby 4 passes the descriptor's number, and the
 * hook closes it, because Ruby would otherwise do so on another thread. Earlier Rubies pass the IO, and take true to
 * mean that nothing is left to do: so the hook returns false, and they close the IO. */
static VALUE scheduler_io_close(VALUE self, VALUE descriptor)
{
    struct pel_reactor *reactor = uninherited_reactor(self);
    int number = RB_INTEGER_TYPE_P(descriptor);
    int fd = number ? NUM2INT(descriptor) : rb_io_descriptor(descriptor);

    if (reactor)
        pel_descriptor_forget(reactor, fd);
    if (number && close(fd) < 0)
        rb_sys_fail("close");
    return number ? Qtrue : Qfalse;
}

static VALUE raise_in_operation(RB_BLOCK_CALL_FUNC_ARGLIST(unused, pair))
{
    return rb_funcall(RARRAY_AREF(pair, 0), rb_intern("raise"), 1, RARRAY_AREF(pair, 1));
}

/* Called by any thread. From Ruby 4.1 on (version 5 of the scheduler's interface) the fiber may be an object that
 * stands for its operation. Its method raise interrupts the fiber until the operation is over, and must be called on
 * the fiber's thread. */
static VALUE scheduler_fiber_interrupt(VALUE self, VALUE fiber, VALUE exception)
{
    struct pel_reactor *reactor = uninherited_reactor(self);

    if (reactor && !RTEST(rb_obj_is_fiber(fiber))) {
        pel_enqueue_proc(reactor, rb_proc_new(raise_in_operation, rb_assoc_new(fiber, exception)));
        return Qtrue;
    }
    return reactor && pel_raise_in(reactor, fiber, exception) ? Qtrue : Qfalse;
}

/* pidfd(pid): a descriptor that becomes readable when the process ends; nil on systems without pidfds. */
static VALUE scheduler_pidfd(VALUE self, VALUE pid)
{
#ifdef HAVE_CONST_SYS_PIDFD_OPEN
    int fd = (int)syscall(SYS_pidfd_open, NUM2PIDT(pid), 0);

    if (fd >= 0) {
        rb_update_max_fd(fd); /* the kernel has set close-on-exec */
        return INT2FIX(fd);
    }
#endif
    return Qnil;
}

/* call_site: a number for the place that a hook works for: the method that Ruby ran, and the line that called it. nil
 * for IO.copy_stream. Before them come this method and the hook. (Ruby 3.1 cannot leave frames out.) */
static VALUE scheduler_call_site(VALUE self)
{
    enum { OURS = 2, COUNT = OURS + 2 };
    VALUE frames[COUNT] = {0}, place = 0, name;
    int lines[COUNT] = {0};

    rb_profile_frames(0, COUNT, frames, lines);
    name = frames[OURS] ? rb_profile_frame_method_name(frames[OURS]) : Qnil;
    if (RB_TYPE_P(name, T_STRING) && strcmp(StringValueCStr(name), "copy_stream") == 0)
        return Qnil;
    for (int i = OURS; i < COUNT; i++)
        place = (place ^ (frames[i] >> 3) ^ ((VALUE)(unsigned)lines[i] << 32)) * 0x9e3779b97f4a7c15;
    return LONG2FIX((long)(place >> 2));
}

/* Scheduler.long_calls: how many calls of this thread have taken long outside the GVL; nil where Ruby does not tell. */
static VALUE scheduler_s_long_calls(VALUE self)
{
    int64_t count = pel_long_calls_count();

    return count < 0 ? Qnil : LL2NUM(count);
}

void pel_init_scheduler(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Scheduler");

    rb_define_method(module, "block", scheduler_block, -1);
    rb_define_method(module, "unblock", scheduler_unblock, 2);
    rb_define_method(module, "fiber", scheduler_fiber, -1);
    rb_define_method(module, "fiber_interrupt", scheduler_fiber_interrupt, 2);
    rb_define_method(module, "io_wait", scheduler_io_wait, -1);
    rb_define_method(module, "io_close", scheduler_io_close, 1);
    rb_define_method(module, "kernel_sleep", scheduler_kernel_sleep, -1);
    rb_define_method(module, "scheduler_close", scheduler_close, 0);
    rb_define_method(module, "close", scheduler_close, 0);
    rb_define_method(pel_cReactor, "pidfd", scheduler_pidfd, 1);
    rb_define_private_method(module, "call_site", scheduler_call_site, 0);
    rb_define_singleton_method(module, "long_calls", scheduler_s_long_calls, 0);
    pel_init_mutex_block(module);
    pel_init_mutex_sleep(module);
    pel_init_scheduler_read(module);
    pel_init_scheduler_select(module);
    pel_init_scheduler_timeout(module);
    rb_include_module(pel_cReactor, module);
}
