#include <ruby.h>

#include "core/base/shared_counters.h"
#include "ruby/base/convert.h"

/* The memory belongs to all processes: it is not counted as this one's. */
static const rb_data_type_t shared_counters_type = {.wrap_struct_name = "Pelton::SharedCounters",
                                                    .function = {.dfree = (void (*)(void *))pel_shared_counters_free},
                                                    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static VALUE shared_counters_allocate(VALUE class)
{
    return TypedData_Wrap_Struct(class, &shared_counters_type, NULL);
}

static struct pel_shared_counters *get(VALUE self)
{
    struct pel_shared_counters *counters = rb_check_typeddata(self, &shared_counters_type);

    if (!counters)
        rb_raise(rb_eTypeError, "these counters were never made: initialize was not called");
    return counters;
}

/* _make(most) */
static VALUE shared_counters_make(VALUE self, VALUE most)
{
    struct pel_shared_counters *counters;
    long number = NUM2LONG(most);

    if (rb_check_typeddata(self, &shared_counters_type))
        rb_raise(rb_eFrozenError, "these counters are made already");
    if (number < 1)
        rb_raise(rb_eArgError, "most: must be 1 or more, not %ld", number);
    counters = pel_shared_counters_new((size_t)number);
    if (!counters)
        rb_memerror();
    DATA_PTR(self) = counters;
    return self;
}

/* _add(name, amount, now, ttl): both times in milliseconds. */
static VALUE shared_counters_add(VALUE self, VALUE name, VALUE amount, VALUE now, VALUE ttl)
{
    struct pel_shared_counters *counters = get(self);
    uint32_t count, added = NUM2UINT(amount);
    uint64_t at = NUM2ULL(now), lasts = NUM2ULL(ttl);

    Check_Type(name, T_STRING);
    count = pel_shared_counters_add(counters, pel_string_slice(name), added, at, lasts);
    RB_GC_GUARD(name);
    return UINT2NUM(count);
}

/* _live(now) */
static VALUE shared_counters_live(VALUE self, VALUE now)
{
    return SIZET2NUM(pel_shared_counters_live(get(self), NUM2ULL(now)));
}

static VALUE shared_counters_clear(VALUE self)
{
    pel_shared_counters_clear(get(self));
    return Qnil;
}

void pel_init_shared_counters(void)
{
    VALUE class = rb_define_class_under(rb_define_module("Pelton"), "SharedCounters", rb_cObject);

    rb_define_alloc_func(class, shared_counters_allocate);
    rb_define_private_method(class, "_make", shared_counters_make, 1);
    rb_define_private_method(class, "_add", shared_counters_add, 4);
    rb_define_private_method(class, "_live", shared_counters_live, 1);
    rb_define_method(class, "clear", shared_counters_clear, 0);
}
