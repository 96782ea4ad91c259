#include "ruby/base/convert.h"

#include <math.h>

#define LARGEST_SECONDS 4e9 /* 126 years */

int64_t pel_nanoseconds(VALUE seconds)
{
    double value = NUM2DBL(seconds);

    if (isnan(value))
        rb_raise(rb_eArgError, "seconds must be a number, not NaN");
    if (value <= 0)
        return 0;
    return value >= LARGEST_SECONDS ? PEL_FOREVER / 2 : (int64_t)(value * 1e9);
}
