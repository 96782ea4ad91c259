#pragma once

#include <ruby.h>
#include "core/base/error.h"

extern VALUE pel_mPelton; /* the module Pelton */

/* Looks up Pelton::Error and its subclasses, which lib/pelton/error.rb defines. core/base/error.h has the table of
 * codes and classes. */

/* A new exception of the code's class. `context` begins the message and may be NULL. error_number is the errno for
 * PEL_ESYSTEM, 0 for other codes. */
VALUE pel_error_new(int code, int error_number, const char *context);

/* The same with the given text instead of the code's. */
VALUE pel_error_with_text(int code, const char *context, const char *text);

/* Raises the exception that pel_error_new makes. */
NORETURN(void pel_raise(int code, int error_number, const char *context));

extern VALUE pel_eError, pel_eClosedError, pel_eTimeoutError, pel_eCancelled, pel_eOverloadError, pel_eConnectionError;
