#include "ruby/base/upcall.h"

#include "ruby/base/exception.h"

static const char *const names[] = {
#define NAME(name) #name,
    PEL_UPCALLS(NAME)
#undef NAME
};

int pel_observed[PEL_EVENT_COUNT];

static struct {
    VALUE receiver; /* Qundef: the first argument */
    ID method;
} upcalls[PEL_UPCALL_COUNT];

ID pel_upcall_id(enum pel_upcall which)
{
    if (!upcalls[which].method)
        rb_raise(pel_eError, "%s was not registered: the file that defines it is not loaded", names[which]);
    return upcalls[which].method;
}

VALUE pel_upcallv(enum pel_upcall which, int argc, const VALUE *argv)
{
    ID method = pel_upcall_id(which);

    if (upcalls[which].receiver == Qundef)
        return rb_funcallv(argv[0], method, argc - 1, argv + 1);
    return rb_funcallv(upcalls[which].receiver, method, argc, argv);
}

static int register_method(VALUE name, VALUE method, VALUE bound)
{
    ID id = rb_sym2id(name);

    for (int i = 0; i < PEL_UPCALL_COUNT; i++) {
        if (rb_intern(names[i]) != id)
            continue;
        upcalls[i].receiver = Qundef;
        if (RTEST(rb_obj_is_kind_of(method, bound))) {
            upcalls[i].receiver = rb_funcall(method, rb_intern("receiver"), 0);
            rb_gc_register_mark_object(upcalls[i].receiver);
        }
        upcalls[i].method = rb_sym2id(rb_funcall(method, rb_intern("name"), 0));
        return ST_CONTINUE;
    }
    rb_raise(rb_eArgError, "C calls no %" PRIsVALUE, name);
}

/* register_upcalls(name: Method or UnboundMethod, ...) */
static VALUE pelton_s_upcalls(VALUE self, VALUE methods)
{
    rb_hash_foreach(methods, register_method, rb_cMethod);
    return self;
}

/* _observe(name, yes): whether somebody subscribes to the events of this name. */
static VALUE pelton_s_observe(VALUE self, VALUE name, VALUE yes)
{
#define SWITCH(event)                                                                                                  \
    if (rb_sym2id(name) == rb_intern(#event))                                                                          \
        pel_observed[PEL_EVENT_##event] = RTEST(yes);
    PEL_EVENTS(SWITCH)
#undef SWITCH
    return self;
}

void pel_init_upcall(void)
{
    rb_define_singleton_method(pel_mPelton, "_observe", pelton_s_observe, 2);
    rb_define_singleton_method(pel_mPelton, "register_upcalls", pelton_s_upcalls, 1);
}
