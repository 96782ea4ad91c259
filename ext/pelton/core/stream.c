#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* A peer's close must not kill the process by SIGPIPE; systems without the flag have SO_NOSIGPIPE. */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static void on_event(struct pel_handle *handle, unsigned events);

static int set_non_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
        return PEL_ESYSTEM;
    flags = fcntl(fd, F_GETFD);
    if (flags < 0 || (!(flags & FD_CLOEXEC) && fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0))
        return PEL_ESYSTEM;
    return 0;
}

/* Output is gathered for each tick, so Nagle's algorithm would only add its delay. Other kinds of socket refuse: fine.
 */
static void set_options(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
#ifdef SO_NOSIGPIPE
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
#endif
}

static int start(struct pel_stream *stream, struct pel_loop *loop, int fd)
{
    void (*on_ready)(struct pel_stream *, unsigned) = stream->on_ready;

    memset(stream, 0, sizeof *stream);
    pel_buffer_init(&stream->output);
    stream->on_ready = on_ready;
    stream->loop = loop;
    stream->handle = (struct pel_handle){.fd = fd, .slot = PEL_UNREGISTERED, .on_event = on_event};
    if (pel_loop_arm(loop, &stream->handle, PEL_READABLE | PEL_WRITABLE, PEL_EDGE) < 0) {
        stream->handle.fd = -1;
        return PEL_ESYSTEM;
    }
    loop->streams++;
    return 0;
}

int pel_stream_open(struct pel_stream *stream, struct pel_loop *loop, int fd)
{
    int code = set_non_blocking(fd);

    if (code < 0)
        return code;
    set_options(fd);
    if ((code = start(stream, loop, fd)) < 0)
        return code;
    stream->readable = stream->writable = 1;
    return 0;
}

int pel_stream_connect(struct pel_stream *stream, struct pel_loop *loop, const struct sockaddr *address,
                       socklen_t length)
{
    int fd = socket(address->sa_family, SOCK_STREAM, 0), result, error;

    if (fd < 0)
        return PEL_ESYSTEM;
    if (set_non_blocking(fd) < 0)
        goto failed;
    set_options(fd);
    do
        result = connect(fd, address, length);
    while (result < 0 && errno == EINTR);
    if (result < 0 && errno != EINPROGRESS && errno != EALREADY)
        goto failed;
    if (start(stream, loop, fd) < 0)
        goto failed;
    stream->connecting = result < 0;
    stream->readable = stream->writable = !stream->connecting;
    return 0;

failed:
    error = errno;
    close(fd);
    stream->handle.fd = -1;
    errno = error;
    return PEL_ESYSTEM;
}

static int failed(struct pel_stream *stream, int error)
{
    stream->error = error;
    stream->writable = 0;
    return PEL_ESYSTEM;
}

