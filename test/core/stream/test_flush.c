#include "check.h"

#include <errno.h>
#include <sys/socket.h>
#include "core/stream/stream.h"

enum { MANY = 4 };

/* A stream whose on_ready may close a stream or append to one. */
struct owner {
    struct pel_stream stream; /* first */
    int notified, peer;
    struct owner *closes, *appends_to;
};

static struct pel_loop loop;
static struct owner owners[MANY];

static void append_and_schedule(struct owner *owner)
{
    CHECK_INT(0, pel_stream_append(&owner->stream, "x", 1));
    pel_stream_flush_later(&owner->stream);
}

static void on_ready(struct pel_stream *stream, unsigned events)
{
    struct owner *owner = (struct owner *)stream;

    (void)events;
    owner->notified++;
    if (owner->closes)
        pel_stream_close(&owner->closes->stream);
    if (owner->appends_to)
        append_and_schedule(owner->appends_to);
}

static void open_streams(void)
{
    CHECK_INT(0, pel_loop_open(&loop, NULL));
    memset(owners, 0, sizeof owners);
    for (int i = 0; i < MANY; i++) {
        int fds[2];
        CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
        CHECK_INT(0, pel_socket_prepare(fds[0]));
        CHECK_INT(0, pel_socket_prepare(fds[1]));
        owners[i].stream.on_ready = on_ready;
        CHECK_INT(0, pel_stream_open(&owners[i].stream, &loop, fds[0]));
        owners[i].stream.notify_sent = 1;
        owners[i].peer = fds[1];
    }
}

static void close_streams(void)
{
    for (int i = 0; i < MANY; i++) {
        pel_stream_close(&owners[i].stream);
        close(owners[i].peer);
    }
    CHECK_POINTER(NULL, loop.flush_list);
    CHECK_POINTER(NULL, loop.flush_now);
    pel_loop_close(&loop);
}

/* The number of bytes that the stream's peer has received. */
static int received_by_peer(const struct owner *owner)
{
    char bytes[16];
    ssize_t count = recv(owner->peer, bytes, sizeof bytes, 0);

    CHECK(count >= 0 || errno == EAGAIN);
    return count < 0 ? 0 : (int)count;
}

#define FLUSH_TEST(title) TEST_BETWEEN(open_streams(), title, close_streams())

FLUSH_TEST(every_scheduled_stream_is_flushed_once)
{
    for (int i = 0; i < MANY; i++) {
        append_and_schedule(&owners[i]);
        append_and_schedule(&owners[i]);
        CHECK_INT(0, received_by_peer(&owners[i]));
    }
    pel_streams_flush(&loop);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(1, owners[i].notified);
        CHECK_INT(2, received_by_peer(&owners[i]));
    }
    pel_streams_flush(&loop);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(1, owners[i].notified);
}

FLUSH_TEST(a_cancelled_stream_is_not_flushed)
{
    for (int i = 0; i < MANY; i++)
        append_and_schedule(&owners[i]);
    pel_stream_flush_cancel(&owners[1].stream);
    pel_stream_flush_cancel(&owners[1].stream);
    pel_stream_flush_cancel(&owners[MANY - 1].stream);
    pel_streams_flush(&loop);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(i != 1 && i != MANY - 1, received_by_peer(&owners[i]));
}

/* Otherwise the loop would try again and again, without a wait. */
FLUSH_TEST(a_corked_stream_is_not_scheduled_again)
{
    owners[0].stream.corked = 1;
    append_and_schedule(&owners[0]);
    pel_streams_flush(&loop);
    CHECK_POINTER(NULL, loop.flush_list);
    CHECK_INT(0, received_by_peer(&owners[0]));
    owners[0].stream.corked = 0;
    pel_stream_flush_later(&owners[0].stream);
    pel_streams_flush(&loop);
    CHECK_INT(1, received_by_peer(&owners[0]));
}

FLUSH_TEST(a_stream_that_is_scheduled_during_a_flush_is_flushed_by_the_next_one)
{
    owners[0].appends_to = &owners[1];
    append_and_schedule(&owners[0]);
    pel_streams_flush(&loop);
    CHECK_INT(0, received_by_peer(&owners[1]));
    pel_streams_flush(&loop);
    CHECK_INT(1, received_by_peer(&owners[1]));
}

FLUSH_TEST(on_ready_may_close_another_scheduled_stream)
{
    owners[0].closes = &owners[1];
    owners[1].closes = &owners[0];
    append_and_schedule(&owners[0]);
    append_and_schedule(&owners[1]);
    pel_streams_flush(&loop);
    CHECK_INT(1, owners[0].notified + owners[1].notified);
    CHECK_INT(1, pel_stream_open_p(&owners[0].stream) + pel_stream_open_p(&owners[1].stream));
}

FLUSH_TEST(on_ready_may_close_its_own_stream)
{
    owners[0].closes = &owners[0];
    append_and_schedule(&owners[0]);
    append_and_schedule(&owners[1]);
    pel_streams_flush(&loop);
    CHECK(!pel_stream_open_p(&owners[0].stream));
    CHECK_INT(1, received_by_peer(&owners[1]));
}

FLUSH_TEST(a_stream_that_fails_is_notified)
{
    owners[0].stream.notify_sent = 0;
    append_and_schedule(&owners[0]);
    close(owners[0].peer);
    owners[0].peer = -1;
    pel_streams_flush(&loop);
    CHECK_INT(1, owners[0].notified);
    CHECK_INT(EPIPE, owners[0].stream.error);
}

FLUSH_TEST(closing_a_loop_empties_its_flush_lists)
{
    append_and_schedule(&owners[0]);
    pel_loop_close(&loop);
    pel_stream_close(&owners[0].stream);
    CHECK_INT(0, pel_loop_open(&loop, NULL));
}
