#pragma once

#include <ruby.h>
#include "ruby/reactor/tick.h"
#include "ruby/reactor/waiter.h"

/*
 * Fibers that wait for a Mutex outside Ruby's own list of waiters, on the Rubies whose list breaks
 * (scheduler/mutex_block.c). Whoever unlocks the Mutex, or notices that it is free, wakes the fiber that came first.
 * Any thread that holds the GVL may do so. Include reactor.h.
 */

struct pel_mutex_queue;

extern struct pel_mutex_queue *pel_mutex_queues; /* of the Mutexes for which fibers wait; NULL: of none */

/* On the stack of the fiber. */
struct pel_mutex_waiter {
    struct pel_reactor_timer timer; /* first */
    struct pel_waiter waiter;
    struct pel_reactor *reactor;
    struct pel_mutex_waiter *next;
    VALUE mutex;
    int64_t pause; /* until the timer's next look */
};

/* Parks until the Mutex is free. Raises. (mutex_wait.c) */
void pel_mutex_wait(struct pel_reactor *reactor, VALUE mutex);

/* Puts a fiber into the queue of a Mutex, and takes it out. The first raises NoMemoryError. */
void pel_mutex_enter(VALUE mutex, struct pel_mutex_waiter *entry);
void pel_mutex_leave(VALUE mutex, struct pel_mutex_waiter *entry);

/* Wakes the first fiber that waits for this Mutex, if it is free; or the first of every Mutex. Call no Ruby. */
void pel_mutex_wake(VALUE mutex);
void pel_mutex_wake_all_free(void);

/* The reactor's memory is about to be freed, and with it the stacks of fibers that never go on. C only. */
void pel_mutex_forget(struct pel_reactor *reactor);
