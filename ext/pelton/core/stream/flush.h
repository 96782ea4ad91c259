#ifndef PELTON_CORE_STREAM_FLUSH_H
#define PELTON_CORE_STREAM_FLUSH_H

/*
 * The loop keeps a list of the streams that have output, and flushes them together before it waits. An owner whose
 * output belongs to one peer alone flushes its stream earlier, when its job is done and no more of the peer's bytes are
 * at hand (docs/internals/adr/019): the peer then works while the owner's next job runs. A stream that many fibers
 * share keeps to one write a tick.
 */

struct pel_loop;
struct pel_stream;

/* Schedules the stream for the next pel_streams_flush. */
void pel_stream_flush_later(struct pel_stream *stream);

/* Cancels that. Does nothing for a stream that is not scheduled. */
void pel_stream_flush_cancel(struct pel_stream *stream);

/* Does now what the next pel_streams_flush would do for this stream. Does nothing for a stream that is not scheduled.
 * The caller keeps the stream's memory: on_ready may close the stream. */
void pel_stream_flush_scheduled(struct pel_stream *stream);

/* Flushes the scheduled streams; a stream with more output than a burst is scheduled again. Calls on_ready of the
 * streams that failed, and of those with notify_sent whose output shrank. */
void pel_streams_flush(struct pel_loop *loop);

/* Flushes now, and schedules the stream again if a burst did not send everything. Returns as pel_stream_flush does. */
int pel__stream_flush_or_reschedule(struct pel_stream *stream);

#endif
