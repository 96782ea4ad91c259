#pragma once

/* Shared by the suites that every backend must pass: a loop on BACKEND, and two socket pairs with a probe each. */
#include "check.h"
#include "core/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#define SECOND INT64_C(1000000000)

struct probe {
    struct pel_handle handle; /* first */
    int count;                /* the number of events */
    unsigned events;          /* the last event's bits */
};

static struct pel_loop loop;
static int pair[2], other[2];
static struct probe probe, second;

static void on_probe_event(struct pel_handle *handle, unsigned events)
{
    struct probe *notified = (struct probe *)handle;
    notified->count++;
    notified->events = events;
}

static void prepare(struct probe *prepared, int fd)
{
    *prepared = (struct probe){.handle = {.fd = fd, .slot = PEL_UNREGISTERED, .on_event = on_probe_event}};
}

static void open_pair(int fds[2])
{
    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
}

static void open_loop(void)
{
    CHECK_INT(0, pel_loop_open(&loop, BACKEND));
    CHECK_STRING(BACKEND, loop.backend->name);
    open_pair(pair);
    open_pair(other);
    prepare(&probe, pair[0]);
    prepare(&second, other[0]);
}

static void close_loop(void)
{
    pel_loop_close(&loop);
    close(pair[0]);
    close(pair[1]);
    close(other[0]);
    close(other[1]);
}

static void arm(struct probe *armed, unsigned events, enum pel_trigger trigger)
{
    CHECK_INT(0, pel_loop_arm(&loop, &armed->handle, events, trigger));
}

/* Waits once and dispatches all events. Returns their number. */
static int poll_once(int64_t timeout)
{
    int count = 0;
    CHECK_INT(0, pel_loop_wait(&loop, timeout));
    while (pel_loop_dispatch(&loop))
        count++;
    return count;
}

static void put(int fd, const char *bytes)
{
    CHECK_INT(strlen(bytes), write(fd, bytes, strlen(bytes)));
}

static void drain(int fd)
{
    char bytes[4096];
    while (read(fd, bytes, sizeof bytes) > 0)
        ;
}

#define LOOP_TEST(title) TEST_BETWEEN(open_loop(), title, close_loop())
