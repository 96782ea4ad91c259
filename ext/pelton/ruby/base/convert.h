#pragma once

#include <ruby.h>
#include "core/base/slice.h"
#include "core/loop/loop.h"

/* Ruby's seconds as the loop's nanoseconds. Both functions raise TypeError, and ArgumentError for NaN. */

/* Returns 0 for a negative number, and half of PEL_FOREVER for a very large one. */
int64_t pel_nanoseconds(VALUE seconds);

/* The instant that lies so many seconds ahead on the monotonic clock; PEL_FOREVER for nil. */
static inline int64_t pel_deadline(VALUE seconds)
{
    return NIL_P(seconds) ? PEL_FOREVER : pel_now() + pel_nanoseconds(seconds);
}

/* The bytes of a String, valid as long as they are not changed. */
static inline struct pel_slice pel_string_slice(VALUE string)
{
    return (struct pel_slice){RSTRING_PTR(string), (size_t)RSTRING_LEN(string)};
}

/* A binary string of a slice's bytes, copied. */
static inline VALUE pel_slice_string(struct pel_slice slice)
{
    return rb_str_new(slice.bytes, (long)slice.length);
}
