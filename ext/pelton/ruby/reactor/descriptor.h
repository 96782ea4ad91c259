#pragma once

#include <ruby.h>
#include <stdint.h>

/*
 * Waiting for descriptors that the reactor does not own, such as any Ruby IO or a database driver's socket. Their
 * owners open and close them without notice, so each wait arms them anew: the same number may be another file by now.
 * Include reactor.h.
 */

struct pel_reactor;
struct pel_waiter;

struct pel_descriptors {
    struct pel_descriptor **by_number; /* those that fibers have waited for */
    int capacity;
};

/* One of several descriptors that a fiber waits for at once. */
struct pel_awaited {
    struct pel_waiter *waiter; /* this field and the next two belong to descriptor.c */
    struct pel_awaited *next;
    struct pel_descriptor *descriptor;
    VALUE io; /* the IO that the descriptor belongs to, or Qfalse: unknown */
    int fd;
    unsigned events, ready; /* the awaited events, those that came */
};

/* ---- the table of descriptors (descriptor.c) ------------------------------------------------------------------- */

/* Links a waiter that is about to park to its descriptor, and arms that. `ready` is set when there is nothing to wait
 * for. Returns 0, or a state: EBADF, a closed IO. */
int pel_descriptor_arm(struct pel_reactor *reactor, struct pel_waiter *waiter, struct pel_awaited *awaited);

/* After the wait. No-op when it was never linked. */
void pel_descriptor_unlink(struct pel_awaited *awaited);

/* Wakes all fibers that wait for a descriptor which is about to be closed: their next system call meets the error.
 * Returns their number. */
unsigned pel_descriptor_forget(struct pel_reactor *reactor, int fd);

/* Wakes all fibers that wait for a descriptor whose IO is closed or being closed by Ruby. Returns 0, or the state of an
 * interrupt. */
int pel_descriptors_forget_closed(struct pel_reactor *reactor);

void pel_descriptors_free(struct pel_reactor *reactor);

/* ---- waiting (descriptor_wait.c) ------------------------------------------------------------------------------- */

/* Parks or blocks until one of the events comes to the IO's descriptor. Returns the events that came, 0 when the
 * deadline came first. Raises SystemCallError (EBADF). A plain file is always ready. */
unsigned pel_descriptor_wait(struct pel_reactor *reactor, VALUE io, int fd, unsigned events, int64_t deadline);

/* Waits until at least one of count descriptors has one of its events, or the deadline comes. The caller sets fd and
 * events, and zeroes the rest; ready is set for the descriptors that are ready. Returns 0, or a state for pel_rethrow
 * after the caller has freed the array. */
int pel_descriptors_wait(struct pel_reactor *reactor, struct pel_awaited *awaited, int count, int64_t deadline);
