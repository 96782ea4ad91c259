#include "core/stream/stream_io.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/stream/socket.h"

/* A peer's close must not kill the process by SIGPIPE; systems without the flag have SO_NOSIGPIPE. */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* Bytes that arrived before the failure can still be read; only the next read shows whether there are any. */
int pel__stream_fail(struct pel_stream *stream, int error)
{
    if (!stream->error)
        stream->error = error;
    stream->writable = 0;
    stream->readable = 1;
    return PEL_ESYSTEM;
}

static void mark_drained(struct pel_stream *stream)
{
    stream->readable = 0;
    pel_loop_rearm(stream->loop, &stream->handle, PEL_READABLE);
}

ssize_t pel__stream_receive(struct pel_stream *stream, void *bytes, size_t length)
{
    ssize_t count;

    if (!stream->readable)
        return stream->error ? PEL_ESYSTEM : PEL_EAGAIN;
    if (stream->carrier)
        return stream->carrier->type->receive(stream, bytes, length);
    do
        count = read(stream->handle.fd, bytes, length);
    while (count < 0 && errno == EINTR);
    if (count > 0) {
        stream->active_at = stream->loop->now;
        /* A short read has drained the socket, and later bytes cause an event, so the read that would return EAGAIN is
         * saved. Not so if the end, an error or an urgent byte follows these bytes: that causes no second event. */
        if ((size_t)count < length && !stream->hangup && !stream->urgent)
            mark_drained(stream);
        return count;
    }
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        stream->urgent = 0;
        mark_drained(stream);
        return stream->error ? PEL_ESYSTEM : PEL_EAGAIN;
    }
    if (count < 0)
        return pel__stream_fail(stream, errno);
    /* A write may have received, and thereby cleared, the error that caused this end. */
    return stream->error ? PEL_ESYSTEM : 0;
}

/* The descriptor takes no more for now. */
static int mark_unwritable(struct pel_stream *stream)
{
    stream->writable = 0;
    pel_loop_rearm(stream->loop, &stream->handle, PEL_WRITABLE);
    return PEL_EAGAIN;
}

static ssize_t send_parts(struct pel_stream *stream, struct iovec *parts, int count)
{
    if (!stream->plain) {
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
        ssize_t sent = count == 1 ? send(stream->handle.fd, parts->iov_base, parts->iov_len, MSG_NOSIGNAL)
                                  : sendmsg(stream->handle.fd, &message, MSG_NOSIGNAL);
        if (sent >= 0 || errno != ENOTSOCK)
            return sent;
        stream->plain = 1;
    }
    return writev(stream->handle.fd, parts, count);
}

ssize_t pel__stream_send(struct pel_stream *stream, struct iovec *parts, int count)
{
    ssize_t sent;

    if (stream->carrier)
        return stream->carrier->type->send(stream, parts, count);
    do
        sent = send_parts(stream, parts, count);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
        stream->active_at = stream->loop->now;
        return sent;
    }
    return errno == EAGAIN || errno == EWOULDBLOCK ? mark_unwritable(stream) : pel__stream_fail(stream, errno);
}

void pel__stream_shut(struct pel_stream *stream)
{
    if (stream->carrier)
        stream->carrier->type->shut(stream);
    else
        shutdown(stream->handle.fd, SHUT_WR);
}

ssize_t pel_stream_send_file(struct pel_stream *stream, int file, off_t *offset, size_t length)
{
    ssize_t sent;

    if (stream->carrier) {
        errno = EINVAL;
        return PEL_ESYSTEM;
    }
    do
        sent = pel_socket_send_file(stream->handle.fd, file, offset, length);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return sent;
    return errno == EAGAIN ? mark_unwritable(stream) : PEL_ESYSTEM;
}
