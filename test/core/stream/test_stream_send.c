#include "stream/stream_fixture.h"

#include <pthread.h>
#include <signal.h>

/* Reads and runs the loop until no more bytes arrive. Returns their number. */
static size_t drain(int fd, unsigned char *sum)
{
    static char bytes[65536];
    size_t length = 0;
    ssize_t count;

    while ((count = read(fd, bytes, sizeof bytes)) > 0 ||
           (run_until_quiet(), (count = read(fd, bytes, sizeof bytes)) > 0)) {
        length += (size_t)count;
        for (ssize_t i = 0; i < count; i++)
            *sum = (unsigned char)(*sum * 31 + (unsigned char)bytes[i]);
    }
    return length;
}

STREAM_TEST(appended_output_is_sent_together)
{
    open_pair(&owner, &peer);
    owner.stream.notify_sent = 1;
    CHECK_INT(0, pel_stream_append(&owner.stream, "one ", 4));
    CHECK_INT(0, pel_stream_append_borrowed(&owner.stream, "two ", 4, 1, NULL));
    CHECK_INT(0, pel_stream_append(&owner.stream, "three", 5));
    CHECK_INT(13, pel_stream_pending(&owner.stream));
    pel_stream_flush_later(&owner.stream);
    pel_stream_flush_later(&owner.stream);
    owner.notified = 0;
    pel_streams_flush(&loop);
    CHECK_INT(1, owner.notified);
    CHECK_INT(0, pel_stream_pending(&owner.stream));
    CHECK_PEER_READS("one two three");
    pel_streams_flush(&loop);
    CHECK_INT(1, owner.notified);
}

STREAM_TEST(send_now_sends_nothing_while_output_is_queued)
{
    open_pair(&owner, &peer);
    CHECK_INT(3, pel_stream_send_now(&owner.stream, "one", 3));
    CHECK_INT(0, pel_stream_append(&owner.stream, "two", 3));
    CHECK_INT(0, pel_stream_send_now(&owner.stream, "three", 5));
    CHECK_INT(0, pel_stream_flush(&owner.stream));
    CHECK_INT(5, pel_stream_send_now(&owner.stream, "three", 5));
    CHECK_PEER_READS("onetwothree");
}

/* Copied and borrowed bytes, more than any buffer of the kernel takes. */
STREAM_TEST(sending_continues_when_the_peer_reads)
{
    enum { SIZE = 3000000 };
    static char large[SIZE];
    unsigned char sent = 0, received = 0;
    size_t length = 0;

    for (int i = 0; i < SIZE; i++)
        large[i] = (char)(i % 249);
    open_pair(&owner, &peer);
    owner.stream.notify_sent = 1;
    for (int round = 0; round < 3; round++) {
        CHECK_INT(0, pel_stream_append(&owner.stream, large, 100000));
        CHECK_INT(0, pel_stream_append_borrowed(&owner.stream, large, SIZE, 1, NULL));
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100000; i++, length++)
            sent = (unsigned char)(sent * 31 + (unsigned char)large[i]);
        for (int i = 0; i < SIZE; i++, length++)
            sent = (unsigned char)(sent * 31 + (unsigned char)large[i]);
    }
    CHECK_INT(length, pel_stream_pending(&owner.stream));
    CHECK_INT(1, pel_stream_flush(&owner.stream));
    CHECK_INT(0, owner.stream.writable);
    owner.notified = 0;
    CHECK_INT(length, drain(peer, &received));
    CHECK_INT(sent, received);
    CHECK(owner.notified > 1);
    CHECK_INT(0, pel_stream_pending(&owner.stream));
    CHECK_POINTER(NULL, owner.stream.borrowed.first);
}

static void *read_to_the_end(void *fd)
{
    static char bytes[1 << 20];
    static size_t length;

    length = 0;
    for (;;) {
        ssize_t count = recv(*(int *)fd, bytes, sizeof bytes, 0);
        if (count > 0)
            length += (size_t)count;
        else if (count == 0)
            return &length;
        else
            sched_yield();
    }
}

/* However fast the peer reads, other streams are flushed in between. */
STREAM_TEST(one_flush_sends_a_burst_at_most)
{
    enum { SIZE = 20 << 20 };
    char *large = calloc(1, SIZE);
    pthread_t reader;
    size_t pending;
    void *length;

    open_tcp(&owner, &peer);
    CHECK_INT(0, pthread_create(&reader, NULL, read_to_the_end, &peer));
    CHECK_INT(0, pel_stream_append_borrowed(&owner.stream, large, SIZE, 1, NULL));
    pel_stream_flush_later(&owner.stream);
    while ((pending = pel_stream_pending(&owner.stream))) {
        if (loop.flush_list) {
            pel_streams_flush(&loop);
        } else {
            CHECK_INT(0, pel_loop_wait(&loop, SECOND));
            pel_loop_dispatch(&loop);
        }
        CHECK(pending - pel_stream_pending(&owner.stream) <= PEL_STREAM_BURST);
    }
    CHECK_INT(0, pel_stream_close_write(&owner.stream));
    CHECK_INT(0, pthread_join(reader, &length));
    CHECK_INT(SIZE, *(size_t *)length);
    free(large);
}

