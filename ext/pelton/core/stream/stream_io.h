#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include "core/base/buffer.h"
#include "core/base/link.h"
#include "core/loop/loop.h"
#include "core/stream/borrowed.h"
#include "core/stream/carrier.h"
#include "core/stream/layer.h"

/* A stream's struct, what its fields say of its state, and its descriptor's bytes, below any layer. Owners include
 * stream.h. */

/* The most bytes that one stream sends before other streams are flushed. */
#define PEL_STREAM_BURST (1024 * 1024)

struct pel_stream {
    struct pel_handle handle; /* first: the loop's callback casts it back */
    struct pel_loop *loop;
    struct pel_buffer output;
    struct pel_borrowed_list borrowed; /* interleaved with the output */
    struct pel_layer *layer;           /* such as TLS, or NULL: bytes pass unchanged. Freed when the stream is closed */
    struct pel_carrier *carrier;       /* in place of the descriptor, which is another's then; or NULL */
    unsigned connecting : 1;
    unsigned readable : 1;       /* a read may succeed: no EAGAIN since the last event */
    unsigned writable : 1;       /* a write may succeed: no EAGAIN since the last event */
    unsigned hangup : 1;         /* the end or an error follows the bytes that can be read */
    unsigned urgent : 1;         /* a read may stop before an urgent byte, with more bytes after it */
    unsigned end_of_file : 1;    /* the peer has ended its output, and all of it was received */
    unsigned shut_when_sent : 1; /* half-close once the output is sent */
    unsigned write_shut : 1;
    unsigned corked : 1;        /* set by the owner: nothing is sent until the owner clears it and flushes */
    unsigned plain : 1;         /* no socket: a pipe, a terminal */
    unsigned notify_sent : 1;   /* set by the owner: call on_ready whenever output was sent */
    int error;                  /* errno of the failure, or 0. Bytes that the peer sent before can still be received */
    int64_t active_at;          /* the loop's time when bytes were last received or sent, or the stream was opened */
    struct pel_link flush_link; /* on one of the loop's lists of streams to flush, or on none */
    /* Called by pel_loop_dispatch and pel_streams_flush. PEL_READABLE: receive may return data, the end, or an error.
     * PEL_WRITABLE: connecting has succeeded or failed, or output was sent. May close the stream. */
    void (*on_ready)(struct pel_stream *stream, unsigned events);
    /* Called before scheduled output is flushed, or NULL: appends what is to be sent with it. */
    void (*on_flush)(struct pel_stream *stream);
};

/* The number of plain bytes that are queued and not sent. */
static inline size_t pel_stream_pending(const struct pel_stream *stream)
{
    return pel_buffer_length(&stream->output) + stream->borrowed.length +
           (stream->layer ? stream->layer->plain_pending : 0);
}

/* Whether any bytes remain to be sent, including bytes that the layer itself produced. */
static inline int pel_stream_unsent_p(const struct pel_stream *stream)
{
    return pel_stream_pending(stream) || (stream->layer && pel_buffer_length(&stream->layer->sealed));
}

/* Whether a layer's handshake is not finished. */
static inline int pel_stream_securing_p(const struct pel_stream *stream)
{
    return stream->layer && !stream->layer->open;
}

/* Whether pel_stream_receive may return bytes, the end, or an error. */
static inline int pel_stream_receivable_p(const struct pel_stream *stream)
{
    return (stream->readable && !pel_stream_securing_p(stream)) || stream->end_of_file || stream->error;
}

static inline int pel_stream_open_p(const struct pel_stream *stream)
{
    return stream->handle.fd >= 0;
}

/* ---- the descriptor's bytes ----------------------------------------------------------------------------------- */

/* Receives from the descriptor; returns as pel_stream_receive does, but does not record the end of file. */
ssize_t pel__stream_receive(struct pel_stream *stream, void *bytes, size_t length);

/* Sends to the descriptor, once. Returns the number of bytes that were sent, PEL_EAGAIN or PEL_ESYSTEM. */
ssize_t pel__stream_send(struct pel_stream *stream, struct iovec *parts, int count);

/* Ends this side's output. */
void pel__stream_shut(struct pel_stream *stream);

/* Sends at most length bytes of a file, from *offset on, which moves along. The caller has found no layer and nothing
 * queued. Returns the number of bytes sent (0: the file is shorter), PEL_EAGAIN, or PEL_ESYSTEM with errno: EINVAL and
 * ENOSYS mean that the caller must write the bytes. */
ssize_t pel_stream_send_file(struct pel_stream *stream, int file, off_t *offset, size_t length);

/* Fails the stream with an errno, unless it has failed before. Returns PEL_ESYSTEM. */
int pel__stream_fail(struct pel_stream *stream, int error);
