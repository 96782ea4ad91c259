#ifndef PEL_STREAM_H
#define PEL_STREAM_H

#include <sys/socket.h>
#include <sys/types.h>
#include "buffer.h"
#include "flush.h"
#include "layer.h"
#include "loan.h"
#include "loop.h"
#include "socket.h"

/*
 * A stream: one connected (or connecting) descriptor and its output. It is ready first: reads and writes are tried at
 * once, and only what would block is left to the loop. It knows no protocol and no Ruby.
 *
 * The owner embeds the struct, sets on_ready, and is told there about readiness. Reading is the owner's to do, by
 * pel_stream_receive. Output gathers; it is sent when the loop's streams are flushed, once a tick, and goes on by
 * itself when the descriptor takes more.
 */

/* Bytes that one stream sends in one go: then it is the others' turn. */
#define PEL_STREAM_BURST (1024 * 1024)

struct pel_stream {
    struct pel_handle handle; /* first: the loop's callback casts it back */
    struct pel_loop *loop;
    struct pel_buffer output;
    struct pel_loans loans;  /* among the output */
    struct pel_layer *layer; /* such as TLS, or NULL: bytes pass as they are. It is freed with the stream's closing */
    unsigned connecting : 1;
    unsigned readable : 1;       /* a read may bring something: EAGAIN has not been met since the last event */
    unsigned writable : 1;       /* a write may take something */
    unsigned hangup : 1;         /* the end, or an error, stands behind what is there to read */
    unsigned urgent : 1;         /* a read may stop before an urgent byte, and there is more behind it */
    unsigned end_of_file : 1;    /* the peer has sent all it will send */
    unsigned shut_when_sent : 1; /* half-close once the output is sent */
    unsigned write_shut : 1;
    unsigned corked : 1;    /* the owner's: nothing is sent meanwhile; then it flushes */
    unsigned plain : 1;     /* no socket: a pipe, a terminal */
    unsigned tell_sent : 1; /* the owner's: call on_ready whenever output was sent */
    int error;              /* errno of the failure that ended it, 0. What the peer sent before can still be received */
    int64_t active_at;      /* the loop's time when bytes were last received or sent, or it was opened */
    struct pel_stream *next_flush, **flush_link; /* on a list of streams to be flushed, or NULL */
    /* Called by pel_loop_dispatch and pel_streams_flush. PEL_READABLE: receive may bring data, the end, or an error.
     * PEL_WRITABLE: the connection is made (or failed), or output was sent. May close the stream. */
    void (*on_ready)(struct pel_stream *stream, unsigned events);
};

/* Takes a connected descriptor over that is non-blocking (pel_socket_prepare), and registers it. 0, PEL_EMEMORY or
 * PEL_ESYSTEM (errno EPERM: a file): the descriptor stays the caller's then. */
int pel_stream_open(struct pel_stream *stream, struct pel_loop *loop, int fd);

/* Makes a socket and begins to connect it, from the local address unless that is NULL. 0: connected or under way (see
 * connecting); PEL_EMEMORY; PEL_ESYSTEM with errno. */
int pel_stream_connect(struct pel_stream *stream, struct pel_loop *loop, const struct sockaddr *address,
                       socklen_t length, const struct sockaddr *local, socklen_t local_length);

/* Receives at most length bytes, of which there must be one. Returns their number, 0 at the end of file, PEL_EAGAIN,
 * PEL_ECLOSED, or PEL_ESYSTEM with stream->error set. */
ssize_t pel_stream_receive(struct pel_stream *stream, void *bytes, size_t length);

/* Appends bytes (copied) to the output; sends nothing. 0, PEL_EMEMORY, PEL_ECLOSED after the write side was shut. */
int pel_stream_append(struct pel_stream *stream, const void *bytes, size_t length);

/* The same without a copy: they stay where they are, and their lender sees to it, until they are sent or the stream is
 * closed (then the loan is gone from stream->loans). */
int pel_stream_lend(struct pel_stream *stream, const void *bytes, size_t length, uintptr_t lender);

/* Sends bytes at once when nothing is queued before them, without a copy. Returns how many were taken (fewer when it
 * would block), PEL_ECLOSED or PEL_ESYSTEM. The caller appends the rest, and gives no more than a burst at once. */
ssize_t pel_stream_send_now(struct pel_stream *stream, const void *bytes, size_t length);

/* Sends what is queued, at most a burst. 0 when all is sent; 1 when the rest waits for the loop, or, if the stream is
 * still writable, for its next turn; PEL_ESYSTEM. */
int pel_stream_flush(struct pel_stream *stream);

/* Bytes queued and not sent. */
static inline size_t pel_stream_pending(const struct pel_stream *stream)
{
    return pel_buffer_length(&stream->output) + stream->loans.length + (stream->layer ? stream->layer->covers : 0);
}

/* Whether anything is still to be sent, be it of the layer's own. */
static inline int pel_stream_unsent_p(const struct pel_stream *stream)
{
    return pel_stream_pending(stream) || (stream->layer && pel_buffer_length(&stream->layer->sealed));
}

/* Whether a layer's handshake is still to be done. */
static inline int pel_stream_securing_p(const struct pel_stream *stream)
{
    return stream->layer && !stream->layer->open;
}

/* Whether pel_stream_receive can bring something, be it the end or an error. */
static inline int pel_stream_receivable_p(const struct pel_stream *stream)
{
    return (stream->readable && !pel_stream_securing_p(stream)) || stream->end_of_file || stream->error;
}

static inline int pel_stream_open_p(const struct pel_stream *stream)
{
    return stream->handle.fd >= 0;
}

/* Shuts the write side once the output is sent (a layer tells the peer first). 0 or PEL_ESYSTEM. */
int pel_stream_close_write(struct pel_stream *stream);

/* Closes at once; queued output is dropped. Legal when closed. on_ready is not called any more. */
void pel_stream_close(struct pel_stream *stream);

/* Gives the descriptor away instead: it is the caller's, and open. Queued output is dropped. */
int pel_stream_detach(struct pel_stream *stream);

/* A stream's layer, or NULL, moves to another stream: it is taken off, the descriptor is detached, opened there, and
 * the layer, which must be open, is given to it. In between it is the caller's (pel_layer_drop). */
struct pel_layer *pel_stream_take_layer(struct pel_stream *stream);
void pel_stream_give_layer(struct pel_stream *stream, struct pel_layer *layer);

#endif
