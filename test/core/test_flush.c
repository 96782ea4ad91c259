#include "flush.h"
#include "check.h"

#include <errno.h>
#include <sys/socket.h>
#include "stream.h"

enum { MANY = 4 };

/* A stream that does something when it is told. */
struct owner {
    struct pel_stream stream; /* first */
    int told, peer;
    struct owner *closes, *says;
};

static struct pel_loop loop;
static struct owner owners[MANY];

static void say(struct owner *owner)
{
    CHECK_INT(0, pel_stream_append(&owner->stream, "x", 1));
    pel_stream_flush_later(&owner->stream);
}

static void on_ready(struct pel_stream *stream, unsigned events)
{
    struct owner *owner = (struct owner *)stream;

    (void)events;
    owner->told++;
    if (owner->closes)
        pel_stream_close(&owner->closes->stream);
    if (owner->says)
        say(owner->says);
}

static void start(void)
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
        owners[i].stream.tell_sent = 1;
        owners[i].peer = fds[1];
    }
}

static void stop(void)
{
    for (int i = 0; i < MANY; i++) {
        pel_stream_close(&owners[i].stream);
        close(owners[i].peer);
    }
    CHECK_POINTER(NULL, loop.flush_list);
    CHECK_POINTER(NULL, loop.flush_now);
    pel_loop_close(&loop);
}

/* How many bytes have come at its peer. */
static int heard(const struct owner *owner)
{
    char bytes[16];
    ssize_t count = recv(owner->peer, bytes, sizeof bytes, 0);

    CHECK(count >= 0 || errno == EAGAIN);
    return count < 0 ? 0 : (int)count;
}

TEST(all_that_are_listed_are_flushed_once)
{
    start();
    for (int i = 0; i < MANY; i++) {
        say(&owners[i]);
        say(&owners[i]);
        CHECK_INT(0, heard(&owners[i]));
    }
    pel_streams_flush(&loop);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(1, owners[i].told);
        CHECK_INT(2, heard(&owners[i]));
    }
    pel_streams_flush(&loop);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(1, owners[i].told);
    stop();
}

TEST(what_is_taken_back_is_not_flushed)
{
    start();
    for (int i = 0; i < MANY; i++)
        say(&owners[i]);
    pel_stream_flush_forget(&owners[1].stream);
    pel_stream_flush_forget(&owners[1].stream);
    pel_stream_flush_forget(&owners[MANY - 1].stream);
    pel_streams_flush(&loop);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(i != 1 && i != MANY - 1, heard(&owners[i]));
    stop();
}

TEST(what_is_listed_meanwhile_is_flushed_next_time)
{
    start();
    owners[0].says = &owners[1];
    say(&owners[0]);
    pel_streams_flush(&loop);
    CHECK_INT(0, heard(&owners[1]));
    pel_streams_flush(&loop);
    CHECK_INT(1, heard(&owners[1]));
    stop();
}

TEST(one_that_is_told_may_close_the_other_that_is_to_be_flushed)
{
    start();
    owners[0].closes = &owners[1];
    owners[1].closes = &owners[0];
    say(&owners[0]);
    say(&owners[1]);
    pel_streams_flush(&loop);
    CHECK_INT(1, owners[0].told + owners[1].told);
    CHECK_INT(1, pel_stream_open_p(&owners[0].stream) + pel_stream_open_p(&owners[1].stream));
    stop();
}

TEST(one_that_is_told_may_close_itself)
{
    start();
    owners[0].closes = &owners[0];
    say(&owners[0]);
    say(&owners[1]);
    pel_streams_flush(&loop);
    CHECK(!pel_stream_open_p(&owners[0].stream));
    CHECK_INT(1, heard(&owners[1]));
    stop();
}

TEST(a_stream_that_fails_is_told)
{
    start();
    owners[0].stream.tell_sent = 0;
    say(&owners[0]);
    close(owners[0].peer);
    owners[0].peer = -1;
    pel_streams_flush(&loop);
    CHECK_INT(1, owners[0].told);
    CHECK_INT(EPIPE, owners[0].stream.error);
    stop();
}

TEST(a_loop_that_closes_forgets_its_streams)
{
    start();
    say(&owners[0]);
    pel_loop_close(&loop);
    pel_stream_close(&owners[0].stream);
    CHECK_INT(0, pel_loop_open(&loop, NULL));
    stop();
}
