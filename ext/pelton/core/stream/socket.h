#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include "core/base/error.h"

/*
 * Creates sockets; the only file that sets socket options. Every descriptor returned from here is non-blocking and
 * close-on-exec, and the caller closes it. On PEL_ESYSTEM errno holds the reason, and no descriptor is left open.
 */

/* Gives a descriptor from elsewhere, a socket or a pipe, the same flags and options. Returns 0 or PEL_ESYSTEM. */
int pel_socket_prepare(int fd);

/* Creates a socket and starts connecting it. local: the address to connect from, or NULL. Returns the descriptor and
 * sets *connecting if the connection is not established yet, or PEL_ESYSTEM (EAGAIN: a UNIX listener's backlog is
 * full). */
int pel_socket_connect(const struct sockaddr *address, socklen_t length, const struct sockaddr *local,
                       socklen_t local_length, int *connecting);

/* The errno with which connecting failed, 0 if it succeeded. Clears the socket's error. */
int pel_socket_error(int fd);

/* For a socket whose peer has shut down its side. Returns an errno if the peer is known to have closed its socket,
 * which is possible for UNIX sockets. Otherwise returns 0 and enables TCP keepalive: a peer that has closed its socket
 * answers the probes by a reset. */
int pel_socket_gone(int fd);

/* The number of bytes that have arrived and were not received yet. */
int pel_socket_unread(int fd);

/* The number of bytes that were sent, and the peer's system has not acknowledged (a UNIX socket: that the peer has not
 * received). The end of output counts as one. 0 where the system does not tell. */
int pel_socket_unacknowledged(int fd);

/* Opens a listening TCP or UNIX socket. backlog 0: the system's limit. Returns the descriptor or PEL_ESYSTEM. */
int pel_socket_listen(const struct sockaddr *address, socklen_t length, int backlog, int reuse_port);

/* Accepts one connection. Returns its descriptor, PEL_EAGAIN, or PEL_ESYSTEM (EMFILE, ENFILE, ENOBUFS, ENOMEM: stop
 * accepting for a while). Skips connections that were aborted before they were accepted. */
int pel_socket_accept(int listener);

/* Whether SIGPIPE would end the process when it writes to a connection whose peer is gone. sendfile and splice, unlike
 * send, have no flag that suppresses the signal. */
int pel_pipe_signal_kills(void);

/* Linux's sendfile(2): at most length bytes of a file, from *offset on, which moves along. The number of bytes, or -1
 * with errno: ENOSYS where the system has no such call, and the caller must write the bytes. */
ssize_t pel_socket_send_file(int fd, int file, off_t *offset, size_t length);
