#pragma once

#include <sys/types.h>
#include <sys/uio.h>

/*
 * A carrier stands in for a stream's descriptor: it takes and gives the stream's bytes, as one of the streams of an
 * HTTP/2 connection does. The stream keeps its queue, its readiness and its flush once a tick.
 *
 * No event of the loop tells of it: its owner passes on by pel_stream_carried what has come, or can be sent again.
 */

struct pel_stream;
struct pel_carrier;

struct pel_carrier_type {
    /* Receives bytes; returns as pel__stream_receive does. Sets stream->readable as that does, too: while it is set,
     * bytes, the end or an error may be there. */
    ssize_t (*receive)(struct pel_stream *stream, void *bytes, size_t length);
    /* Takes bytes to send. Returns their number; PEL_EAGAIN, and stream->writable is not set any more; or PEL_ESYSTEM
     * after pel__stream_fail. */
    ssize_t (*send)(struct pel_stream *stream, struct iovec *parts, int count);
    /* This side sends no more than it has taken. Called once. */
    void (*shut)(struct pel_stream *stream);
    /* The stream is closed. With `unsent`, queued output was dropped: the peer should see no orderly end. */
    void (*close)(struct pel_stream *stream, int unsent);
    /* Frees the carrier, perhaps without close before: where its owner is gone, or belongs to the parent process. */
    void (*free)(struct pel_carrier *carrier);
};

/* The first field of whatever carries. */
struct pel_carrier {
    const struct pel_carrier_type *type;
};
