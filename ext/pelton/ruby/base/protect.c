#include "ruby/base/protect.h"

VALUE pel_protect(VALUE (*function)(VALUE), VALUE argument, int *state)
{
    return rb_protect(function, argument, state);
}

void pel_rethrow(int state)
{
    rb_jump_tag(state);
}

VALUE pel_take_error(int state)
{
    VALUE error = rb_errinfo();

    (void)state;
    if (!rb_obj_is_kind_of(error, rb_eException))
        return Qnil;
    rb_set_errinfo(Qnil);
    return error;
}
