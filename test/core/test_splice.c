#include "splice.h"
#include "check.h"

#include <errno.h>
#include <signal.h>

#define MUCH 300000

static struct pel_loop loop;
static struct pel_splice through;
static struct pel_stream from, to;
static int source, sink; /* the other ends */
static unsigned told;
static char bytes[MUCH], back[MUCH];

static void on_ready(struct pel_stream *stream, unsigned events)
{
    if (stream == &to)
        told |= events;
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

static void start(void)
{
#ifndef __linux__
    SKIP("there is no splice");
#endif
    signal(SIGPIPE, SIG_IGN);
    CHECK_INT(0, pel_loop_open(&loop, NULL));
    open_one(&from, &source);
    open_one(&to, &sink);
    told = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7 + i / 251);
}

static void stop(void)
{
    pel_streams_forget(&loop);
    pel_splice_close(&through);
    pel_splice_close(&through);
    pel_stream_close(&from);
    pel_stream_close(&to);
    close(source);
    close(sink);
    pel_loop_close(&loop);
}

static size_t get(char *into, size_t room)
{
    ssize_t count = recv(sink, into, room, MSG_DONTWAIT);
    return count > 0 ? (size_t)count : 0;
}

TEST(what_is_there_is_moved_up_to_a_limit)
{
    start();
    CHECK_INT(5, write(source, "abcde", 5));
    CHECK_INT(3, pel_splice_move(&through, &from, &to, 3));
    CHECK_BYTES("abc", back, get(back, sizeof back));
    CHECK_INT(2, pel_splice_move(&through, &from, &to, 100));
    CHECK_BYTES("de", back, get(back, sizeof back));
    CHECK_INT(0, pel_splice_move(&through, &from, &to, 100));
    CHECK(!from.readable); /* that it is empty is known */
    stop();
}

TEST(a_target_that_takes_no_more_has_the_rest_queued)
{
    size_t sent = 0, moved = 0, got = 0, count;
    ssize_t written;

    start();
    while (sent < sizeof bytes || moved < sent || got < sent) {
        if (sent < sizeof bytes && (written = write(source, bytes + sent, sizeof bytes - sent)) > 0)
            sent += (size_t)written;
        from.readable = 1;
        while ((count = pel_splice_move(&through, &from, &to, MUCH)))
            moved += count;
        if (pel_stream_pending(&to)) { /* then nothing may overtake it */
            CHECK(pel_stream_pending(&to) <= moved - got);
            got += get(back + got, 4096);
            to.writable = 1;
            pel_stream_flush(&to);
        } else {
            got += get(back + got, 4096);
        }
    }
    CHECK_INT(sizeof bytes, got);
    CHECK(memcmp(bytes, back, sizeof bytes) == 0);
    stop();
}

TEST(nothing_overtakes_what_is_queued_or_corked)
{
    start();
    CHECK_INT(3, write(source, "abc", 3));
    CHECK_INT(0, pel_stream_append(&to, "1", 1));
    CHECK_INT(0, pel_splice_move(&through, &from, &to, 100));
    CHECK_INT(0, pel_stream_flush(&to));
    to.corked = 1;
    CHECK_INT(0, pel_splice_move(&through, &from, &to, 100));
    to.corked = 0;
    CHECK_INT(3, pel_splice_move(&through, &from, &to, 100));
    CHECK_BYTES("1abc", back, get(back, sizeof back));
    stop();
}

TEST(the_end_is_left_to_who_receives)
{
    char byte;

    start();
    shutdown(source, SHUT_WR);
    CHECK_INT(0, pel_splice_move(&through, &from, &to, 100));
    CHECK_INT(0, pel_stream_receive(&from, &byte, 1));
    stop();
}

TEST(a_target_that_failed_is_told_so)
{
    start();
    CHECK_INT(3, write(source, "abc", 3));
    close(sink);
    sink = -1;
    CHECK_INT(3, pel_splice_move(&through, &from, &to, 100));
    CHECK_INT(EPIPE, to.error);
    pel_streams_flush(&loop);
    CHECK(told & PEL_HANGUP);
    CHECK_INT(0, pel_splice_move(&through, &from, &to, 100));
    stop();
}

TEST(nothing_is_moved_where_a_signal_would_end_the_process)
{
    start();
    signal(SIGPIPE, SIG_DFL);
    CHECK_INT(3, write(source, "abc", 3));
    close(sink);
    sink = -1;
    CHECK_INT(0, pel_splice_move(&through, &from, &to, 100));
    signal(SIGPIPE, SIG_IGN);
    CHECK_INT(3, pel_splice_move(&through, &from, &to, 100));
    stop();
}
