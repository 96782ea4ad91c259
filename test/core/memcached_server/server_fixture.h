#pragma once

/* A server on a loop of its own, which the test runs step by step, and clients on sockets, all in one thread. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "check.h"
#include "core/memcached_server/memcached_server.h"

static struct pel_loop loop;
static struct pel_memcached_server server;
static struct sockaddr_in address;
static int pending_backlogs; /* notified, and not yet served */
static int connected[200], client_count;

static void count_backlog(struct pel_memcached_server *notified)
{
    CHECK_POINTER(&server, notified);
    pending_backlogs++;
}

__attribute__((unused)) static void open_server(const char *backend, uint32_t connections)
{
    struct pel_memcached_limits limits = {.memory = 64 << 20, .value = 8 << 20, .connections = connections};
    socklen_t length = sizeof address;
    int fd;

    CHECK_INT(0, pel_loop_open(&loop, backend));
    memset(&server, 0, sizeof server);
    pending_backlogs = 0;
    server.on_backlog = count_backlog;
    CHECK_INT(0, pel_memcached_server_open(&server, &loop, &limits));
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd = pel_socket_listen((struct sockaddr *)&address, sizeof address, 0, 0);
    CHECK(fd >= 0);
    CHECK_INT(0, getsockname(fd, (struct sockaddr *)&address, &length));
    CHECK_INT(0, pel_memcached_server_listen(&server, fd));
}

/* Closes a client's connection; close_server does so with those that are left. */
__attribute__((unused)) static void leave(int fd)
{
    for (int i = 0; i < client_count; i++)
        if (connected[i] == fd)
            connected[i] = connected[--client_count];
    close(fd);
}

__attribute__((unused)) static void close_server(void)
{
    while (client_count)
        close(connected[--client_count]);
    pel_memcached_server_close(&server);
    CHECK_INT(0, server.service.store.bytes);
    CHECK_INT(0, loop.registered);
    pel_loop_close(&loop);
}

/* Runs one tick. Returns 1 if anything happened. */
__attribute__((unused)) static int run_once(void)
{
    int events = 0;

    pel_streams_flush(&loop);
    CHECK_INT(0, pel_loop_wait(&loop, 0));
    while (pel_loop_dispatch(&loop))
        events++;
    if (pending_backlogs) {
        pending_backlogs = 0;
        events++;
        pel_memcached_server_run(&server);
    }
    return events;
}

/* Runs ticks until nothing happens any more. */
__attribute__((unused)) static void run_until_quiet(void)
{
    for (int quiet = 0; quiet < 3;)
        quiet = run_once() ? 0 : quiet + 1;
}

/* Connects a non-blocking client. */
__attribute__((unused)) static int connect_client(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    CHECK(fd >= 0);
    CHECK_INT(0, setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
    CHECK_INT(0, connect(fd, (struct sockaddr *)&address, sizeof address));
    CHECK_INT(0, fcntl(fd, F_SETFL, O_NONBLOCK));
    CHECK(client_count < 200);
    connected[client_count++] = fd;
    return fd;
}

__attribute__((unused)) static void send_text(int fd, const char *text)
{
    CHECK_INT(strlen(text), send(fd, text, strlen(text), MSG_NOSIGNAL));
}

/* The replies that the client can read now, as a string; at most 64 KB. */
__attribute__((unused)) static const char *read_replies(int fd)
{
    static char text[65537];
    size_t length = 0;

    for (;;) {
        ssize_t count = recv(fd, text + length, sizeof text - 1 - length, 0);
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    text[length] = '\0';
    return text;
}

#define SERVER_TEST(title) TEST_BETWEEN(open_server(NULL, 10), title, close_server())

/* Checks all replies to a text. */
#define CHECK_ANSWER(client, text, replies)                                                                            \
    do {                                                                                                               \
        send_text(client, text);                                                                                       \
        run_until_quiet();                                                                                             \
        CHECK_STRING(replies, read_replies(client));                                                                   \
    } while (0)

/* Whether the server has closed the connection, with nothing left to read. */
__attribute__((unused)) static int connection_closed(int fd)
{
    char byte;
    ssize_t count = recv(fd, &byte, 1, 0);

    return count == 0 || (count < 0 && errno != EAGAIN);
}
