#include "ruby/base/protect.h"

VALUE pel_protect(VALUE (*function)(VALUE), VALUE argument, int *state)
{
    return rb_protect(function, argument, state);
}

static int stopped(VALUE (*function)(VALUE), VALUE argument)
{
    int state;

    rb_protect(function, argument, &state);
    return state;
}

struct raising {
    VALUE class;
    const char *text;
};

static VALUE raise_text(VALUE argument)
{
    const struct raising *raising = (const struct raising *)argument;

    rb_raise(raising->class, "%s", raising->text);
}

int pel_protected_raise(VALUE class, const char *text)
{
    struct raising raising = {class, text};

    return stopped(raise_text, (VALUE)&raising);
}

static VALUE raise_memerror(VALUE nothing)
{
    rb_memerror();
    return nothing;
}

int pel_protected_memerror(void)
{
    return stopped(raise_memerror, Qnil);
}

static VALUE check_ints(VALUE nothing)
{
    rb_thread_check_ints();
    return nothing;
}

int pel_protected_check_ints(void)
{
    return stopped(check_ints, Qnil);
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
