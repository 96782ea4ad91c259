#ifndef PEL_WHEREABOUTS_H
#define PEL_WHEREABOUTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Asks a thread where it stands, whatever it does: by a signal, whose handler answers on that thread.
 *
 * The signal is SIGURG: ignored by default, passed on silently by debuggers, and free of any meaning unless a program
 * asks for it. A handler that was there before is called for what is not ours; when another one comes later, there are
 * no answers. A system call that the thread stands in may end with EINTR, as with any signal.
 */

#define PEL_WHEREABOUTS_SIZE 8192

/* Writes where the calling thread stands and returns the number of bytes. Runs in a signal handler. 0: this is no good
 * moment; it is asked a few times, a millisecond apart, until `last`. */
typedef size_t pel_whereabouts(char *buffer, size_t size, int last);

struct pel_answer {
    uint64_t count; /* what the thread's counter was when it answered */
    size_t length;
    char text[PEL_WHEREABOUTS_SIZE];
};

/* Installs the handler. Call it once, before the first question. */
void pel_whereabouts_prepare(void);

/* In a child after a fork: whoever was asked exists in the parent alone. */
void pel_whereabouts_forget(void);

/* Asks a living thread, and waits for its answer: a quarter of a second at most. One question at a time. NULL when
 * there is none. It is valid until the next question. */
const struct pel_answer *pel_whereabouts_ask(pthread_t thread, pel_whereabouts *tell, const uint64_t *counter);

#endif
