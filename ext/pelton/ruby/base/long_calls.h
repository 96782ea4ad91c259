#pragma once

#include <stdint.h>

/*
 * Long calls: while a thread had given the GVL away, it slept for 1 ms or more, or computed in C for 10 ms or more: the
 * loop loses no more by that than by Ruby code, and what is for another thread waits for the GVL there. The time for
 * which the thread waited to get the GVL back does not count, nor the time for which the kernel ran something else on
 * its core. The upcall long_call follows each one, soon, on any thread.
 */

/* Begins or ends the watch over the current thread. */
void pel_long_calls_watch(int on);

/* The next call that gives the GVL away is the loop's own wait, and does not count; 0: it has been made. */
void pel_long_calls_expect_wait(int yes);

/* How many long calls the current thread has made while it was watched; -1 where Ruby does not tell (before 3.3). */
int64_t pel_long_calls_count(void);