static void on_event(struct pel_handle *handle, unsigned events)
{
    struct pel_stream *stream = (struct pel_stream *)handle;

    if (stream->connecting) {
        int error = 0;
        socklen_t length = sizeof error;
        if (!(events & PEL_WRITABLE))
            return;
        if (getsockopt(handle->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
            error = errno;
        stream->connecting = 0;
        if (error)
            failed(stream, error);
    }
    if (events & (PEL_READABLE | PEL_HANGUP))
        stream->readable = 1;
    if (events & PEL_HANGUP)
        stream->hangup = 1;
    if (events & PEL_WRITABLE && !stream->error) {
        stream->writable = 1;
        if (pel_stream_pending(stream) || stream->shut_when_sent)
            pel_stream_flush(stream);
    }
    stream->on_ready(stream, events);
}

ssize_t pel_stream_receive(struct pel_stream *stream, void *bytes, size_t length)
{
    ssize_t count;

    if (!pel_stream_open_p(stream))
        return PEL_ECLOSED;
    if (stream->end_of_file)
        return 0;
    if (stream->error)
        return PEL_ESYSTEM;
    if (!stream->readable)
        return PEL_EAGAIN;
    do
        count = read(stream->handle.fd, bytes, length);
    while (count < 0 && errno == EINTR);
    if (count > 0) {
        /* A short read drained the socket, and what comes later is told: this saves the read that would meet EAGAIN. */
        if ((size_t)count < length && !stream->hangup) {
            stream->readable = 0;
            pel_loop_rearm(stream->loop, &stream->handle, PEL_READABLE);
        }
        return count;
    }
    if (count == 0) {
        if (length)
            stream->end_of_file = 1;
        return 0;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        stream->readable = 0;
        pel_loop_rearm(stream->loop, &stream->handle, PEL_READABLE);
        return PEL_EAGAIN;
    }
    return failed(stream, errno);
}

int pel_stream_append(struct pel_stream *stream, const void *bytes, size_t length)
{
    if (!pel_stream_open_p(stream) || stream->write_shut || stream->shut_when_sent || stream->close_when_sent)
        return PEL_ECLOSED;
    return pel_buffer_append(&stream->output, bytes, length);
}

/* Sends once. Bytes taken, PEL_EAGAIN or PEL_ESYSTEM. */
static ssize_t send_once(struct pel_stream *stream, const void *bytes, size_t length)
{
    ssize_t count;

    do {
        count = send(stream->handle.fd, bytes, length, MSG_NOSIGNAL);
        if (count < 0 && errno == ENOTSOCK)
            count = write(stream->handle.fd, bytes, length);
    } while (count < 0 && errno == EINTR);
    if (count >= 0)
        return count;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        stream->writable = 0;
        pel_loop_rearm(stream->loop, &stream->handle, PEL_WRITABLE);
        return PEL_EAGAIN;
    }
    return failed(stream, errno);
}

ssize_t pel_stream_send_now(struct pel_stream *stream, const void *bytes, size_t length)
{
    size_t sent = 0;

    if (!pel_stream_open_p(stream) || stream->write_shut || stream->shut_when_sent || stream->close_when_sent)
        return PEL_ECLOSED;
    if (stream->error)
        return PEL_ESYSTEM;
    while (sent < length && stream->writable && !pel_stream_pending(stream)) {
        ssize_t count = send_once(stream, (const char *)bytes + sent, length - sent);
        if (count == PEL_EAGAIN)
            break;
        if (count < 0)
            return count;
        sent += (size_t)count;
    }
    return (ssize_t)sent;
}

int pel_stream_flush(struct pel_stream *stream)
{
    if (!pel_stream_open_p(stream) || stream->connecting)
        return 1;
    if (stream->error)
        return PEL_ESYSTEM;
    while (pel_stream_pending(stream)) {
        ssize_t count;
        if (!stream->writable)
            return 1;
        count = send_once(stream, pel_buffer_head(&stream->output), pel_stream_pending(stream));
        if (count == PEL_EAGAIN)
            return 1;
        if (count < 0)
            return (int)count;
        pel_buffer_consume(&stream->output, (size_t)count);
    }
    if (stream->shut_when_sent && !stream->write_shut) {
        stream->write_shut = 1;
        shutdown(stream->handle.fd, SHUT_WR);
    }
    return 0;
}

int pel_stream_close_write(struct pel_stream *stream)
{
    if (!pel_stream_open_p(stream))
        return PEL_ECLOSED;
    stream->shut_when_sent = 1;
    return pel_stream_flush(stream) < 0 ? PEL_ESYSTEM : 0;
}

void pel_stream_close(struct pel_stream *stream)
{
    if (!pel_stream_open_p(stream))
        return;
    if (stream->handle.slot != PEL_UNREGISTERED) /* else the loop was closed, and may be freed */
        stream->loop->streams--;
    pel_loop_disarm(stream->loop, &stream->handle);
    close(stream->handle.fd);
    stream->handle.fd = -1;
    pel_buffer_free(&stream->output);
}

int pel_socket_listen(const struct sockaddr *address, socklen_t length, int backlog, int reuse_port)
{
    int fd = socket(address->sa_family, SOCK_STREAM, 0), one = 1, error;

    if (fd < 0)
        return PEL_ESYSTEM;
    if (set_non_blocking(fd) < 0)
        goto failed;
    if (address->sa_family != AF_UNIX && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0)
        goto failed;
#ifdef SO_REUSEPORT
    if (reuse_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) < 0)
        goto failed;
#endif
    /* "::" means IPv6 alone; IPv4 has an address of its own. */
    if (address->sa_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) < 0)
        goto failed;
    if (bind(fd, address, length) < 0 || listen(fd, backlog > 0 ? backlog : SOMAXCONN) < 0)
        goto failed;
    return fd;

failed:
    error = errno;
    close(fd);
    errno = error;
    return PEL_ESYSTEM;
}

int pel_socket_accept(int listener)
{
    for (;;) {
        int fd;
#ifdef HAVE_ACCEPT4
        fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        fd = accept(listener, NULL, NULL);
#endif
        if (fd >= 0)
            return fd;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return PEL_EAGAIN;
        /* A connection that died before it was accepted is nobody's trouble: take the next one. */
        if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO && errno != ENETDOWN && errno != ENOPROTOOPT &&
            errno != EHOSTDOWN && errno != EHOSTUNREACH && errno != ENETUNREACH)
            return PEL_ESYSTEM;
    }
}
