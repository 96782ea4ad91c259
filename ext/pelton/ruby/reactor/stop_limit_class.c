#include "core/loop/stop_limit.h"

#include "core/base/error.h"
#include "ruby/base/convert.h"
#include "ruby/reactor/reactor.h"

/* Pelton::StopLimit, for core/loop/stop_limit.c. */

#define MOST_SIGNALS 16

/* _set(seconds, numbers of signals) */
static VALUE stop_limit_s_set(VALUE module, VALUE seconds, VALUE signals)
{
    int64_t nanoseconds = pel_nanoseconds(seconds);
    int numbers[MOST_SIGNALS];
    size_t count;

    Check_Type(signals, T_ARRAY);
    count = (size_t)RARRAY_LEN(signals);
    if (count > MOST_SIGNALS)
        rb_raise(rb_eArgError, "%d signals at most", MOST_SIGNALS);
    for (size_t i = 0; i < count; i++)
        numbers[i] = NUM2INT(rb_ary_entry(signals, (long)i));
    return pel_stop_limit(nanoseconds, numbers, count) ? Qfalse : Qtrue;
}

void pel_init_stop_limit(void)
{
    rb_define_singleton_method(rb_define_module_under(pel_mPelton, "StopLimit"), "_set", stop_limit_s_set, 2);
}
