#pragma once

#include <stddef.h>
#include "core/loop/loop.h"
#include "core/loop/watchdog.h"

/* No other file of Pelton releases the GVL. */

/* Waits for the loop's events with the GVL released. An interrupt ends
 * the wait and stays pending for the caller. The loop, which the caller has marked idle, is busy again when the wait is
 * over, while it still waits for the GVL: another thread that keeps it blocks the loop. Raises nothing. Returns
 * pel_loop_wait's code. */
int pel_gvl_wait(struct pel_loop *loop, int64_t timeout, struct pel_watch *watch);

/* Gives free memory back to the system, as far as malloc can, with the GVL released: it takes milliseconds, or tenths
 * of a second after a gigabyte. Does nothing where malloc has no such function. */
void pel_gvl_trim(void);

/* pel_huge_pages_join with the GVL released. */
size_t pel_gvl_join_huge_pages(void);
