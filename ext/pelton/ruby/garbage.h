#ifndef PEL_GARBAGE_H
#define PEL_GARBAGE_H

#include <stddef.h>

/*
 * Fresh strings are the cost of receiving much: Ruby lets 16 to 32 MB of them gather before it collects, so that each
 * piece lies in memory which the kernel must first map and clear. A small collection every 2 MB finds the same memory
 * again, and halves the whole. It is done only as often as it was measured to pay.
 */

/* So many bytes were given to the user in a large string, and will be garbage soon. May collect. Call it when the next
 * string was made: it lies above the garbage, and keeps malloc from returning that memory to the kernel. */
void pel_garbage_made(size_t bytes);

#endif
