#ifndef PEL_RUBY_TLS_CONTEXT_H
#define PEL_RUBY_TLS_CONTEXT_H

#include <ruby.h>
#include "../core/tls_context.h"

/* The core's context of a Pelton::TLS::Context. It is the object's: retain it to keep it. Raises TypeError. */
struct pel_tls_context *pel_tls_context_get(VALUE self);

/* Pelton::TLS::Context, as far as C knows it. Nothing where OpenSSL is missing. */
void pel_init_tls_context(void);

#endif
