#pragma once

/* Shared by the tests of streams: a loop, one stream, and the descriptor of its peer. */
#include "check.h"
#include "core/stream/stream.h"

#include <errno.h>
#include <netinet/in.h>

#define SECOND INT64_C(1000000000)

/* A stream whose owner counts its notifications. */
struct owner {
    struct pel_stream stream; /* first */
    int notified;
    unsigned events; /* the bits of all of them */
};

static struct pel_loop loop;
static struct owner owner;
static int peer; /* the descriptor of the other end */

static void on_ready(struct pel_stream *stream, unsigned events)
{
    struct owner *notified = (struct owner *)stream;

    notified->notified++;
    notified->events |= events;
}

static void prepare(struct owner *prepared)
{
    memset(prepared, 0, sizeof *prepared);
    prepared->stream.handle.fd = -1;
    prepared->stream.handle.slot = PEL_UNREGISTERED;
    prepared->stream.on_ready = on_ready;
}

static void open_one(struct owner *opened, int fd)
{
    prepare(opened);
    CHECK_INT(0, pel_socket_prepare(fd));
    CHECK_INT(0, pel_stream_open(&opened->stream, &loop, fd));
}

static void open_pair(struct owner *opened, int *end)
{
    int fds[2];

    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    CHECK_INT(0, pel_socket_prepare(fds[1]));
    open_one(opened, fds[0]);
    *end = fds[1];
}

static int tcp_listener(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int fd;

    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd = pel_socket_listen((struct sockaddr *)address, sizeof *address, 0, 0);
    CHECK(fd >= 0);
    CHECK_INT(0, getsockname(fd, (struct sockaddr *)address, &length));
    return fd;
}

/* Flushes, waits and dispatches until there are neither events nor scheduled streams. */
static void run_until_quiet(void)
{
    int more;

    do {
        more = loop.flush_list != NULL;
        pel_streams_flush(&loop);
        CHECK_INT(0, pel_loop_wait(&loop, more ? 0 : SECOND / 50));
        while (pel_loop_dispatch(&loop))
            more = 1;
    } while (more);
}

/* Opens one end of a TCP connection as a stream; `end` is the other one's descriptor. */
static inline void open_tcp(struct owner *opened, int *end)
{
    struct sockaddr_in address;
    int listener = tcp_listener(&address), fd;

    prepare(opened);
    CHECK_INT(0, pel_stream_connect(&opened->stream, &loop, (struct sockaddr *)&address, sizeof address, NULL, 0));
    run_until_quiet();
    CHECK(!opened->stream.connecting);
    CHECK_INT(0, opened->stream.error);
    fd = pel_socket_accept(listener);
    CHECK(fd >= 0);
    close(listener);
    *end = fd;
    opened->notified = 0;
    opened->events = 0;
}

static void open_loop(const char *backend)
{
    CHECK_INT(0, pel_loop_open(&loop, backend));
    peer = -1;
    prepare(&owner);
}

static void close_stream_and_loop(void)
{
    pel_stream_close(&owner.stream);
    CHECK_POINTER(NULL, loop.flush_list);
    CHECK_INT(0, loop.registered);
    CHECK_INT(0, loop.streams);
    close(peer);
    pel_loop_close(&loop);
}

/* A test that runs on each backend. */
#define STREAM_TEST(title)                                                                                             \
    static void title##_on(void);                                                                                      \
    TEST(title)                                                                                                        \
    {                                                                                                                  \
        static const char *const backends[] = {NULL, "poll"};                                                          \
        for (int i = 0; i < 2; i++) {                                                                                  \
            open_loop(backends[i]);                                                                                    \
            title##_on();                                                                                              \
            close_stream_and_loop();                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    static void title##_on(void)

static void send_to(int fd, const char *bytes)
{
    CHECK_INT(strlen(bytes), send(fd, bytes, strlen(bytes), MSG_NOSIGNAL));
}

/* Closes a socket with a reset. */
static inline void reset(int *fd)
{
    struct linger linger = {.l_onoff = 1};

    setsockopt(*fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(*fd);
    *fd = -1;
}

#define CHECK_RECEIVED(expected, most)                                                                                 \
    do {                                                                                                               \
        char received[256];                                                                                            \
        ssize_t count = pel_stream_receive(&owner.stream, received, most);                                             \
        CHECK(count >= 0);                                                                                             \
        CHECK_BYTES(expected, received, (size_t)count);                                                                \
    } while (0)

#define CHECK_RECEIVES(code)                                                                                           \
    do {                                                                                                               \
        char received[256];                                                                                            \
        CHECK_INT(code, pel_stream_receive(&owner.stream, received, sizeof received));                                 \
    } while (0)

/* Checks the bytes that the peer can read now. */
#define CHECK_PEER_READS(expected)                                                                                     \
    do {                                                                                                               \
        char received[256];                                                                                            \
        ssize_t count = read(peer, received, sizeof received);                                                         \
        CHECK(count >= 0);                                                                                             \
        CHECK_BYTES(expected, received, (size_t)count);                                                                \
    } while (0)
