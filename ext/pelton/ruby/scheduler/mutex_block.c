#include "ruby/reactor/reactor.h"

#include <stdlib.h>
#include <ruby/version.h>
#include "ruby/base/protect.h"
#include "ruby/scheduler/scheduler.h"

/*
 * Waiting for a Mutex before Ruby 3.3. There Mutex#unlock frees the Mutex, calls the scheduler's unblock for a fiber
 * that waits, and then takes the Mutex off the thread's list of those that it has locked. The call's return checks for
 * interrupts: another thread that takes the Mutex in between, or an exception that is raised there, breaks that list,
 * and the process ends with "[BUG] invalid keeping_mutexes".
 *
 * So no fiber stays on Ruby's list of waiters while other code runs. Ruby has put it there right before it calls block;
 * this takes it off again, as unlock would have done, and has it wait in a queue of Pelton's (pel_mutex_wait). Then
 * unlock calls no Ruby code. The methods here wake a fiber after it. Code in C that unlocks by itself, such as Monitor
 * and a thread's Mutex#sleep, wakes none: so the loop and a timer of the fiber look whether the Mutex is free.
 */

/* How Ruby 3.1 and 3.2 lay out a Mutex, and a fiber that waits for it. known_layout_p looks whether it is so. */
struct node {
    struct node *next, *previous;
};

struct mutex {
    void *fiber, *next_mutex;
    struct node waiters; /* the head of a circular list */
};

struct waiter {
    VALUE mutex;
    void *thread, *fiber;
    struct node node;
};

static const rb_data_type_t *mutex_type;
static int breaks; /* this Ruby is one of those */

static void *current_fiber(void)
{
    return RTYPEDDATA_DATA(rb_fiber_current());
}

int pel_mutex_p(VALUE blocker)
{
    return RB_TYPE_P(blocker, T_DATA) && RTYPEDDATA_P(blocker) && RTYPEDDATA_TYPE(blocker) == mutex_type;
}

int pel_mutex_taken_over_p(VALUE blocker)
{
    struct mutex *mutex;
    struct waiter *waiter;
    struct node *last;

    if (!breaks || !pel_mutex_p(blocker))
        return 0;
    mutex = RTYPEDDATA_DATA(blocker);
    last = mutex->waiters.previous;
    waiter = PEL_LINKED(struct waiter, node, last);
    if (last == &mutex->waiters || waiter->mutex != blocker || waiter->fiber != current_fiber())
        return 0; /* somebody else has called block */
    last->previous->next = last->next;
    last->next->previous = last->previous;
    last->next = last->previous = last;
    return 1;
}

/* ---- methods that unlock --------------------------------------------------------------------------------------- */

static VALUE unlock_and_wake(VALUE self)
{
    rb_mutex_unlock(self);
    if (pel_mutex_queues)
        pel_mutex_wake(self);
    return self;
}

static VALUE yield_nothing(VALUE unused)
{
    return rb_yield_values2(0, NULL);
}

static VALUE mutex_synchronize(VALUE self)
{
    if (!rb_block_given_p())
        rb_raise(rb_eThreadError, "must be called with a block");
    rb_mutex_lock(self);
    return rb_ensure(yield_nothing, Qnil, unlock_and_wake, self);
}

/* ---- which Rubies ----------------------------------------------------------------------------------------------- */

/* Whether a Mutex lies in memory as this file thinks. */
static int known_layout_p(void)
{
    VALUE object = rb_mutex_new();
    struct mutex *mutex = RTYPEDDATA_DATA(object);
    int known = !mutex->fiber && mutex->waiters.next == &mutex->waiters && mutex->waiters.previous == &mutex->waiters;

    if (known) {
        rb_mutex_lock(object);
        known = mutex->fiber == current_fiber();
        rb_mutex_unlock(object);
    }
    RB_GC_GUARD(object);
    return known;
}

void pel_init_mutex_block(VALUE module)
{
    VALUE methods, mutex = rb_mutex_new();
    int minor = ruby_version[0] == '3' && ruby_version[1] == '.' ? atoi(ruby_version + 2) : 3;

    mutex_type = RTYPEDDATA_TYPE(mutex);
    if (minor >= 3 || !known_layout_p())
        return;
    breaks = 1;
    methods = rb_define_module_under(module, "MutexBlock");
    rb_define_method(methods, "unlock", unlock_and_wake, 0);
    rb_define_method(methods, "synchronize", mutex_synchronize, 0);
    rb_prepend_module(rb_obj_class(mutex), methods);
    RB_GC_GUARD(mutex);
}
