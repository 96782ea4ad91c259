#ifndef PEL_DESCRIPTOR_H
#define PEL_DESCRIPTOR_H

#include "reactor.h"

/*
 * Waiting for descriptors that belong to others (any Ruby IO, a database driver's socket): they come and go without
 * notice, so each wait arms them anew, and nothing is concluded from a number alone.
 */

/* Parks or blocks until one of the events comes. Returns those that came, 0 when the deadline was first. Raises
 * SystemCallError (EBADF). A plain file is always ready. */
unsigned pel_descriptor_wait(struct pel_reactor *reactor, int fd, unsigned events, int64_t deadline);

/* One of several descriptors that a fiber waits for at once. */
struct pel_awaited {
    struct pel_waiter *waiter; /* this and the next two are this file's */
    struct pel_awaited *next;
    struct pel_descriptor *descriptor;
    int fd;
    unsigned events, told; /* what is waited for, what came */
};

/* Waits until at least one of count descriptors has one of its events, or the deadline. fd and events are set by the
 * caller, the rest is zero; told is set for those that are ready. Returns 0, or a state for pel_rethrow after the
 * caller has freed the array. */
int pel_descriptors_wait(struct pel_reactor *reactor, struct pel_awaited *awaited, int count, int64_t deadline);

/* Wakes everyone who waits for a descriptor that is about to be closed: their next system call meets the error. Returns
 * how many there were. */
unsigned pel_descriptor_forget(struct pel_reactor *reactor, int fd);

void pel_descriptors_free(struct pel_reactor *reactor);

#endif
