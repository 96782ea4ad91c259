#ifndef PEL_STREAM_READ_H
#define PEL_STREAM_READ_H

#include "stream_private.h"

/*
 * Reading in direct style. A read is tried at once; only one that must wait goes the slow way. There it waits for its
 * turn first: fibers that read one stream do so one after the other, each its whole operation. What was received for a
 * read that does not come to its end (by a timeout, for instance) is there for the next one.
 */

enum read_attempt {
    READ_DONE,
    READ_WAITS,  /* nothing can be received now */
    READ_YIELDS, /* its share of this turn is used up */
    READ_GROWS   /* more was received: try again */
};

struct read {
    struct stream *stream;
    enum read_attempt (*attempt)(struct read *read);
    VALUE timeout;
    VALUE result;                /* Qnil: none yet, or the end */
    VALUE separator;             /* of a line */
    size_t length;               /* at most, or exactly */
    size_t searched;             /* bytes of the input in which there is no separator */
    unsigned chomp : 1, own : 1; /* result is being filled with bytes received for this read alone */
    struct read_turn turn;
};

/* Attempts it until it is done. Its result. Raises, and may wait. */
VALUE pel_stream_read(struct read *read);

#endif
