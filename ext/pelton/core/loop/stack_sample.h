#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Samples another thread's stack, whatever that thread does: it sends a signal whose handler takes the sample on that
 * thread.
 *
 * The signal is SIGURG: it is ignored by default, debuggers pass it on silently, and it has no meaning unless a program
 * requests one. A handler that was installed before is called for signals that are not ours; if a program installs
 * another handler later, no samples can be taken. A blocking system call of the thread may fail with EINTR, as with any
 * signal.
 */

#define PEL_STACK_SAMPLE_SIZE 8192

/* Writes the calling thread's stack into the buffer and returns the number of bytes. Runs in a signal handler. It may
 * return 0 to postpone the sample, unless `last` is set: it is called again after a millisecond, a few times. */
typedef size_t pel_stack_sampler(char *buffer, size_t size, int last);

struct pel_stack_sample {
    uint64_t counter; /* the value of the thread's counter when the sample was taken */
    size_t length;
    char text[PEL_STACK_SAMPLE_SIZE];
};

/* Installs the signal handler. Call it once, before the first sample. */
void pel_stack_sample_prepare(void);

/* Drops a pending request in a child after a fork: the thread that was to be sampled exists only in the parent. */
void pel_stack_sample_reset(void);

/* Samples a living thread and waits a quarter of a second at most. Callers must not overlap. Returns NULL if the thread
 * does not respond. The sample is valid until the next call. */
const struct pel_stack_sample *pel_stack_sample_take(pthread_t thread, pel_stack_sampler *sampler,
                                                     const uint64_t *counter);
