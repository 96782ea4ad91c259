#ifndef PEL_RUBY_ERROR_H
#define PEL_RUBY_ERROR_H

#include <ruby.h>
#include "../core/error.h"

/* Pelton::Error and its classes, from the table in core/error.h. */
void pel_init_error(void);

/* A new exception of the code's class. `what` begins the message and may be NULL; for PEL_ESYSTEM pass the errno. */
VALUE pel_error_new(int code, int error_number, const char *what);

/* The same with a text of its own. */
VALUE pel_error_with_text(int code, const char *what, const char *text);

/* Raises it. */
NORETURN(void pel_raise(int code, int error_number, const char *what));

extern VALUE pel_eError, pel_eClosedError, pel_eTimeoutError, pel_eCancelled, pel_eOverloadError, pel_eConnectionError;

#endif
