#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include "core/loop/loop.h"
#include "core/stream/socket.h"
#include "core/stream/stream_io.h"

/*
 * A stream: one connected (or connecting) descriptor and its output. Reads and writes are tried at once; only those
 * that would block wait for the loop. A stream knows no protocol and no Ruby.
 *
 * The owner embeds the struct and sets on_ready, which notifies it of readiness. The owner reads, by
 * pel_stream_receive. Output is queued and sent when the owner or the loop flushes the stream; the rest is
 * sent automatically when the descriptor takes more.
 *
 * A carrier may stand in for the descriptor (carrier.h).
 */

/* Takes ownership of a connected non-blocking descriptor (pel_socket_prepare) and registers it. Returns 0, or
 * PEL_EMEMORY or PEL_ESYSTEM (errno EPERM: a file): then the caller still owns the descriptor. */
int pel_stream_open(struct pel_stream *stream, struct pel_loop *loop, int fd);

/* Opens a stream on a carrier, which belongs to the stream from now on. The descriptor, which is not the stream's, is
 * that of the connection: for its addresses. */
void pel_stream_open_carried(struct pel_stream *stream, struct pel_loop *loop, struct pel_carrier *carrier, int fd);

/* Passes on what the carrier has for the stream: PEL_READABLE, PEL_WRITABLE, PEL_HANGUP. Calls on_ready. */
void pel_stream_carried(struct pel_stream *stream, unsigned events);

/* Creates a socket and starts connecting it, from the local address unless that is NULL. Returns 0 if it is connected
 * or connecting (see the field), PEL_EMEMORY, or PEL_ESYSTEM with errno. */
int pel_stream_connect(struct pel_stream *stream, struct pel_loop *loop, const struct sockaddr *address,
                       socklen_t length, const struct sockaddr *local, socklen_t local_length);

/* Receives at most length bytes; length must not be 0. Returns their number, 0 at the end of file, PEL_EAGAIN,
 * PEL_ECLOSED, or PEL_ESYSTEM with stream->error set. */
ssize_t pel_stream_receive(struct pel_stream *stream, void *bytes, size_t length);

/* Copies bytes to the end of the output; sends nothing. Returns 0, PEL_EMEMORY, or PEL_ECLOSED after the write side was
 * shut. */
int pel_stream_append(struct pel_stream *stream, const void *bytes, size_t length);

/* Does the same without a copy: the owner must keep the bytes in place and unchanged until they are sent or the stream
 * is closed: then their entry is gone from stream->borrowed, and the lender, if not NULL, is told so. */
int pel_stream_append_borrowed(struct pel_stream *stream, const void *bytes, size_t length, uintptr_t owner,
                               struct pel_lender *lender);

/* Sends bytes at once and without a copy, unless other output is queued. Returns the number of bytes sent (fewer than
 * length when it would block), PEL_ECLOSED or PEL_ESYSTEM. The caller appends the rest, and passes at most a burst. */
ssize_t pel_stream_send_now(struct pel_stream *stream, const void *bytes, size_t length);

/* Shuts the write side once the output, and a layer's final message, is sent. Returns 0, PEL_ECLOSED or PEL_ESYSTEM. */
int pel_stream_close_write(struct pel_stream *stream);

/* Whether closing now may cost the peer bytes that were sent to it: the stream has a layer, its write side is shut, and
 * the peer has not acknowledged everything. Bytes that come for the layer after the close, such as TLS's session
 * tickets, would reset the connection. Discards what has come; 0 once the peer has ended or is gone. The caller asks
 * again from time to time, since no event tells of an acknowledgement. */
int pel_stream_lingers(struct pel_stream *stream);

/* Closes the stream at once and drops queued output. on_ready is not called any more. Does nothing if it is closed. */
void pel_stream_close(struct pel_stream *stream);

/* Frees the carrier, if there is one; closes the stream without telling the carrier, unless it is closed. */
void pel_stream_free_carrier(struct pel_stream *stream);

/* Closes the stream, but leaves its descriptor open and returns it to the caller. Drops queued output. Of a stream on a
 * carrier, pel_stream_close alone may call it. */
int pel_stream_detach(struct pel_stream *stream);

/* Move a stream's layer, which must be open, or NULL, to another stream: the caller takes the layer, detaches the
 * descriptor, opens it as the other stream, and gives the layer to that stream. In between the caller owns the layer
 * (pel_layer_drop). */
struct pel_layer *pel_stream_take_layer(struct pel_stream *stream);
void pel_stream_give_layer(struct pel_stream *stream, struct pel_layer *layer);

/* ---- flushing (flush.c) --------------------------------------------------------------------------------------- */

/* Sends queued output, at most a burst. Returns 0 when all of it is sent; 1 when the rest waits for an event, or, if
 * the stream is still writable, for the loop's next iteration; or PEL_ESYSTEM. */
int pel_stream_flush(struct pel_stream *stream);

/*
 * The loop keeps a list of the streams that have output, and flushes them together before it waits. An owner whose
 * output belongs to one peer alone flushes its stream earlier, when its job is done and no more of the peer's bytes are
 * at hand (docs/internals/adr/019): the peer then works while the owner's next job runs. A stream that many fibers
 * share keeps to one write a tick.
 */

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
