#include "reactor.h"

#include <ruby/fiber/scheduler.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ruby/io.h>
#include "descriptor.h"
#include "error.h"
#include "protect.h"
#include "scheduler.h"

/*
 * The hooks of Ruby's Fiber::Scheduler that are on a hot path; the others are in lib/pelton/scheduler.rb. In a child
 * after a fork Ruby still calls the parent's scheduler: the hooks then block, on a reactor of the child's own.
 */

struct pel_reactor *pel_scheduler_successor(VALUE self)
{
    struct pel_reactor *reactor = RTYPEDDATA_DATA(self);
    VALUE object = self;

    if (reactor->fork_generation != pel_fork_generation) {
        object = rb_ivar_get(reactor->thread, rb_intern("pelton_reactor"));
        reactor = NIL_P(object) ? NULL : RTYPEDDATA_DATA(object);
    }
    return reactor && reactor->fork_generation == pel_fork_generation && reactor->sleepers ? reactor : NULL;
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

struct sleeper {
    struct pel_waiter waiter; /* first */
    uint8_t unblocked;
};

/* The wake-up of a fiber that is raised in instead goes on to the next in the mutex's queue; otherwise all behind it
 * would wait for ever. */
static void pass_on(VALUE blocker)
{
    if (rb_obj_is_kind_of(blocker, rb_path2class("Thread::Mutex")) && RTEST(rb_mutex_trylock(blocker)))
        rb_mutex_unlock(blocker);
}

/* Parks the current fiber where unblock finds it. 1 when it was unblocked, 0 when the time was over. */
static int sleep_until(struct pel_reactor *reactor, VALUE blocker, int64_t deadline)
{
    struct sleeper sleeper = {.waiter.exception = Qfalse};
    VALUE fiber = rb_fiber_current();
    st_data_t key = (st_data_t)fiber, outer = 0;
    int state;

    st_lookup(reactor->sleepers, key, &outer); /* a trap handler may sleep on a fiber that sleeps */
    st_insert(reactor->sleepers, key, (st_data_t)&sleeper);
    state = pel_park_protected(reactor, &sleeper.waiter, deadline);
    if (outer)
        st_insert(reactor->sleepers, key, outer);
    else
        st_delete(reactor->sleepers, &key, NULL);
    if (state && sleeper.unblocked) {
        VALUE error = rb_errinfo();
        pass_on(blocker);
        rb_set_errinfo(error);
    }
    if (state)
        pel_rethrow(state);
    RB_GC_GUARD(fiber);
    return !sleeper.waiter.timed_out;
}

static VALUE scheduler_kernel_sleep(int argc, VALUE *argv, VALUE self)
{
    sleep_until(pel_scheduler_reactor(self), Qnil, pel_deadline(argc > 0 ? argv[0] : Qnil));
    return Qtrue;
}

static VALUE scheduler_block(int argc, VALUE *argv, VALUE self)
{
    int64_t deadline;

    rb_check_arity(argc, 1, 2);
    deadline = pel_deadline(argc > 1 ? argv[1] : Qnil);
    return sleep_until(pel_scheduler_reactor(self), argv[0], deadline) ? Qtrue : Qfalse;
}

/* From any thread. The look-up is made now, while the GVL is held: an unblock that waited in a queue could hit the
 * fiber's next sleep. A fiber that nobody knows belongs to the parent process. */
static VALUE scheduler_unblock(VALUE self, VALUE blocker, VALUE fiber)
{
    struct pel_reactor *reactor = pel_scheduler_successor(self);
    st_data_t found;

    if (reactor && st_lookup(reactor->sleepers, (st_data_t)fiber, &found)) {
        struct sleeper *sleeper = (struct sleeper *)found;
        sleeper->unblocked = !sleeper->waiter.fired || sleeper->unblocked;
        pel_waiter_fire(reactor, &sleeper->waiter);
    }
    return Qnil;
}

/* ---- fibers --------------------------------------------------------------------------------------------------- */

struct start {
    struct pel_reactor *reactor;
    VALUE block;
};

static VALUE start_fiber(VALUE argument)
{
    struct start *start = (struct start *)argument;
    return pel_start_fiber(start->reactor, start->block);
}

/* Where the reactor is the scheduler but does not run, a fiber begins and comes as far as its first wait; what is left
 * follows when the scheduler is closed. */
static VALUE start_outside_run(struct pel_reactor *reactor, VALUE block)
{
    struct start start = {.reactor = reactor, .block = block};
    VALUE fiber, fatal;
    int state;

    reactor->caller = rb_fiber_current();
    reactor->grace_deadline = 0;
    reactor->fatal = Qnil;
    reactor->phase = PEL_RUNNING;
    fiber = pel_protect(start_fiber, (VALUE)&start, &state);
    reactor->phase = PEL_IDLE;
    reactor->caller = Qnil;
    reactor->current_worker = NULL;
    fatal = reactor->fatal;
    reactor->fatal = Qnil;
    if (!NIL_P(fatal))
        rb_exc_raise(fatal);
    if (state)
        pel_rethrow(state);
    return fiber;
}

static VALUE scheduler_fiber(int argc, VALUE *argv, VALUE self)
{
    struct pel_reactor *reactor = pel_scheduler_reactor(self);
    VALUE block = rb_block_proc(), fiber;

    if (reactor->phase != PEL_IDLE)
        return pel_start_fiber(reactor, block);
    if (reactor->self == self)
        return start_outside_run(reactor, block);
    fiber = pel_new_fiber(block); /* in a child after a fork: its waits block */
    rb_fiber_resume(fiber, 0, NULL);
    return fiber;
}

static VALUE call_nothing(RB_BLOCK_CALL_FUNC_ARGLIST(argument, data))
{
    return Qnil;
}

/* Called by Fiber.set_scheduler(nil) and at the thread's end. Runs what Fiber.schedule has begun outside run. */
static VALUE scheduler_close(VALUE self)
{
    struct pel_reactor *reactor = pel_scheduler_successor(self);

    if (reactor && reactor->self == self && reactor->phase == PEL_IDLE && (reactor->parked_count || reactor->job_count))
        rb_funcall(self, rb_intern("_run"), 2, INT2FIX(5), rb_proc_new(call_nothing, Qnil));
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

/* Who waits for a descriptor that is closed goes on, and meets the error. Ruby 4 gives its number, which is closed
 * here: otherwise Ruby would offload that. Before, true would only mean that there is nothing left to do. */
static VALUE scheduler_io_close(VALUE self, VALUE descriptor)
{
    struct pel_reactor *reactor = pel_scheduler_successor(self);
    int number = RB_INTEGER_TYPE_P(descriptor);
    int fd = number ? NUM2INT(descriptor) : rb_io_descriptor(descriptor);

    if (reactor)
        pel_descriptor_forget(reactor, fd);
    if (number && close(fd) < 0)
        rb_sys_fail("close");
    return number ? Qtrue : Qfalse;
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
    rb_define_method(module, "scheduler_close", scheduler_close, 0);
    rb_define_method(module, "close", scheduler_close, 0);
    rb_define_private_method(module, "pidfd", scheduler_pidfd, 1);
    pel_init_scheduler_read(module);
    pel_init_scheduler_select(module);
    pel_init_scheduler_timeout(module);
    rb_include_module(pel_cReactor, module);
}
