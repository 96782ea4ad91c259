#pragma once

#include <stddef.h>

/*
 * Fresh strings are the largest cost of receiving much data. Ruby lets 16 to 32 MB of them accumulate before it
 * collects, so each new string lies in memory that the kernel must first map and clear. A minor collection every 2 MB
 * reuses the same memory, and halves the whole cost. A collection is started only as often as measurements show that it
 * pays.
 */

/* Counts bytes that were given to the user in a large string and will soon be garbage. May start a collection. Call it
 * after the next string was allocated: that string lies above the garbage on the heap, which keeps malloc from
 * returning the freed memory to the kernel. */
void pel_garbage_made(size_t bytes);

/* Counts bytes of a large string that will be garbage soon, where no collection may start. */
void pel_garbage_expected(size_t bytes);

/* Whether a collection would pay. */
int pel_garbage_due(void);

/* Starts a collection if one is due. It runs Ruby code, which may raise what an interrupt raises. */
void pel_garbage_collect(void);
