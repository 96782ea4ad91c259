#pragma once

#include <ruby.h>

/*
 * These functions alone stop a Ruby exception and let it continue. Between the two, C code puts its own state in order.
 */

/* Calls function(argument) and returns its value. *state is 0; or a jump was stopped: the value is Qnil, and *state
 * must be passed to pel_rethrow or pel_take_error. */
VALUE pel_protect(VALUE (*function)(VALUE), VALUE argument, int *state);

/* rb_raise, rb_memerror and rb_thread_check_ints, stopped: each returns the state. */
int pel_protected_raise(VALUE class, const char *text);
int pel_protected_memerror(void);
int pel_protected_check_ints(void);

/* Continues a jump that pel_protect stopped. */
NORETURN(void pel_rethrow(int state));

/* Returns the exception that pel_protect stopped, and clears $!. Returns Qnil when the jump carries no exception
 * (Thread#kill, throw): the caller must rethrow it. */
VALUE pel_take_error(int state);
