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
    /* The record of a throw has no class, which rb_obj_is_kind_of would look at. */
    if (RB_TYPE_P(error, T_IMEMO) || !rb_obj_is_kind_of(error, rb_eException))
        return Qnil;
    rb_set_errinfo(Qnil);
    return error;
}
