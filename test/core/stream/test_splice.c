#include "check.h"
#include "core/stream/splice.h"

#include <errno.h>
#include <signal.h>

#define MUCH 300000

static struct pel_loop loop;
static struct pel_splice mover;
static struct pel_stream from, to;
static int source, sink; /* the peers of from and to */
static unsigned to_events;
static char bytes[MUCH], received[MUCH];

static void on_ready(struct pel_stream *stream, unsigned events)
{
    if (stream == &to)
        to_events |= events;
}

static void open_one(struct pel_stream *stream, int *end)
{
    int fds[2];

    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    CHECK_INT(0, pel_socket_prepare(fds[0]));
    CHECK_INT(0, pel_socket_prepare(fds[1]));
    *stream = (struct pel_stream){.on_ready = on_ready};
    CHECK_INT(0, pel_stream_open(stream, &loop, fds[0]));
    *end = fds[1];
}

static void open_streams(void)
{
#ifndef HAVE_SPLICE
    SKIP("this system has no splice");
#endif
    signal(SIGPIPE, SIG_IGN);
    CHECK_INT(0, pel_loop_open(&loop, NULL));
    open_one(&from, &source);
    open_one(&to, &sink);
    to_events = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7 + i / 251);
}

static void close_streams(void)
{
    pel_splice_close(&mover);
    pel_splice_close(&mover);
    pel_stream_close(&from);
    pel_stream_close(&to);
    close(source);
    close(sink);
    pel_loop_close(&loop);
}

static size_t read_sink(char *into, size_t size)
{
    ssize_t count = recv(sink, into, size, MSG_DONTWAIT);
    return count > 0 ? (size_t)count : 0;
}

#define SPLICE_TEST(title) TEST_BETWEEN(open_streams(), title, close_streams())

SPLICE_TEST(available_bytes_are_moved_up_to_the_limit)
{
    CHECK_INT(5, write(source, "abcde", 5));
    CHECK_INT(3, pel_splice_move(&mover, &from, &to, 3));
    CHECK_BYTES("abc", received, read_sink(received, sizeof received));
    CHECK_INT(2, pel_splice_move(&mover, &from, &to, 100));
    CHECK_BYTES("de", received, read_sink(received, sizeof received));
    CHECK_INT(0, pel_splice_move(&mover, &from, &to, 100));
    CHECK(!from.readable); /* EAGAIN has shown that it is drained */
}

SPLICE_TEST(bytes_that_the_target_does_not_take_are_queued_there)
{
    size_t sent = 0, moved = 0, got = 0, count;
    ssize_t written;

    while (sent < sizeof bytes || moved < sent || got < sent) {
        if (sent < sizeof bytes && (written = write(source, bytes + sent, sizeof bytes - sent)) > 0)
            sent += (size_t)written;
        from.readable = 1;
        while ((count = pel_splice_move(&mover, &from, &to, MUCH)))
            moved += count;
        if (pel_stream_pending(&to)) { /* no bytes may overtake these */
            CHECK(pel_stream_pending(&to) <= moved - got);
            got += read_sink(received + got, 4096);
            to.writable = 1;
            pel_stream_flush(&to);
        } else {
            got += read_sink(received + got, 4096);
        }
    }
    CHECK_INT(sizeof bytes, got);
    CHECK(memcmp(bytes, received, sizeof bytes) == 0);
}

SPLICE_TEST(no_bytes_overtake_queued_or_corked_output)
{
    CHECK_INT(3, write(source, "abc", 3));
    CHECK_INT(0, pel_stream_append(&to, "1", 1));
    CHECK_INT(0, pel_splice_move(&mover, &from, &to, 100));
    CHECK_INT(0, pel_stream_flush(&to));
    to.corked = 1;
    CHECK_INT(0, pel_splice_move(&mover, &from, &to, 100));
    to.corked = 0;
    CHECK_INT(3, pel_splice_move(&mover, &from, &to, 100));
    CHECK_BYTES("1abc", received, read_sink(received, sizeof received));
}

SPLICE_TEST(the_end_is_left_to_receive)
{
    char byte;

    shutdown(source, SHUT_WR);
    CHECK_INT(0, pel_splice_move(&mover, &from, &to, 100));
    CHECK_INT(0, pel_stream_receive(&from, &byte, 1));
}

SPLICE_TEST(a_target_that_failed_is_notified)
{
    CHECK_INT(3, write(source, "abc", 3));
    close(sink);
    sink = -1;
    CHECK_INT(3, pel_splice_move(&mover, &from, &to, 100));
    CHECK_INT(EPIPE, to.error);
    pel_streams_flush(&loop);
    CHECK(to_events & PEL_HANGUP);
    CHECK_INT(0, pel_splice_move(&mover, &from, &to, 100));
}

SPLICE_TEST(nothing_is_moved_when_sigpipe_would_end_the_process)
{
    signal(SIGPIPE, SIG_DFL);
    CHECK_INT(3, write(source, "abc", 3));
    close(sink);
    sink = -1;
    CHECK_INT(0, pel_splice_move(&mover, &from, &to, 100));
    signal(SIGPIPE, SIG_IGN);
    CHECK_INT(3, pel_splice_move(&mover, &from, &to, 100));
}
