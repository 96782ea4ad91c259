#include "core/stream/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/un.h>
#include "check.h"

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int listen_on(struct sockaddr_in *address, int backlog)
{
    socklen_t length = sizeof *address;
    int fd;

    *address = loopback(0);
    fd = pel_socket_listen((struct sockaddr *)address, sizeof *address, backlog, 0);
    CHECK(fd >= 0);
    CHECK_INT(0, getsockname(fd, (struct sockaddr *)address, &length));
    return fd;
}

static int connect_to(const struct sockaddr_in *address, int *connecting)
{
    return pel_socket_connect((const struct sockaddr *)address, sizeof *address, NULL, 0, connecting);
}

static void wait_for(int fd, short events)
{
    struct pollfd entry = {.fd = fd, .events = events};
    CHECK_INT(1, poll(&entry, 1, 10000));
}

static void check_flags(int fd)
{
    CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    CHECK_INT(0, getsockopt(fd, level, name, &value, &length));
    return value;
}

TEST(connected_and_accepted_sockets_have_all_flags_and_options)
{
    struct sockaddr_in address;
    int listener = listen_on(&address, 0), connecting, client = connect_to(&address, &connecting), server;

    CHECK(client >= 0);
    wait_for(client, POLLOUT);
    CHECK_INT(0, pel_socket_error(client));
    wait_for(listener, POLLIN);
    server = pel_socket_accept(listener);
    CHECK(server >= 0);
    check_flags(listener);
    check_flags(client);
    check_flags(server);
    CHECK_INT(1, option(client, IPPROTO_TCP, TCP_NODELAY));
    CHECK_INT(1, option(server, IPPROTO_TCP, TCP_NODELAY));
    CHECK_INT(PEL_EAGAIN, pel_socket_accept(listener));
    close(client);
    close(server);
    close(listener);
}

TEST(any_descriptor_can_be_prepared)
{
    int fds[2];

    CHECK_INT(0, pipe(fds));
    CHECK_INT(0, pel_socket_prepare(fds[0]));
    check_flags(fds[0]);
    close(fds[0]);
    CHECK_INT(PEL_ESYSTEM, pel_socket_prepare(fds[0]));
    CHECK_INT(EBADF, errno);
    close(fds[1]);
}

TEST(a_refused_connection_is_reported_by_the_socket)
{
    struct sockaddr_in address;
    int listener = listen_on(&address, 0), connecting = 0, client;

    close(listener);
    client = connect_to(&address, &connecting);
    if (client >= 0) {
        CHECK_INT(1, connecting);
        wait_for(client, POLLOUT);
        CHECK_INT(ECONNREFUSED, pel_socket_error(client));
        CHECK_INT(0, pel_socket_error(client)); /* once */
        close(client);
    } else {
        CHECK_INT(ECONNREFUSED, errno);
    }
}

TEST(a_peer_that_has_shut_its_side_is_probed_by_keepalive)
{
    struct sockaddr_in address;
    struct linger at_once = {.l_onoff = 1};
    int listener = listen_on(&address, 0), connecting, client = connect_to(&address, &connecting), server;

    wait_for(listener, POLLIN);
    server = pel_socket_accept(listener);
    shutdown(client, SHUT_WR);
    wait_for(server, POLLIN);
    CHECK_INT(0, option(server, SOL_SOCKET, SO_KEEPALIVE));
    CHECK_INT(0, pel_socket_gone(server));
    CHECK_INT(1, option(server, SOL_SOCKET, SO_KEEPALIVE));
    CHECK(option(server, IPPROTO_TCP, TCP_KEEPIDLE) <= 15);
    setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(client);
    wait_for(server, POLLHUP);
    CHECK(pel_socket_gone(server) > 0);
    close(server);
    close(listener);
}

TEST(a_peer_that_has_closed_its_unix_socket_is_gone)
{
    int pair[2];

    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    shutdown(pair[0], SHUT_WR);
    CHECK_INT(0, pel_socket_gone(pair[1]));
    close(pair[0]);
    CHECK_INT(EPIPE, pel_socket_gone(pair[1]));
    close(pair[1]);
}

