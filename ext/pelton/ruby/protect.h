#ifndef PEL_PROTECT_H
#define PEL_PROTECT_H

#include <ruby.h>

/*
 * The only place where a Ruby exception is stopped and started again. C frames below Ruby code bring their state in
 * order between the two.
 */

/* Runs function(argument). *state is 0, or the jump to pass to pel_rethrow; the value is Qnil then. */
VALUE pel_protect(VALUE (*function)(VALUE), VALUE argument, int *state);

/* Goes on with a jump that pel_protect stopped. */
NORETURN(void pel_rethrow(int state));

/* The exception that pel_protect stopped, taken out of the thread's state; Qnil when the jump carries none
 * (Thread#kill) and must be rethrown. */
VALUE pel_take_error(int state);

#endif
