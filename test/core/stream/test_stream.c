#include "stream/stream_fixture.h"

STREAM_TEST(a_refused_connection_is_notified_as_writable)
{
    struct sockaddr_in address;
    int listener = tcp_listener(&address);

    close(listener);
    prepare(&owner);
    CHECK_INT(0, pel_stream_connect(&owner.stream, &loop, (struct sockaddr *)&address, sizeof address, NULL, 0));
    CHECK_INT(0, pel_stream_append(&owner.stream, "x", 1));
    CHECK_INT(1, pel_stream_flush(&owner.stream));
    run_until_quiet();
    CHECK(owner.events & PEL_WRITABLE);
    CHECK_INT(0, owner.stream.connecting);
    CHECK_INT(ECONNREFUSED, owner.stream.error);
    CHECK_INT(PEL_ESYSTEM, pel_stream_flush(&owner.stream));
    CHECK_RECEIVES(PEL_ESYSTEM);
    CHECK_INT(ECONNREFUSED, owner.stream.error);
}

STREAM_TEST(output_queued_while_connecting_is_sent_once_connected)
{
    struct sockaddr_in address;
    int listener = tcp_listener(&address);

    prepare(&owner);
    CHECK_INT(0, pel_stream_connect(&owner.stream, &loop, (struct sockaddr *)&address, sizeof address, NULL, 0));
    CHECK_INT(0, pel_stream_append(&owner.stream, "early", 5));
    run_until_quiet();
    peer = pel_socket_accept(listener);
    close(listener);
    CHECK_PEER_READS("early");
}

STREAM_TEST(a_connection_that_fails_at_once_leaves_nothing_open)
{
    struct sockaddr address = {.sa_family = 9999};

    prepare(&owner);
    CHECK_INT(PEL_ESYSTEM, pel_stream_connect(&owner.stream, &loop, &address, sizeof address, NULL, 0));
    CHECK_INT(EAFNOSUPPORT, errno);
    CHECK(!pel_stream_open_p(&owner.stream));
}

STREAM_TEST(an_invalid_descriptor_is_refused)
{
    prepare(&owner);
    CHECK_INT(PEL_ESYSTEM, pel_stream_open(&owner.stream, &loop, 1000));
    CHECK_INT(EBADF, errno);
    CHECK(!pel_stream_open_p(&owner.stream));
}

STREAM_TEST(a_closed_stream_neither_sends_nor_notifies)
{
    open_pair(&owner, &peer);
    CHECK_INT(0, pel_stream_append(&owner.stream, "lost", 4));
    CHECK_INT(0, pel_stream_append_borrowed(&owner.stream, "lost", 4, 1, NULL));
    pel_stream_flush_later(&owner.stream);
    send_to(peer, "lost");
    CHECK_INT(0, pel_loop_wait(&loop, 0));
    pel_stream_close(&owner.stream);
    pel_stream_close(&owner.stream);
    CHECK_INT(0, pel_stream_pending(&owner.stream));
    CHECK_RECEIVES(PEL_ECLOSED);
    CHECK_INT(PEL_ECLOSED, pel_stream_append(&owner.stream, "x", 1));
    CHECK_INT(PEL_ECLOSED, pel_stream_close_write(&owner.stream));
    owner.notified = 0;
    run_until_quiet();
    CHECK_INT(0, owner.notified);
    CHECK(read(peer, &(char){0}, 1) <= 0); /* nothing was sent */
}

STREAM_TEST(a_detached_descriptor_stays_open_and_causes_no_events)
{
    int fd;

    open_pair(&owner, &peer);
    pel_stream_append(&owner.stream, "lost", 4);
    pel_stream_flush_later(&owner.stream);
    fd = pel_stream_detach(&owner.stream);
    send_to(peer, "x");
    run_until_quiet();
    CHECK_INT(0, owner.notified);
    send_to(fd, "still open");
    CHECK_PEER_READS("still open");
    close(fd);
}
