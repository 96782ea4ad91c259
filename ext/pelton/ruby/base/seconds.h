#ifndef PELTON_RUBY_BASE_SECONDS_H
#define PELTON_RUBY_BASE_SECONDS_H

#include <ruby.h>
#include "core/loop/loop.h"

/* Ruby's seconds as the loop's nanoseconds. Both functions raise TypeError, and ArgumentError for NaN. */

/* Returns 0 for a negative number, and half of PEL_FOREVER for a very large one. */
int64_t pel_nanoseconds(VALUE seconds);

/* The instant that lies so many seconds ahead on the monotonic clock; PEL_FOREVER for nil. */
static inline int64_t pel_deadline(VALUE seconds)
{
    return NIL_P(seconds) ? PEL_FOREVER : pel_now() + pel_nanoseconds(seconds);
}

#endif
