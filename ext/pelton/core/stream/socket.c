#include "core/stream/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#ifdef __linux__
#include <linux/sockios.h>
#endif
#ifdef HAVE_SYS_SENDFILE_H
#include <sys/sendfile.h>
#endif
#include <signal.h>
#include <unistd.h>

static int set_descriptor_flags(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
        return PEL_ESYSTEM;
    flags = fcntl(fd, F_GETFD);
    if (flags < 0 || (!(flags & FD_CLOEXEC) && fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0))
        return PEL_ESYSTEM;
    return 0;
}

/* Each tick's output is sent together, so Nagle's algorithm would only add its delay. A peer that has gone must not
 * kill the process by SIGPIPE (where send has a flag for that, the flag is used). Errors are ignored, because other
 * descriptors than TCP sockets refuse these options. */
static void set_socket_options(int fd)
{
    int one = 1, error = errno;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
#ifdef SO_NOSIGPIPE
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
#endif
    errno = error;
}

int pel_socket_prepare(int fd)
{
    if (set_descriptor_flags(fd) < 0)
        return PEL_ESYSTEM;
    set_socket_options(fd);
    return 0;
}

static int open_socket(int family)
{
#ifdef SOCK_CLOEXEC
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#else
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd >= 0 && set_descriptor_flags(fd) < 0) {
        close(fd);
        return -1;
    }
    return fd;
#endif
}

static int close_failed_socket(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return PEL_ESYSTEM;
}

/* Binds with SO_REUSEADDR: a closed connection in TIME_WAIT must not prevent listening on its port. */
static int bind_reusable(int fd, const struct sockaddr *address, socklen_t length)
{
    int one = 1;

    if (address->sa_family != AF_UNIX && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0)
        return -1;
    return bind(fd, address, length);
}

int pel_socket_connect(const struct sockaddr *address, socklen_t length, const struct sockaddr *local,
                       socklen_t local_length, int *connecting)
{
    int fd = open_socket(address->sa_family);

    if (fd < 0)
        return PEL_ESYSTEM;
    set_socket_options(fd);
    if (local && bind_reusable(fd, local, local_length) < 0)
        return close_failed_socket(fd);
    *connecting = 0;
    if (connect(fd, address, length) == 0)
        return fd;
    /* After EINTR connecting goes on, too: a second connect would only return EALREADY. */
    if (errno != EINPROGRESS && errno != EINTR)
        return close_failed_socket(fd);
    *connecting = 1;
    return fd;
}

int pel_socket_error(int fd)
{
    int error = 0;
    socklen_t length = sizeof error;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

#ifdef TCP_KEEPIDLE
#define KEEP_IDLE TCP_KEEPIDLE
#else
#define KEEP_IDLE TCP_KEEPALIVE /* as macOS calls it */
#endif

/* For a while after a close, on Linux for a minute, the peer's system acknowledges probes as if only one side were shut
 * down; after that it answers them by a reset. */
static void enable_keepalive(int fd)
{
    int one = 1, seconds = 15, count = 4, error = errno;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, KEEP_IDLE, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    errno = error;
}

int pel_socket_gone(int fd)
{
    struct pollfd entry = {.fd = fd};
    int error = pel_socket_error(fd);

    if (error)
        return error;
    if (poll(&entry, 1, 0) == 1 && entry.revents & (POLLHUP | POLLERR))
        return EPIPE;
    enable_keepalive(fd);
    return 0;
}

int pel_socket_unread(int fd)
{
    int count = 0;

    return ioctl(fd, FIONREAD, &count) < 0 ? 0 : count;
}

int pel_socket_unacknowledged(int fd)
{
    int count = 0;
#if defined(SIOCOUTQ)
    return ioctl(fd, SIOCOUTQ, &count) < 0 ? 0 : count;
#elif defined(SO_NWRITE) /* macOS */
    socklen_t length = sizeof count;
    return getsockopt(fd, SOL_SOCKET, SO_NWRITE, &count, &length) < 0 ? 0 : count;
#else
    (void)fd;
    return count;
#endif
}

int pel_socket_listen(const struct sockaddr *address, socklen_t length, int backlog, int reuse_port)
{
    int fd = open_socket(address->sa_family), one = 1;

    if (fd < 0)
        return PEL_ESYSTEM;
    set_socket_options(fd); /* accepted sockets inherit them */
    if (reuse_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) < 0)
        return close_failed_socket(fd);
    /* "::" means IPv6 only; IPv4 needs an address of its own. */
    if (address->sa_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) < 0)
        return close_failed_socket(fd);
    if (bind_reusable(fd, address, length) < 0 || listen(fd, backlog > 0 ? backlog : SOMAXCONN) < 0)
        return close_failed_socket(fd);
    return fd;
}

/* Whether accept(2) failed because a connection was aborted before it was accepted: the next one may be fine. */
static int connection_aborted(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN || error == ENOPROTOOPT ||
           error == EHOSTDOWN || error == EHOSTUNREACH || error == ENETUNREACH || error == EPERM;
}

int pel_socket_accept(int listener)
{
    for (;;) {
        int fd;
#ifdef HAVE_ACCEPT4
        fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            return fd;
#else
        fd = accept(listener, NULL, NULL);
        if (fd >= 0)
            return pel_socket_prepare(fd) < 0 ? close_failed_socket(fd) : fd;
#endif
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return PEL_EAGAIN;
        if (!connection_aborted(errno))
            return PEL_ESYSTEM;
    }
}

ssize_t pel_socket_send_file(int fd, int file, off_t *offset, size_t length)
{
#ifdef HAVE_SYS_SENDFILE_H
    return sendfile(fd, file, offset, length);
#else
    errno = ENOSYS;
    return -1;
#endif
}

int pel_pipe_signal_kills(void)
{
    struct sigaction action;

    return sigaction(SIGPIPE, NULL, &action) < 0 || action.sa_handler == SIG_DFL;
}
