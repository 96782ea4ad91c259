#ifndef PELTON_RUBY_BASE_SLICE_STRING_H
#define PELTON_RUBY_BASE_SLICE_STRING_H

#include <ruby.h>
#include "core/base/slice.h"

/* A binary string of a slice's bytes, copied. */
static inline VALUE pel_slice_string(struct pel_slice slice)
{
    return rb_str_new(slice.bytes, (long)slice.length);
}

#endif
