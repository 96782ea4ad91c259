#ifndef PEL_SCHEDULER_H
#define PEL_SCHEDULER_H

#include "reactor.h"

/* What the files of the scheduler's hooks share. */

/* The reactor that a hook works on: self's; in a child after a fork, where Ruby still calls the parent's scheduler, one
 * of the child's own, which blocks. */
struct pel_reactor *pel_scheduler_reactor(VALUE self);

/* The moment in so many seconds; PEL_FOREVER for nil. Raises TypeError, ArgumentError. */
int64_t pel_deadline(VALUE seconds);

/* Marks the armed timeouts, and their fibers. */
void pel_timeouts_mark(struct pel_reactor *reactor);

void pel_init_scheduler_read(VALUE module);
void pel_init_scheduler_select(VALUE module);
void pel_init_scheduler_timeout(VALUE module);

void pel_init_scheduler(void);

#endif
