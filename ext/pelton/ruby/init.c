/* The table of contents: one line per class. */
#include <ruby.h>

RUBY_FUNC_EXPORTED void Init_pelton(void);

void Init_pelton(void)
{
    rb_define_module("Pelton");
}
