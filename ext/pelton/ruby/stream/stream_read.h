#pragma once

#include "ruby/stream/stream_private.h"

/*
 * Reading in direct style. A read is attempted at once; only one that must wait enters the stream's read queue. Fibers
 * that read one stream do so one after the other, each its whole operation. If a read does not complete, for instance
 * because of a timeout, the bytes received for it are there for the next one.
 */

enum read_attempt {
    READ_DONE,
    READ_WAITS,  /* nothing can be received now */
    READ_YIELDS, /* the iteration's budget is exhausted */
    READ_AGAIN   /* more bytes were received: try again */
};

struct read {
    struct stream *stream;
    enum read_attempt (*attempt)(struct read *read);
    VALUE timeout;
    VALUE result;    /* Qnil: none yet, or the end */
    VALUE separator; /* of lines */
    size_t length;   /* the limit of bytes, or their exact number */
    size_t searched; /* leading bytes of the input that are known to contain no separator */
    unsigned chomp : 1;
    unsigned filling : 1;     /* result holds bytes that go back to the input if the read does not complete */
    struct read_waiter entry; /* in the stream's read queue */
};

/* Attempts the read until it is done, and returns its result. Raises, and may wait. */
VALUE pel_stream_read(struct read *read);