/* The lowest descriptor that is not open. */
static int next_descriptor(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

TEST(failures_leave_nothing_open)
{
    struct sockaddr_in address, elsewhere = loopback(0);
    struct sockaddr_un missing = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
    int listener = listen_on(&address, 0), next = next_descriptor(), connecting;

    CHECK_INT(PEL_ESYSTEM, pel_socket_listen((struct sockaddr *)&address, sizeof address, 0, 0));
    CHECK_INT(EADDRINUSE, errno);
    CHECK_INT(PEL_ESYSTEM, pel_socket_connect((struct sockaddr *)&missing, sizeof missing, NULL, 0, &connecting));
    CHECK_INT(ENOENT, errno);
    elsewhere.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1: reserved for documentation */
    CHECK_INT(PEL_ESYSTEM, pel_socket_connect((struct sockaddr *)&address, sizeof address,
                                              (struct sockaddr *)&elsewhere, sizeof elsewhere, &connecting));
    CHECK_INT(EADDRNOTAVAIL, errno);
    elsewhere.sin_family = 9999;
    CHECK_INT(PEL_ESYSTEM, pel_socket_connect((struct sockaddr *)&elsewhere, sizeof elsewhere, NULL, 0, &connecting));
    CHECK_INT(EAFNOSUPPORT, errno);
    CHECK_INT(next, next_descriptor());
    close(listener);
}

TEST(a_socket_connects_from_a_local_address)
{
    struct sockaddr_in address, local = loopback(0), peer;
    socklen_t length = sizeof peer;
    int listener = listen_on(&address, 0), connecting, client, server;

    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    client = pel_socket_connect((struct sockaddr *)&address, sizeof address, (struct sockaddr *)&local, sizeof local,
                                &connecting);
    CHECK(client >= 0);
    wait_for(listener, POLLIN);
    server = pel_socket_accept(listener);
    CHECK_INT(0, getpeername(server, (struct sockaddr *)&peer, &length));
    CHECK_INT(INADDR_LOOPBACK + 1, ntohl(peer.sin_addr.s_addr));
    close(client);
    close(server);
    close(listener);
}

TEST(the_local_port_of_a_closed_connection_can_be_listened_on)
{
    struct sockaddr_in address, local = loopback(0);
    socklen_t length = sizeof local;
    int listener = listen_on(&address, 0), connecting, client, server;

    client = pel_socket_connect((struct sockaddr *)&address, sizeof address, (struct sockaddr *)&local, sizeof local,
                                &connecting);
    CHECK(client >= 0);
    CHECK_INT(0, getsockname(client, (struct sockaddr *)&local, &length));
    wait_for(listener, POLLIN);
    server = pel_socket_accept(listener);
    close(client); /* the side that closes first stays in TIME_WAIT for a while */
    wait_for(server, POLLIN);
    close(server);
    close(listener);
    listener = pel_socket_listen((struct sockaddr *)&local, sizeof local, 5, 0);
    CHECK(listener >= 0);
    close(listener);
}

TEST(several_listeners_share_a_port_when_all_request_it)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int one = pel_socket_listen((struct sockaddr *)&address, sizeof address, 5, 1), other;

    CHECK(one >= 0);
    CHECK_INT(0, getsockname(one, (struct sockaddr *)&address, &length));
    other = pel_socket_listen((struct sockaddr *)&address, sizeof address, 5, 1);
    CHECK(other >= 0);
    close(one);
    close(other);
}

TEST(an_IPv6_listener_leaves_the_IPv4_port_free)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int six = pel_socket_listen((struct sockaddr *)&address, sizeof address, 0, 0), other;

    if (six < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
        SKIP("no IPv6 here");
    CHECK(six >= 0);
    CHECK_INT(0, getsockname(six, (struct sockaddr *)&address, &length));
    four.sin_port = address.sin6_port;
    other = pel_socket_listen((struct sockaddr *)&four, sizeof four, 0, 0);
    CHECK(other >= 0);
    close(six);
    close(other);
}

TEST(accept_fails_on_a_descriptor_that_is_no_socket)
{
    int fds[2];

    CHECK_INT(0, pipe(fds));
    CHECK_INT(PEL_ESYSTEM, pel_socket_accept(fds[0]));
    CHECK_INT(ENOTSOCK, errno);
    close(fds[0]);
    close(fds[1]);
}

static int ends[2]; /* of a socket pair */

static void open_ends(void)
{
    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

static void close_ends(void)
{
    close(ends[0]);
    close(ends[1]);
}

#define PAIR_TEST(title) TEST_BETWEEN(open_ends(), title, close_ends())

PAIR_TEST(unread_counts_the_bytes_that_were_not_received_yet)
{
    char bytes[2];

    CHECK_INT(0, pel_socket_unread(ends[0]));
    CHECK_INT(3, write(ends[1], "abc", 3));
    CHECK_INT(3, pel_socket_unread(ends[0]));
    CHECK_INT(2, read(ends[0], bytes, 2));
    CHECK_INT(1, pel_socket_unread(ends[0]));
    CHECK_INT(0, pel_socket_unread(-1));
}

PAIR_TEST(bytes_are_unacknowledged_until_the_peer_has_them)
{
    char bytes[8];

    CHECK_INT(0, pel_socket_unacknowledged(ends[0]));
    CHECK_INT(3, write(ends[0], "abc", 3));
    CHECK(pel_socket_unacknowledged(ends[0]) > 0);
    CHECK_INT(3, read(ends[1], bytes, sizeof bytes));
    CHECK_INT(0, pel_socket_unacknowledged(ends[0]));
    CHECK_INT(0, pel_socket_unacknowledged(-1));
}

TEST(sigpipe_kills_by_default_and_not_when_it_is_ignored)
{
    struct sigaction before, action = {.sa_handler = SIG_DFL};

    sigaction(SIGPIPE, &action, &before);
    CHECK(pel_pipe_signal_kills());
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    CHECK(!pel_pipe_signal_kills());
    sigaction(SIGPIPE, &before, NULL);
}

PAIR_TEST(a_file_is_sent_from_an_offset_or_the_caller_must_write_it)
{
    char name[] = "/tmp/pelton-socket-XXXXXX", bytes[16];
    int file = mkstemp(name);
    off_t offset = 6;
    ssize_t sent;

    unlink(name);
    CHECK_INT(11, write(file, "hello world", 11));
    sent = pel_socket_send_file(ends[0], file, &offset, 100);
    if (sent < 0) {
        CHECK_INT(ENOSYS, errno);
    } else {
        CHECK_INT(5, sent);
        CHECK_INT(11, offset);
        CHECK_INT(5, read(ends[1], bytes, sizeof bytes));
        CHECK_BYTES("world", bytes, 5);
    }
    close(file);
}
