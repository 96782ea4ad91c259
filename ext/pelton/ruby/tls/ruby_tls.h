#pragma once

#include <ruby.h>
#include "core/tls/context.h"
#include "core/tls/tls.h"
#include "ruby/stream/stream_private.h"

/* The core context of a Pelton::TLS::Context, which owns it: retain it to keep it. Raises TypeError. */
struct pel_tls_context *pel_tls_context_get(VALUE self);

/* The C string of a String; NULL for nil. Raises ArgumentError for a String with a NUL. */
static inline const char *pel_tls_optional_text(VALUE string)
{
    return NIL_P(string) ? NULL : StringValueCStr(string);
}

/* The TLS state of a stream that has TLS or had it. Only for this room's files, where OpenSSL is present. */
struct stream_tls {
    struct pel_tls_failure failure;
    VALUE verify, choose;            /* the user's blocks, or nil */
    VALUE choice;                    /* the last TLS::Choice that `choose` has made, or nil */
    int state;                       /* of the exception or throw that left a block; 0: none */
    struct pel_waiter *waiter;       /* direct style: the fiber that performs the handshake */
    struct pel_operation *operation; /* callback style: settled when jobs have performed the handshake */
    struct pel_reactor_timer timer;  /* callback style: the handshake's deadline */
    struct stream *stream;           /* the owner */
    unsigned queued : 1;             /* a job is queued */
    unsigned stepping : 1;           /* pel_tls_handshake is on a stack */
};

/* The hooks of a core handshake, which call the user's blocks if there are any. The first block that raises or throws
 * leaves its state in tls->state, and no block is called after it. */
struct pel_tls_hooks pel_tls_handshake_hooks(const struct stream_tls *tls);
