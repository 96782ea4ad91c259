#include "check.h"
#include "core/stream/carrier.h"

#include <errno.h>
#include "core/stream/stream.h"

/* A carrier that takes a few bytes at a time, and gives what the test has put there. */

struct cart {
    struct pel_carrier carrier; /* first */
    struct pel_buffer sent, coming;
    size_t room; /* bytes that it still takes */
    int shut, closed, unsent, freed;
};

static struct pel_loop loop;
static struct pel_stream stream;
static struct cart cart;
static unsigned notified;

static ssize_t receive(struct pel_stream *from, void *bytes, size_t length)
{
    size_t count = pel_buffer_length(&cart.coming);

    CHECK_POINTER(&cart, from->carrier);
    if (count > length)
        count = length;
    if (!count) {
        from->readable = 0;
        return PEL_EAGAIN;
    }
    memcpy(bytes, pel_buffer_head(&cart.coming), count);
    pel_buffer_consume(&cart.coming, count);
    return (ssize_t)count;
}

static ssize_t send_parts(struct pel_stream *to, struct iovec *parts, int count)
{
    size_t length = parts->iov_len < cart.room ? parts->iov_len : cart.room;

    CHECK(count > 0);
    if (!length) {
        to->writable = 0;
        return PEL_EAGAIN;
    }
    pel_buffer_append(&cart.sent, parts->iov_base, length);
    cart.room -= length;
    return (ssize_t)length;
}

static void shut(struct pel_stream *ended)
{
    cart.shut++;
}

static void note_close(struct pel_stream *closed, int unsent)
{
    cart.closed++;
    cart.unsent = unsent;
}

static void note_free(struct pel_carrier *carrier)
{
    cart.freed++;
}

static const struct pel_carrier_type type = {
    .receive = receive, .send = send_parts, .shut = shut, .close = note_close, .free = note_free};

static void note(struct pel_stream *ready, unsigned events)
{
    notified |= events;
}

static void open_stream(void)
{
    notified = 0;
    memset(&stream, 0, sizeof stream);
    stream.on_ready = note;
    cart = (struct cart){.carrier.type = &type, .room = 4};
    CHECK_INT(0, pel_loop_open(&loop, NULL));
    pel_stream_open_carried(&stream, &loop, &cart.carrier, 2);
}

static void close_stream(void)
{
    pel_stream_free_carrier(&stream);
    CHECK_INT(1, cart.freed);
    CHECK(!pel_stream_open_p(&stream));
    pel_buffer_free(&cart.sent);
    pel_buffer_free(&cart.coming);
    pel_loop_close(&loop);
}

#define CARRIER_TEST(title) TEST_BETWEEN(open_stream(), title, close_stream())

CARRIER_TEST(output_goes_as_the_carrier_has_room)
{
    CHECK_INT(0, pel_stream_append(&stream, "abcdef", 6));
    CHECK_INT(1, pel_stream_flush(&stream));
    CHECK_BYTES("abcd", pel_buffer_head(&cart.sent), pel_buffer_length(&cart.sent));
    CHECK_INT(2, pel_stream_pending(&stream));
    cart.room = 10;
    pel_stream_carried(&stream, PEL_WRITABLE);
    CHECK_BYTES("abcdef", pel_buffer_head(&cart.sent), pel_buffer_length(&cart.sent));
    CHECK_INT(PEL_WRITABLE, notified);
}

CARRIER_TEST(the_end_follows_the_output)
{
    CHECK_INT(0, pel_stream_append(&stream, "abcdef", 6));
    CHECK_INT(0, pel_stream_close_write(&stream));
    CHECK_INT(0, cart.shut);
    cart.room = 10;
    pel_stream_carried(&stream, PEL_WRITABLE);
    CHECK_INT(1, cart.shut);
}

CARRIER_TEST(what_has_come_is_received)
{
    char bytes[10];

    CHECK_INT(PEL_EAGAIN, pel_stream_receive(&stream, bytes, sizeof bytes));
    pel_buffer_append(&cart.coming, "abc", 3);
    CHECK_INT(PEL_EAGAIN, pel_stream_receive(&stream, bytes, sizeof bytes)); /* nobody has told the stream */
    pel_stream_carried(&stream, PEL_READABLE);
    CHECK_INT(PEL_READABLE, notified);
    CHECK_INT(3, pel_stream_receive(&stream, bytes, sizeof bytes));
}

CARRIER_TEST(a_close_tells_whether_output_was_dropped)
{
    CHECK_INT(0, pel_stream_append(&stream, "abcdef", 6));
    pel_stream_close(&stream);
    CHECK_INT(1, cart.closed);
    CHECK(cart.unsent);
}

CARRIER_TEST(a_close_when_all_was_sent)
{
    CHECK_INT(0, pel_stream_append(&stream, "ab", 2));
    CHECK_INT(0, pel_stream_flush(&stream));
    pel_stream_close(&stream);
    pel_stream_close(&stream);
    CHECK_INT(1, cart.closed);
    CHECK(!cart.unsent);
}

CARRIER_TEST(a_carrier_that_is_freed_hears_of_no_close)
{
    CHECK_INT(0, cart.closed);
}

CARRIER_TEST(files_are_not_sent_past_it)
{
    off_t offset = 0;

    CHECK_INT(PEL_ESYSTEM, pel_stream_send_file(&stream, 0, &offset, 1));
    CHECK_INT(EINVAL, errno);
}
