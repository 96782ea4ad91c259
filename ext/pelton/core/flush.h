#ifndef PEL_FLUSH_H
#define PEL_FLUSH_H

/*
 * One write a tick: the loop lists the streams that have something to send, and flushes them together before it waits.
 */

struct pel_loop;
struct pel_stream;

/* Has the output sent by the next pel_streams_flush. */
void pel_stream_flush_later(struct pel_stream *stream);

/* Takes that back. Legal when it is on no list. */
void pel_stream_flush_forget(struct pel_stream *stream);

/* Flushes the streams of which that was asked; those with more than a burst are listed again. Calls on_ready of those
 * that failed, and of those that want to be told. */
void pel_streams_flush(struct pel_loop *loop);

/* Takes all streams off the loop's lists. */
void pel_streams_forget(struct pel_loop *loop);

/* Flushes now, and, after a burst, again in the loop's next turn. As pel_stream_flush. */
int pel__stream_flush_on(struct pel_stream *stream);

#endif
