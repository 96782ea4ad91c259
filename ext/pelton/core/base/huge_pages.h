#pragma once

#include <stddef.h>

/*
 * Huge pages: the memory of a large program is spread over tens of thousands of pages of 4 KB, and the processor knows
 * the places of a few thousand at a time. Joined into pages of 2 MB, the same memory needs five hundred times fewer.
 */

/*
 * Joins this process's small pages, where Linux 6.1 or later can and its administrator has not forbidden huge pages.
 * Only private memory that is nearly all in use is joined, so it grows by a seventh at most. Memory that is
 * shared with a process since a fork is copied. Takes some 3 ms for each new huge page, in which other threads go on.
 * Returns the number of huge pages of which the process's own memory consists now, as far as they could be joined.
 */
size_t pel_huge_pages_join(void);
