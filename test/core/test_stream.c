#include "stream.h"
#include "check.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define SECOND INT64_C(1000000000)

/* A stream whose owner counts what it is told. */
struct owner {
    struct pel_stream stream; /* first */
    int told;
    unsigned events; /* all of them */
};

static struct pel_loop loop;
static struct owner owner;
static int peer; /* the descriptor of the other end */

static void on_ready(struct pel_stream *stream, unsigned events)
{
    struct owner *told = (struct owner *)stream;

    told->told++;
    told->events |= events;
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

/* Looks, dispatches, and flushes, until nothing happens any more. */
static void turn(void)
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

/* The end of a TCP connection, whose other end is the peer. */
static void open_tcp(struct owner *opened, int *end)
{
    struct sockaddr_in address;
    int listener = tcp_listener(&address), fd;

    prepare(opened);
    CHECK_INT(0, pel_stream_connect(&opened->stream, &loop, (struct sockaddr *)&address, sizeof address, NULL, 0));
    turn();
    CHECK(!opened->stream.connecting);
    CHECK_INT(0, opened->stream.error);
    fd = pel_socket_accept(listener);
    CHECK(fd >= 0);
    close(listener);
    *end = fd;
    opened->told = 0;
    opened->events = 0;
}

static void start(const char *backend)
{
    CHECK_INT(0, pel_loop_open(&loop, backend));
    peer = -1;
    prepare(&owner);
}

static void stop(void)
{
    pel_stream_close(&owner.stream);
    CHECK_POINTER(NULL, loop.flush_list);
    CHECK_INT(0, loop.registered);
    CHECK_INT(0, loop.streams);
    close(peer);
    pel_loop_close(&loop);
}

/* A test that is run on each backend. */
#define STREAM_TEST(title)                                                                                             \
    static void title##_on(void);                                                                                      \
    TEST(title)                                                                                                        \
    {                                                                                                                  \
        static const char *const backends[] = {NULL, "poll"};                                                          \
        for (int i = 0; i < 2; i++) {                                                                                  \
            start(backends[i]);                                                                                        \
            title##_on();                                                                                              \
            stop();                                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void title##_on(void)

static void put(int fd, const char *bytes)
{
    CHECK_INT(strlen(bytes), send(fd, bytes, strlen(bytes), MSG_NOSIGNAL));
}

/* Closes with a reset instead of an end. */
static void reset(int *fd)
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

/* What the peer can read now. */
#define CHECK_HEARD(expected)                                                                                          \
    do {                                                                                                               \
        char heard[256];                                                                                               \
        ssize_t count = read(peer, heard, sizeof heard);                                                               \
        CHECK(count >= 0);                                                                                             \
        CHECK_BYTES(expected, heard, (size_t)count);                                                                   \
    } while (0)

/* Reads what comes, and turns, until nothing more does. Its length. */
static size_t drain(int fd, unsigned char *sum)
{
    static char bytes[65536];
    size_t length = 0;
    ssize_t count;

    while ((count = read(fd, bytes, sizeof bytes)) > 0 || (turn(), (count = read(fd, bytes, sizeof bytes)) > 0)) {
        length += (size_t)count;
        for (ssize_t i = 0; i < count; i++)
            *sum = (unsigned char)(*sum * 31 + (unsigned char)bytes[i]);
    }
    return length;
}

/* ---- receiving ------------------------------------------------------------------------------------------------ */

STREAM_TEST(bytes_are_received_as_they_come)
{
    open_pair(&owner, &peer);
    CHECK_RECEIVES(PEL_EAGAIN);
    put(peer, "one");
    turn();
    CHECK(owner.events & PEL_READABLE);
    CHECK_RECEIVED("one", 100);
    CHECK_RECEIVES(PEL_EAGAIN);
    put(peer, "two");
    put(peer, "three");
    turn();
    CHECK_RECEIVED("twot", 4);
    CHECK_RECEIVED("hree", 100);
    CHECK_RECEIVES(PEL_EAGAIN);
}

STREAM_TEST(after_a_short_read_what_comes_next_is_told)
{
    open_tcp(&owner, &peer);
    for (int i = 0; i < 5; i++) {
        put(peer, "abc");
        turn();
        CHECK_RECEIVED("abc", 100);
        CHECK_INT(0, owner.stream.readable); /* no second read to find out */
        owner.events = 0;
        put(peer, "def"); /* before the loop looks again */
        CHECK_RECEIVES(PEL_EAGAIN);
        turn();
        CHECK(owner.events & PEL_READABLE);
        CHECK_RECEIVED("def", 100);
    }
}

STREAM_TEST(a_full_read_leaves_the_rest_readable)
{
    open_pair(&owner, &peer);
    put(peer, "abcdef");
    turn();
    CHECK_RECEIVED("abcdef", 6);
    CHECK_INT(1, owner.stream.readable);
    CHECK_RECEIVES(PEL_EAGAIN);
    put(peer, "g");
    turn();
    CHECK_RECEIVED("g", 100);
}

STREAM_TEST(the_end_comes_after_the_bytes_before_it)
{
    open_tcp(&owner, &peer);
    put(peer, "last");
    close(peer);
    peer = -1;
    turn();
    CHECK(owner.events & PEL_HANGUP);
    CHECK_RECEIVED("la", 2);
    CHECK_RECEIVED("st", 100);
    CHECK_RECEIVES(0);
    CHECK_RECEIVES(0);
    CHECK_INT(0, owner.stream.error);
}

STREAM_TEST(the_end_that_was_there_before_the_stream)
{
    int fds[2];

    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    put(fds[1], "early");
    close(fds[1]);
    open_one(&owner, fds[0]);
    CHECK_RECEIVED("early", 100);
    turn();
    CHECK_RECEIVES(0);
}

STREAM_TEST(a_reset_comes_after_the_bytes_before_it)
{
    open_tcp(&owner, &peer);
    put(peer, "last");
    turn();
    reset(&peer);
    turn();
    CHECK_RECEIVED("last", 100);
    CHECK_RECEIVES(PEL_ESYSTEM);
    CHECK_INT(ECONNRESET, owner.stream.error);
    CHECK_RECEIVES(PEL_ESYSTEM);
}

/* A read stops before an urgent byte: what follows it must not be forgotten. */
STREAM_TEST(urgent_data_hides_nothing)
{
    open_tcp(&owner, &peer);
    put(peer, "abc");
    CHECK_INT(1, send(peer, "!", 1, MSG_OOB));
    put(peer, "def");
    turn();
    CHECK_RECEIVED("abc", 100);
    CHECK_INT(1, owner.stream.readable);
    CHECK_RECEIVED("def", 100);
    CHECK_RECEIVES(PEL_EAGAIN);
    put(peer, "g");
    turn();
    CHECK_RECEIVED("g", 100);
}

STREAM_TEST(a_pipe_is_read_to_its_end)
{
    int fds[2];

    CHECK_INT(0, pipe(fds));
    open_one(&owner, fds[0]);
    CHECK_RECEIVES(PEL_EAGAIN);
    CHECK_INT(5, write(fds[1], "bytes", 5));
    turn();
    CHECK_RECEIVED("bytes", 100);
    CHECK_INT(4, write(fds[1], "last", 4));
    close(fds[1]);
    turn();
    CHECK_RECEIVED("last", 100);
    CHECK_RECEIVES(0);
}

/* ---- sending -------------------------------------------------------------------------------------------------- */

STREAM_TEST(what_is_appended_goes_out_together)
{
    open_pair(&owner, &peer);
    owner.stream.tell_sent = 1;
    CHECK_INT(0, pel_stream_append(&owner.stream, "one ", 4));
    CHECK_INT(0, pel_stream_lend(&owner.stream, "two ", 4, 1));
    CHECK_INT(0, pel_stream_append(&owner.stream, "three", 5));
    CHECK_INT(13, pel_stream_pending(&owner.stream));
    pel_stream_flush_later(&owner.stream);
    pel_stream_flush_later(&owner.stream);
    owner.told = 0;
    pel_streams_flush(&loop);
    CHECK_INT(1, owner.told);
    CHECK_INT(0, pel_stream_pending(&owner.stream));
    CHECK_HEARD("one two three");
    pel_streams_flush(&loop);
    CHECK_INT(1, owner.told);
}

STREAM_TEST(what_is_sent_now_waits_for_what_is_queued)
{
    open_pair(&owner, &peer);
    CHECK_INT(3, pel_stream_send_now(&owner.stream, "one", 3));
    CHECK_INT(0, pel_stream_append(&owner.stream, "two", 3));
    CHECK_INT(0, pel_stream_send_now(&owner.stream, "three", 5));
    CHECK_INT(0, pel_stream_flush(&owner.stream));
    CHECK_INT(5, pel_stream_send_now(&owner.stream, "three", 5));
    CHECK_HEARD("onetwothree");
}

/* A mixture of copies and loans, larger than any buffer of the kernel. */
STREAM_TEST(output_goes_on_when_the_peer_reads)
{
    enum { SIZE = 3000000 };
    static char large[SIZE];
    unsigned char sent = 0, heard = 0;
    size_t length = 0;

    for (int i = 0; i < SIZE; i++)
        large[i] = (char)(i % 249);
    open_pair(&owner, &peer);
    owner.stream.tell_sent = 1;
    for (int round = 0; round < 3; round++) {
        CHECK_INT(0, pel_stream_append(&owner.stream, large, 100000));
        CHECK_INT(0, pel_stream_lend(&owner.stream, large, SIZE, 1));
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
    owner.told = 0;
    CHECK_INT(length, drain(peer, &heard));
    CHECK_INT(sent, heard);
    CHECK(owner.told > 1);
    CHECK_INT(0, pel_stream_pending(&owner.stream));
    CHECK_POINTER(NULL, owner.stream.loans.first);
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

/* However fast the peer reads, other streams come in between. */
STREAM_TEST(one_flush_sends_a_burst_at_most)
{
    enum { SIZE = 20 << 20 };
    char *large = calloc(1, SIZE);
    pthread_t reader;
    size_t pending;
    void *length;

    open_tcp(&owner, &peer);
    CHECK_INT(0, pthread_create(&reader, NULL, read_to_the_end, &peer));
    CHECK_INT(0, pel_stream_lend(&owner.stream, large, SIZE, 1));
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
    CHECK_INT(PEL_ECLOSED, pel_stream_lend(&owner.stream, "more", 4, 1));
    CHECK_INT(PEL_ECLOSED, pel_stream_send_now(&owner.stream, "more", 4));
    CHECK_INT(0, pel_stream_close_write(&owner.stream));
    turn();
    CHECK_HEARD("bye");
    CHECK_HEARD("");
    put(peer, "answer");
    turn();
    CHECK_RECEIVED("answer", 100);
}

STREAM_TEST(a_half_close_waits_for_a_slow_peer)
{
    enum { SIZE = 3000000 };
    static char large[SIZE];
    unsigned char sum = 0;

    open_pair(&owner, &peer);
    CHECK_INT(0, pel_stream_lend(&owner.stream, large, SIZE, 1));
    CHECK_INT(0, pel_stream_close_write(&owner.stream));
    CHECK_INT(0, owner.stream.write_shut);
    CHECK_INT(SIZE, drain(peer, &sum));
    CHECK_INT(1, owner.stream.write_shut);
    CHECK_HEARD("");
}

STREAM_TEST(a_failed_write_is_told_and_hides_nothing_of_what_came_before)
{
    open_tcp(&owner, &peer);
    turn();
    put(peer, "go away");
    turn();
    reset(&peer);
    owner.told = 0;
    CHECK_INT(0, pel_stream_append(&owner.stream, "more", 4));
    pel_stream_flush_later(&owner.stream);
    pel_streams_flush(&loop); /* before the loop tells */
    CHECK_INT(1, owner.told);
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
    CHECK_INT(0, pel_stream_lend(&owner.stream, "two", 3, 1));
    CHECK_INT(0, pel_stream_flush(&owner.stream));
    CHECK_INT(1, owner.stream.plain);
    CHECK_HEARD("one two");
}

/* ---- opening and closing -------------------------------------------------------------------------------------- */

STREAM_TEST(a_refused_connection_is_told_as_writable)
{
    struct sockaddr_in address;
    int listener = tcp_listener(&address);

    close(listener);
    prepare(&owner);
    CHECK_INT(0, pel_stream_connect(&owner.stream, &loop, (struct sockaddr *)&address, sizeof address, NULL, 0));
    CHECK_INT(0, pel_stream_append(&owner.stream, "x", 1));
    CHECK_INT(1, pel_stream_flush(&owner.stream));
    turn();
    CHECK(owner.events & PEL_WRITABLE);
    CHECK_INT(0, owner.stream.connecting);
    CHECK_INT(ECONNREFUSED, owner.stream.error);
    CHECK_INT(PEL_ESYSTEM, pel_stream_flush(&owner.stream));
    CHECK_RECEIVES(PEL_ESYSTEM);
    CHECK_INT(ECONNREFUSED, owner.stream.error);
}

STREAM_TEST(what_was_queued_while_connecting_is_sent_then)
{
    struct sockaddr_in address;
    int listener = tcp_listener(&address);

    prepare(&owner);
    CHECK_INT(0, pel_stream_connect(&owner.stream, &loop, (struct sockaddr *)&address, sizeof address, NULL, 0));
    CHECK_INT(0, pel_stream_append(&owner.stream, "early", 5));
    turn();
    peer = pel_socket_accept(listener);
    close(listener);
    CHECK_HEARD("early");
}

STREAM_TEST(a_connection_that_fails_at_once_leaves_nothing_open)
{
    struct sockaddr address = {.sa_family = 9999};

    prepare(&owner);
    CHECK_INT(PEL_ESYSTEM, pel_stream_connect(&owner.stream, &loop, &address, sizeof address, NULL, 0));
    CHECK_INT(EAFNOSUPPORT, errno);
    CHECK(!pel_stream_open_p(&owner.stream));
}

STREAM_TEST(a_descriptor_that_is_none_stays_the_callers)
{
    prepare(&owner);
    CHECK_INT(PEL_ESYSTEM, pel_stream_open(&owner.stream, &loop, 1000));
    CHECK_INT(EBADF, errno);
    CHECK(!pel_stream_open_p(&owner.stream));
}

STREAM_TEST(a_closed_stream_does_nothing)
{
    open_pair(&owner, &peer);
    CHECK_INT(0, pel_stream_append(&owner.stream, "lost", 4));
    CHECK_INT(0, pel_stream_lend(&owner.stream, "lost", 4, 1));
    pel_stream_flush_later(&owner.stream);
    put(peer, "lost");
    CHECK_INT(0, pel_loop_wait(&loop, 0));
    pel_stream_close(&owner.stream);
    pel_stream_close(&owner.stream);
    CHECK_INT(0, pel_stream_pending(&owner.stream));
    CHECK_RECEIVES(PEL_ECLOSED);
    CHECK_INT(PEL_ECLOSED, pel_stream_append(&owner.stream, "x", 1));
    CHECK_INT(PEL_ECLOSED, pel_stream_close_write(&owner.stream));
    owner.told = 0;
    turn();
    CHECK_INT(0, owner.told);
    CHECK(read(peer, &(char){0}, 1) <= 0); /* nothing was sent */
}

STREAM_TEST(a_detached_descriptor_is_open_and_silent)
{
    int fd;

    open_pair(&owner, &peer);
    pel_stream_append(&owner.stream, "lost", 4);
    pel_stream_flush_later(&owner.stream);
    fd = pel_stream_detach(&owner.stream);
    put(peer, "x");
    turn();
    CHECK_INT(0, owner.told);
    put(fd, "still open");
    CHECK_HEARD("still open");
    close(fd);
}
