#ifndef PEL_SPLICE_H
#define PEL_SPLICE_H

#include "stream.h"

/*
 * Bytes that go from one stream to another without being copied into the process, through a pipe. It is the owner's,
 * zeroed at first, opened when it is needed, empty between calls, and serves any number of streams.
 */
struct pel_splice {
    int fds[2];
    unsigned open : 1;
};

/* Moves what is there to receive, at most length bytes. What the target does not take at once is queued there. Returns
 * the number of bytes; 0 when none can be moved now (something is queued, corked or sealed, SIGPIPE would end the
 * process, or the system cannot do it): then receive and append, which also meets the end or the error. When the target
 * failed, its owner is told by the next pel_streams_flush. */
size_t pel_splice_move(struct pel_splice *splice, struct pel_stream *from, struct pel_stream *to, size_t length);

/* Legal when it is not open. */
void pel_splice_close(struct pel_splice *splice);

#endif
