#include "ruby/base/exception.h"

#include <string.h>

VALUE pel_eError, pel_eClosedError, pel_eTimeoutError, pel_eCancelled, pel_eOverloadError, pel_eConnectionError;
VALUE pel_mPelton;

static VALUE error_class(int code)
{
    const char *name = "Error";

    switch (code) {
#define CLASS_NAME(symbol, number, ruby_class, retriable, text)                                                        \
    case PEL_E##symbol:                                                                                                \
        name = ruby_class;                                                                                             \
        break;
        PEL_ERRORS(CLASS_NAME)
    default:
        break;
    }
    return rb_const_get(pel_mPelton, rb_intern(name));
}

VALUE pel_error_new(int code, int error_number, const char *context)
{
    const char *text = error_number ? strerror(error_number) : pel_error_text(code);
    VALUE error =
        rb_exc_new_str(error_class(code), context ? rb_sprintf("%s: %s", context, text) : rb_str_new_cstr(text));

    if (error_number)
        rb_iv_set(error, "@errno", INT2FIX(error_number));
    return error;
}

VALUE pel_error_with_text(int code, const char *context, const char *text)
{
    return rb_exc_new_str(error_class(code), rb_sprintf("%s: %s", context, text));
}

void pel_raise(int code, int error_number, const char *context)
{
    rb_exc_raise(pel_error_new(code, error_number, context));
}

/* Ruby code defines the class, C keeps its address: compaction must not move it. */
static VALUE find_class(const char *name)
{
    VALUE class = rb_const_get(pel_mPelton, rb_intern(name));

    rb_gc_register_mark_object(class);
    return class;
}

void pel_init_error(void)
{
    pel_mPelton = rb_define_module("Pelton");
    pel_eError = find_class("Error");
    pel_eConnectionError = find_class("ConnectionError");
    pel_eClosedError = find_class("ClosedError");
    pel_eTimeoutError = find_class("TimeoutError");
    pel_eOverloadError = find_class("OverloadError");
    pel_eCancelled = find_class("Cancelled");
}
