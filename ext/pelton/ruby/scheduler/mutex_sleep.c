#include "ruby/reactor/reactor.h"

#include <string.h>
#include <ruby/fiber/scheduler.h>
#include <ruby/version.h>
#include "ruby/scheduler/scheduler.h"

/*
 * Mutex#sleep for Ruby 3.1, which does not lock the Mutex again when an exception ends the sleep on a fiber that has a
 * scheduler: a ThreadError ("Attempt to unlock a mutex which is not locked") would take the exception's place.
 * ConditionVariable#wait calls Mutex#sleep.
 */

struct mutex_sleep {
    VALUE scheduler, timeout;
};

static VALUE sleep_unlocked(VALUE argument)
{
    struct mutex_sleep *sleep = (struct mutex_sleep *)argument;

    return rb_fiber_scheduler_kernel_sleep(sleep->scheduler, sleep->timeout);
}

/* sleep(timeout = nil): returns the seconds that it took, rounded. */
static VALUE mutex_sleep(int argc, VALUE *argv, VALUE self)
{
    struct mutex_sleep sleep = {.scheduler = rb_fiber_scheduler_current(), .timeout = argc > 0 ? argv[0] : Qnil};
    int64_t began = pel_now();

    if (!rb_obj_is_kind_of(sleep.scheduler, pel_cReactor))
        return rb_call_super(argc, argv);
    rb_check_arity(argc, 0, 1);
    rb_mutex_unlock(self);
    rb_ensure(sleep_unlocked, (VALUE)&sleep, rb_mutex_lock, self);
    return LL2NUM((pel_now() - began + 500000000) / 1000000000);
}

void pel_init_mutex_sleep(VALUE module)
{
    VALUE methods;

    if (strncmp(ruby_version, "3.1.", 4) != 0)
        return;
    methods = rb_define_module_under(module, "MutexSleep");
    rb_define_method(methods, "sleep", mutex_sleep, -1);
    rb_prepend_module(rb_path2class("Thread::Mutex"), methods);
}
