#ifndef PEL_STREAM_H
#define PEL_STREAM_H

#include <sys/socket.h>
#include <sys/types.h>
#include "buffer.h"
#include "loop.h"

/*
 * A stream: one connected (or connecting) descriptor with an output buffer. It is ready first: reads and writes are
 * tried at once, and only what would block is left to the loop. It knows no protocol and no Ruby.
 *
 * The owner embeds the struct, sets on_ready, and is told there about readiness. Reading is the owner's to do, by
 * pel_stream_receive; the output is flushed by the stream itself.
 */

struct pel_stream {
    struct pel_handle handle; /* first: the loop's callback casts it back */
    struct pel_loop *loop;
    struct pel_buffer output;
    unsigned connecting : 1;
    unsigned readable : 1;       /* a read may bring something: EAGAIN has not been met since the last event */
    unsigned writable : 1;       /* a write may take something */
    unsigned hangup : 1;         /* the end, or an error, stands behind what is there to read */
    unsigned end_of_file : 1;    /* the peer has sent all it will send */
    unsigned shut_when_sent : 1; /* half-close once the output is sent */
    unsigned close_when_sent : 1;
    unsigned write_shut : 1;
    unsigned queued : 1; /* on the owner's list of streams to flush */
    int error;           /* errno of the failure that ended it, 0 */
    struct pel_stream *next_flush;
    /* Called from the loop's dispatch. readable: receive may bring data, the end, or an error. writable: the connection
     * is made, or output was sent and pel_stream_pending went down. May close the stream. */
    void (*on_ready)(struct pel_stream *stream, unsigned events);
};

/* Takes a connected descriptor over and registers it; makes it non-blocking, close-on-exec and, for TCP, without delay.
 * On failure (PEL_ESYSTEM, PEL_EMEMORY) the descriptor stays the caller's. */
int pel_stream_open(struct pel_stream *stream, struct pel_loop *loop, int fd);

/* Makes a socket and begins to connect it. 0: connected or under way (see connecting); PEL_ESYSTEM with errno. */
int pel_stream_connect(struct pel_stream *stream, struct pel_loop *loop, const struct sockaddr *address,
                       socklen_t length);

/* Receives at most length bytes. Returns their number, 0 at the end of file, PEL_EAGAIN, PEL_ECLOSED, or PEL_ESYSTEM
 * with stream->error set. */
ssize_t pel_stream_receive(struct pel_stream *stream, void *bytes, size_t length);

/* Appends bytes (copied) to the output; sends nothing. 0, PEL_EMEMORY, PEL_ECLOSED after the write side was shut. */
int pel_stream_append(struct pel_stream *stream, const void *bytes, size_t length);

/* Sends bytes at once when nothing is queued before them, without a copy. Returns how many were taken (0 when it would
 * block), PEL_ECLOSED or PEL_ESYSTEM. The caller appends the rest. */
ssize_t pel_stream_send_now(struct pel_stream *stream, const void *bytes, size_t length);

/* Sends what is queued. 0 when all is sent, 1 when the rest waits for the loop, PEL_ESYSTEM. */
int pel_stream_flush(struct pel_stream *stream);

/* Bytes queued and not sent. */
static inline size_t pel_stream_pending(const struct pel_stream *stream)
{
    return pel_buffer_length(&stream->output);
}

static inline int pel_stream_open_p(const struct pel_stream *stream)
{
    return stream->handle.fd >= 0;
}

/* Shuts the write side once the output is sent. 0 or PEL_ESYSTEM. */
int pel_stream_close_write(struct pel_stream *stream);

/* Closes at once; queued output is dropped. Legal when closed. on_ready is not called any more. */
void pel_stream_close(struct pel_stream *stream);

/* Opens a listening TCP or UNIX socket; the only other place that knows socket options. backlog 0: the system's limit.
 * Returns the descriptor or PEL_ESYSTEM. */
int pel_socket_listen(const struct sockaddr *address, socklen_t length, int backlog, int reuse_port);

/* Accepts one connection: a non-blocking, close-on-exec descriptor, PEL_EAGAIN, or PEL_ESYSTEM with errno (EMFILE,
 * ENFILE, ENOBUFS, ENOMEM: stop accepting for a while; connections that died meanwhile are skipped here). */
int pel_socket_accept(int listener);

#endif
