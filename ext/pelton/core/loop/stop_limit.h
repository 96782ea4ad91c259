#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * How long this process may take to stop, whatever its threads do meanwhile: a thread of its own counts the time, and
 * ends the process by _exit, with a line on standard error and status 1. In a child after fork there is no limit.
 *
 * This needs neither Ruby's lock nor a turn of the loop, and runs no `ensure`. It is for what is left when all that
 * waits was ended (ruby/reactor/give_up.h): computations, calls in C, at_exit blocks (docs/internals/adr/034).
 */

/* The time begins with the first of the signals; without signals it begins now. The handlers of the signals, which must
 * be set already, run as before. Of several calls with signals the first one counts. Returns 0, or a negative code when
 * there can be no pipe or no thread: then there is no limit. */
int pel_stop_limit(int64_t nanoseconds, const int *signals, size_t count);
