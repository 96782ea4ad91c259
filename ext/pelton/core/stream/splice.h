#pragma once

#include "core/stream/stream.h"

/*
 * Moves bytes from one stream to another through a pipe, without copying them into the process. The caller owns the
 * struct and zeroes it. The pipe is opened on first use, is empty between calls, and can serve any number of streams.
 */
struct pel_splice {
    int fds[2];
    unsigned open : 1;
};

/* Moves the bytes that are available to receive, at most length. Bytes that the target does not take at once are queued
 * there. Returns the number of bytes moved; 0 when none can be moved now (output is queued or corked, a stream has a
 * layer, SIGPIPE would end the process, or the system does not support it): the caller then receives and appends, which
 * also detects the end or an error. If the target fails, the next pel_streams_flush notifies its owner. */
size_t pel_splice_move(struct pel_splice *splice, struct pel_stream *from, struct pel_stream *to, size_t length);

/* Closes the pipe. Does nothing if it is not open. */
void pel_splice_close(struct pel_splice *splice);
