#include "core/stream/stream_io.h"

#include "stream/stream_fixture.h"

STREAM_TEST(bytes_are_received_as_they_arrive)
{
    open_pair(&owner, &peer);
    CHECK_RECEIVES(PEL_EAGAIN);
    send_to(peer, "one");
    run_until_quiet();
    CHECK(owner.events & PEL_READABLE);
    CHECK_RECEIVED("one", 100);
    CHECK_RECEIVES(PEL_EAGAIN);
    send_to(peer, "two");
    send_to(peer, "three");
    run_until_quiet();
    CHECK_RECEIVED("twot", 4);
    CHECK_RECEIVED("hree", 100);
    CHECK_RECEIVES(PEL_EAGAIN);
}

STREAM_TEST(after_a_short_read_later_bytes_are_notified)
{
    open_tcp(&owner, &peer);
    for (int i = 0; i < 5; i++) {
        send_to(peer, "abc");
        run_until_quiet();
        CHECK_RECEIVED("abc", 100);
        CHECK_INT(0, owner.stream.readable); /* known without a second read */
        owner.events = 0;
        send_to(peer, "def"); /* before the loop waits again */
        CHECK_RECEIVES(PEL_EAGAIN);
        run_until_quiet();
        CHECK(owner.events & PEL_READABLE);
        CHECK_RECEIVED("def", 100);
    }
}

STREAM_TEST(a_full_read_leaves_the_rest_readable)
{
    open_pair(&owner, &peer);
    send_to(peer, "abcdef");
    run_until_quiet();
    CHECK_RECEIVED("abcdef", 6);
    CHECK_INT(1, owner.stream.readable);
    CHECK_RECEIVES(PEL_EAGAIN);
    send_to(peer, "g");
    run_until_quiet();
    CHECK_RECEIVED("g", 100);
}

STREAM_TEST(the_end_comes_after_the_bytes_before_it)
{
    open_tcp(&owner, &peer);
    send_to(peer, "last");
    close(peer);
    peer = -1;
    run_until_quiet();
    CHECK(owner.events & PEL_HANGUP);
    CHECK_RECEIVED("la", 2);
    CHECK_RECEIVED("st", 100);
    CHECK_RECEIVES(0);
    CHECK_RECEIVES(0);
    CHECK_INT(0, owner.stream.error);
}

STREAM_TEST(an_end_that_came_before_the_stream_was_opened_is_received)
{
    int fds[2];

    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    send_to(fds[1], "early");
    close(fds[1]);
    open_one(&owner, fds[0]);
    CHECK_RECEIVED("early", 100);
    run_until_quiet();
    CHECK_RECEIVES(0);
}

STREAM_TEST(a_reset_comes_after_the_bytes_before_it)
{
    open_tcp(&owner, &peer);
    send_to(peer, "last");
    run_until_quiet();
    reset(&peer);
    run_until_quiet();
    CHECK_RECEIVED("last", 100);
    CHECK_RECEIVES(PEL_ESYSTEM);
    CHECK_INT(ECONNRESET, owner.stream.error);
    CHECK_RECEIVES(PEL_ESYSTEM);
}

/* A read stops before an urgent byte: the bytes behind it must not be missed. */
STREAM_TEST(bytes_behind_urgent_data_are_received)
{
    open_tcp(&owner, &peer);
    send_to(peer, "abc");
    CHECK_INT(1, send(peer, "!", 1, MSG_OOB));
    send_to(peer, "def");
    run_until_quiet();
    CHECK_RECEIVED("abc", 100);
    CHECK_INT(1, owner.stream.readable);
    CHECK_RECEIVED("def", 100);
    CHECK_RECEIVES(PEL_EAGAIN);
    send_to(peer, "g");
    run_until_quiet();
    CHECK_RECEIVED("g", 100);
}

STREAM_TEST(a_pipe_is_read_to_its_end)
{
    int fds[2];

    CHECK_INT(0, pipe(fds));
    open_one(&owner, fds[0]);
    CHECK_RECEIVES(PEL_EAGAIN);
    CHECK_INT(5, write(fds[1], "bytes", 5));
    run_until_quiet();
    CHECK_RECEIVED("bytes", 100);
    CHECK_INT(4, write(fds[1], "last", 4));
    close(fds[1]);
    run_until_quiet();
    CHECK_RECEIVED("last", 100);
    CHECK_RECEIVES(0);
}
