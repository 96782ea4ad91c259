#include <ruby.h>

#include "ruby/base/gvl.h"

/* Pelton::HugePages, for core/base/huge_pages.c. */

/* _join: returns the number of huge pages. */
static VALUE huge_pages_s_join(VALUE module)
{
    return SIZET2NUM(pel_gvl_join_huge_pages());
}

void pel_init_huge_pages(void)
{
    rb_define_singleton_method(rb_define_module_under(rb_define_module("Pelton"), "HugePages"), "_join",
                               huge_pages_s_join, 0);
}
