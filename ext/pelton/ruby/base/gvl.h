#ifndef PELTON_RUBY_BASE_GVL_H
#define PELTON_RUBY_BASE_GVL_H

#include "core/loop/loop.h"
#include "core/loop/watchdog.h"

/* Waits for the loop's events with the GVL released. No other function of Pelton releases the GVL. An interrupt ends
 * the wait and stays pending for the caller. The loop, which the caller has marked idle, is busy again when the wait is
 * over, while it still waits for the GVL: another thread that keeps it blocks the loop. Raises nothing. Returns
 * pel_loop_wait's code. */
int pel_gvl_wait(struct pel_loop *loop, int64_t timeout, struct pel_watch *watch);

#endif
