#pragma once

#include <stddef.h>
#include <stdint.h>
#include "core/base/slice.h"

/*
 * Counters with names, each of which begins anew when its time has passed, in memory that a process has in common with
 * the processes that are forked from it. Nothing is locked, so none of them ever waits, and one that is killed holds
 * nothing up.
 *
 * The number of counters is fixed. A new one takes the place of one whose time has passed, or else of the lowest of
 * eight that chance has put together: their names are hashed with a random seed, so that a client cannot choose names
 * that displace another's. Processes that begin the same counter at the same moment may lose a count.
 */
struct pel_shared_counters;

/* Room for at most `most` counters, 8 at least. NULL: no memory, or no random bytes. */
struct pel_shared_counters *pel_shared_counters_new(size_t most);

void pel_shared_counters_free(struct pel_shared_counters *counters);

/*
 * Adds `amount` to the counter, and returns its count: 2^24 - 1 at most. `now` is in milliseconds of a clock that all
 * these processes share; a counter that begins here ends `ttl` milliseconds later.
 */
uint32_t pel_shared_counters_add(struct pel_shared_counters *counters, struct pel_slice name, uint32_t amount,
                                 uint64_t now, uint64_t ttl);

/* The number of counters whose time has not passed. */
size_t pel_shared_counters_live(const struct pel_shared_counters *counters, uint64_t now);

void pel_shared_counters_clear(struct pel_shared_counters *counters);
