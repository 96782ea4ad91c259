#ifndef PEL_RUBY_SLICE_STRING_H
#define PEL_RUBY_SLICE_STRING_H

#include <ruby.h>
#include "../core/slice.h"

/* A binary string of a slice's bytes, copied. */
static inline VALUE pel_slice_string(struct pel_slice slice)
{
    return rb_str_new(slice.bytes, (long)slice.length);
}

#endif
