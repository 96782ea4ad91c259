#ifndef PELTON_RUBY_TLS_CONTEXT_H
#define PELTON_RUBY_TLS_CONTEXT_H

#include <ruby.h>
#include "core/tls/context.h"
#include "ruby/tls/tls.h"

/* The core context of a Pelton::TLS::Context, which owns it: retain it to keep it. Raises TypeError. */
struct pel_tls_context *pel_tls_context_get(VALUE self);

/* The C string of a String; NULL for nil. Raises ArgumentError for a String with a NUL. */
static inline const char *pel_tls_optional_text(VALUE string)
{
    return NIL_P(string) ? NULL : StringValueCStr(string);
}

#endif
