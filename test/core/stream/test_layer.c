#include "check.h"
#include "core/stream/layer.h"

#include <errno.h>
#include <sys/socket.h>
#include "core/stream/stream.h"

/* A layer that inverts the bits of each byte, and ends its output with a '.'. */

static struct pel_loop loop;
static struct pel_stream stream;
static struct pel_layer layer;
static int peer, freed;

static ssize_t receive_inverted(struct pel_stream *from, void *bytes, size_t length)
{
    ssize_t count = pel__stream_receive(from, bytes, length);

    for (ssize_t i = 0; i < count; i++)
        ((char *)bytes)[i] = (char)~((char *)bytes)[i];
    return count;
}

static int seal_inverted(struct pel_stream *to, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        CHECK_INT(0, pel_buffer_append(&to->layer->sealed, &(char){(char)~((const char *)bytes)[i]}, 1));
    return 0;
}

static void end_with_dot(struct pel_stream *ended)
{
    CHECK_INT(0, pel_buffer_append(&ended->layer->sealed, ".", 1));
}

static void count_free(struct pel_layer *gone)
{
    CHECK_POINTER(&layer, gone);
    freed++;
}

static const struct pel_layer_type type = {
    .receive = receive_inverted, .seal = seal_inverted, .end = end_with_dot, .free = count_free};

static void ignore(struct pel_stream *notified, unsigned events)
{
}

static void open_stream(void)
{
    int fds[2];

    freed = 0;
    memset(&stream, 0, sizeof stream);
    stream.handle.slot = PEL_UNREGISTERED;
    stream.on_ready = ignore;
    layer = (struct pel_layer){.type = &type};
    CHECK_INT(0, pel_loop_open(&loop, NULL));
    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    CHECK_INT(0, pel_socket_prepare(fds[0]));
    CHECK_INT(0, pel_socket_prepare(fds[1]));
    CHECK_INT(0, pel_stream_open(&stream, &loop, fds[0]));
    peer = fds[1];
}

static void close_stream(void)
{
    pel_stream_close(&stream);
    close(peer);
    pel_loop_close(&loop);
}

static void put_on_open(void)
{
    CHECK_INT(0, pel__layer_put_on(&stream, &layer));
    layer.open = 1;
}

static void check_peer(const char *expected)
{
    char bytes[100];
    ssize_t count = read(peer, bytes, sizeof bytes);

    CHECK(count >= 0);
    CHECK_BYTES(expected, bytes, (size_t)count);
}

TEST(output_queued_before_the_layer_is_not_sealed_and_later_output_is)
{
    open_stream();
    CHECK_INT(0, pel_stream_append(&stream, "pl", 2));
    CHECK_INT(0, pel_stream_append_borrowed(&stream, "ain", 3, 0, NULL));
    CHECK_INT(0, pel__layer_put_on(&stream, &layer));
    CHECK_INT(5, pel_stream_pending(&stream));
    layer.open = 1;
    CHECK_INT(0, pel_stream_append(&stream, "\x9e\x9d", 2));
    CHECK_INT(7, pel_stream_pending(&stream));
    CHECK_INT(0, pel_stream_flush(&stream));
    check_peer("plainab");
    CHECK_INT(0, pel_stream_pending(&stream));
    close_stream();
    CHECK_INT(1, freed);
}

#define LAYER_TEST(title) TEST_BETWEEN(open_stream(), title, close_stream())

LAYER_TEST(before_the_layer_is_open_output_stays_queued_and_reads_would_block)
{
    char byte;

    CHECK_INT(0, pel__layer_put_on(&stream, &layer));
    CHECK_INT(1, write(peer, "\x9e", 1));
    CHECK_INT(PEL_EAGAIN, pel_stream_receive(&stream, &byte, 1));
    CHECK(!pel_stream_receivable_p(&stream));
    CHECK_INT(0, pel_stream_append(&stream, "\x9e", 1));
    CHECK_INT(1, pel_stream_flush(&stream));
    CHECK_INT(0, pel_stream_send_now(&stream, "x", 1));
    CHECK_INT(0, pel_stream_close_write(&stream));
    CHECK(!stream.write_shut);
    layer.open = 1;
    CHECK_INT(0, pel_stream_flush(&stream));
    check_peer("a.");
    check_peer("");
    CHECK_INT(1, pel_stream_receive(&stream, &byte, 1));
    CHECK_INT('a', byte);
}

LAYER_TEST(a_stream_that_waits_for_its_layer_is_not_flushed_again)
{
    CHECK_INT(0, pel__layer_put_on(&stream, &layer));
    CHECK_INT(0, pel_stream_append(&stream, "x", 1));
    pel_stream_flush_later(&stream);
    pel_streams_flush(&loop);
    CHECK_POINTER(NULL, loop.flush_list);
}

TEST(a_limited_number_of_bytes_is_sealed_in_advance)
{
    char *bytes = calloc(1, 1024 * 1024);

    open_stream();
    put_on_open();
    CHECK_INT(0, pel_stream_append_borrowed(&stream, bytes, 1024 * 1024, 0, NULL));
    CHECK_INT(1, pel_stream_flush(&stream));
    CHECK(!stream.writable);
    CHECK(pel_buffer_length(&layer.sealed) <= 65536);
    CHECK(pel_stream_pending(&stream) > 0);
    close_stream();
    free(bytes);
}

LAYER_TEST(a_final_message_that_the_peer_does_not_receive_is_no_error)
{
    put_on_open();
    close(peer);
    CHECK_INT(0, pel_stream_close_write(&stream));
    CHECK_INT(0, stream.error);
    CHECK(!pel_stream_unsent_p(&stream));
}

LAYER_TEST(output_that_the_peer_does_not_receive_is_an_error)
{
    put_on_open();
    close(peer);
    CHECK_INT(0, pel_stream_append(&stream, "x", 1));
    CHECK_INT(PEL_ESYSTEM, pel_stream_close_write(&stream));
    CHECK_INT(EPIPE, stream.error);
}

LAYER_TEST(a_stream_whose_write_side_is_shut_lingers_until_its_peer_has_everything)
{
    put_on_open();
    CHECK_INT(0, pel_stream_append(&stream, "\x9e", 1));
    CHECK_INT(0, pel_stream_lingers(&stream)); /* its write side is open */
    CHECK_INT(0, pel_stream_close_write(&stream));
    CHECK_INT(3, write(peer, "abc", 3));
    CHECK(pel_stream_lingers(&stream) > 0);
    CHECK_INT(0, pel_socket_unread(stream.handle.fd)); /* what came was discarded */
    check_peer("a.");
    CHECK_INT(0, pel_stream_lingers(&stream));
}

LAYER_TEST(a_stream_does_not_linger_for_a_peer_that_has_ended)
{
    put_on_open();
    CHECK_INT(0, pel_stream_close_write(&stream));
    CHECK_INT(0, shutdown(peer, SHUT_WR));
    CHECK_INT(0, pel_stream_lingers(&stream));
}
