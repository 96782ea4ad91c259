#pragma once

#include "ruby/reactor/reactor.h"

/* Shared by the files of the scheduler's hooks. */

/* The reactor that a hook works on: self's. In a child after a fork, where Ruby still calls the parent's scheduler, it
 * is a reactor of the child's own, which blocks. */
static inline struct pel_reactor *pel_scheduler_reactor(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_existing();
    return reactor && reactor->self == self ? reactor : pel_reactor_current();
}

int pel_mutex_p(VALUE blocker); /* (mutex_block.c) */

/* Whether a fiber that Ruby has block for this object must wait for it in pel_mutex_wait instead: it is a Mutex, and
 * the fiber was taken off Ruby's list of its waiters. */
int pel_mutex_taken_over_p(VALUE blocker);

void pel_init_mutex_block(VALUE module);
void pel_init_mutex_sleep(VALUE module);
void pel_init_scheduler_read(VALUE module);
void pel_init_scheduler_select(VALUE module);
void pel_init_scheduler_timeout(VALUE module);