STREAM_TEST(a_half_close_follows_the_output)
{
    open_tcp(&owner, &peer);
    CHECK_INT(0, pel_stream_append(&owner.stream, "bye", 3));
    CHECK_INT(0, pel_stream_close_write(&owner.stream));
    CHECK_INT(PEL_ECLOSED, pel_stream_append(&owner.stream, "more", 4));
    CHECK_INT(PEL_ECLOSED, pel_stream_append_borrowed(&owner.stream, "more", 4, 1, NULL));
    CHECK_INT(PEL_ECLOSED, pel_stream_send_now(&owner.stream, "more", 4));
    CHECK_INT(0, pel_stream_close_write(&owner.stream));
    run_until_quiet();
    CHECK_PEER_READS("bye");
    CHECK_PEER_READS("");
    send_to(peer, "answer");
    run_until_quiet();
    CHECK_RECEIVED("answer", 100);
}

STREAM_TEST(a_half_close_waits_for_a_slow_peer)
{
    enum { SIZE = 3000000 };
    static char large[SIZE];
    unsigned char sum = 0;

    open_pair(&owner, &peer);
    CHECK_INT(0, pel_stream_append_borrowed(&owner.stream, large, SIZE, 1, NULL));
    CHECK_INT(0, pel_stream_close_write(&owner.stream));
    CHECK_INT(0, owner.stream.write_shut);
    CHECK_INT(SIZE, drain(peer, &sum));
    CHECK_INT(1, owner.stream.write_shut);
    CHECK_PEER_READS("");
}

STREAM_TEST(a_failed_write_is_notified_and_earlier_bytes_can_still_be_received)
{
    open_tcp(&owner, &peer);
    run_until_quiet();
    send_to(peer, "go away");
    run_until_quiet();
    reset(&peer);
    owner.notified = 0;
    CHECK_INT(0, pel_stream_append(&owner.stream, "more", 4));
    pel_stream_flush_later(&owner.stream);
    pel_streams_flush(&loop); /* before the loop reports it */
    CHECK_INT(1, owner.notified);
    CHECK(owner.stream.error == ECONNRESET || owner.stream.error == EPIPE);
    CHECK_INT(PEL_ESYSTEM, pel_stream_flush(&owner.stream));
    CHECK_INT(PEL_ESYSTEM, pel_stream_send_now(&owner.stream, "more", 4));
    CHECK_RECEIVED("go away", 100);
    CHECK_RECEIVES(PEL_ESYSTEM);
}

STREAM_TEST(a_peer_that_has_gone_raises_no_signal)
{
    signal(SIGPIPE, SIG_DFL);
    open_pair(&owner, &peer);
    close(peer);
    peer = -1;
    CHECK_INT(PEL_ESYSTEM, pel_stream_send_now(&owner.stream, "x", 1));
    CHECK_INT(EPIPE, owner.stream.error);
}

STREAM_TEST(a_pipe_is_written)
{
    int fds[2];

    CHECK_INT(0, pipe(fds));
    open_one(&owner, fds[1]);
    peer = fds[0];
    CHECK_INT(0, pel_stream_append(&owner.stream, "one ", 4));
    CHECK_INT(0, pel_stream_append_borrowed(&owner.stream, "two", 3, 1, NULL));
    CHECK_INT(0, pel_stream_flush(&owner.stream));
    CHECK_INT(1, owner.stream.plain);
    CHECK_PEER_READS("one two");
}

STREAM_TEST(a_file_is_sent_until_the_descriptor_is_full)
{
    char name[] = "/tmp/pelton-stream-XXXXXX";
    int file = mkstemp(name);
    off_t offset = 0, before;
    ssize_t sent;
    unsigned char sum = 0;

    unlink(name);
    CHECK_INT(0, ftruncate(file, 16 * 1024 * 1024));
    open_pair(&owner, &peer);
    do {
        before = offset;
        sent = pel_stream_send_file(&owner.stream, file, &offset, 1024 * 1024);
    } while (sent > 0);
    if (sent == PEL_ESYSTEM) {
        CHECK_INT(ENOSYS, errno);
    } else {
        CHECK_INT(PEL_EAGAIN, sent);
        CHECK_INT(before, offset);
        CHECK_INT(0, owner.stream.writable);
        CHECK_INT(offset, drain(peer, &sum));
        CHECK_INT(1, owner.stream.writable);
    }
    close(file);
}
