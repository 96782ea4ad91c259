#ifndef PEL_SOCKET_H
#define PEL_SOCKET_H

#include <sys/socket.h>
#include "error.h"

/*
 * Making sockets, and the one place that knows their options. Every descriptor that comes from here is non-blocking
 * and close-on-exec, and is the caller's to close. On PEL_ESYSTEM errno tells why, and nothing is left open.
 */

/* Makes a descriptor that came from elsewhere like those that are made here; any kind of socket, or a pipe. 0 or
 * PEL_ESYSTEM. */
int pel_socket_prepare(int fd);

/* Makes a socket and begins to connect it. local: the address to connect from, or NULL. Returns the descriptor, with
 * *connecting set when the connection is still being made, or PEL_ESYSTEM (EAGAIN: a UNIX listener's backlog is full).
 */
int pel_socket_connect(const struct sockaddr *address, socklen_t length, const struct sockaddr *local,
                       socklen_t local_length, int *connecting);

/* The errno that ended an attempt to connect, 0 when it succeeded. Clears it. */
int pel_socket_error(int fd);

/* The peer has shut its side. The errno that tells that it has closed its socket, as a UNIX socket's may be known to
 * have done; or 0: then a TCP peer is asked from time to time, by the system, and one that has closed is found out by a
 * reset. */
int pel_socket_gone(int fd);

/* Bytes that have come and were not received yet. */
int pel_socket_unread(int fd);

/* Opens a listening TCP or UNIX socket. backlog 0: the system's limit. Returns the descriptor or PEL_ESYSTEM. */
int pel_socket_listen(const struct sockaddr *address, socklen_t length, int backlog, int reuse_port);

/* Accepts one connection: its descriptor, PEL_EAGAIN, or PEL_ESYSTEM (EMFILE, ENFILE, ENOBUFS, ENOMEM: stop accepting
 * for a while). Connections that died meanwhile are skipped here. */
int pel_socket_accept(int listener);

/* Whether writing to a connection whose peer is gone would end the process. Unlike send, sendfile and splice cannot be
 * told to leave SIGPIPE out. */
int pel_pipe_signal_kills(void);

#endif
