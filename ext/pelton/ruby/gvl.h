#ifndef PEL_GVL_H
#define PEL_GVL_H

#include "../core/loop.h"

/* Waits for the loop's events with the GVL released: the only place that gives it up. Interrupts end the wait and are
 * left pending for the caller to take. Raises nothing. Returns pel_loop_wait's code. */
int pel_gvl_wait(struct pel_loop *loop, int64_t timeout);

#endif
