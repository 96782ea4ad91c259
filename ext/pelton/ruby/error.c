#include "error.h"

#include <string.h>

VALUE pel_eError, pel_eClosedError, pel_eTimeoutError, pel_eCancelled, pel_eOverloadError, pel_eConnectionError;
static VALUE module;

static VALUE class_of(int code)
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
    return rb_const_get(module, rb_intern(name));
}

VALUE pel_error_new(int code, int error_number, const char *what)
{
    const char *text = error_number ? strerror(error_number) : pel_error_text(code);
    VALUE error = rb_exc_new_str(class_of(code), what ? rb_sprintf("%s: %s", what, text) : rb_str_new_cstr(text));

    if (error_number)
        rb_iv_set(error, "@errno", INT2FIX(error_number));
    return error;
}

VALUE pel_error_with_text(int code, const char *what, const char *text)
{
    return rb_exc_new_str(class_of(code), rb_sprintf("%s: %s", what, text));
}

void pel_raise(int code, int error_number, const char *what)
{
    rb_exc_raise(pel_error_new(code, error_number, what));
}

/* Defined in Ruby, kept by C: compaction must not move it. */
static VALUE find(const char *name)
{
    VALUE class = rb_const_get(module, rb_intern(name));

    rb_gc_register_mark_object(class);
    return class;
}

void pel_init_error(void)
{
    module = rb_define_module("Pelton");
    pel_eError = find("Error");
    pel_eConnectionError = find("ConnectionError");
    pel_eClosedError = find("ClosedError");
    pel_eTimeoutError = find("TimeoutError");
    pel_eOverloadError = find("OverloadError");
    pel_eCancelled = find("Cancelled");
}
