#include "check.h"
#include "tls/pair.h"

CONNECTED_TEST(two_ends_complete_the_handshake_and_exchange_data)
{
    struct pel_tls_info info;

    send_text(&client, "hello");
    send_text(&server, "world");
    carry_until_quiet();
    check_receives(&server, "hello");
    check_receives(&client, "world");
    CHECK_INT(1, pel_tls_info(&client.stream, &info));
    CHECK_STRING("TLSv1.3", info.protocol);
    CHECK_INT(1, info.verified);
    CHECK_INT(1, pel_tls_info(&server.stream, &info));
    CHECK_STRING("pelton.test", info.name);
    CHECK(info.bits >= 128);
}

CONNECTED_TEST(close_notify_is_the_end_of_file)
{
    send_text(&client, "last");
    CHECK_INT(0, pel_stream_close_write(&client.stream));
    carry_until_quiet();
    check_receives(&server, "last");
    CHECK_INT(0, pel_stream_receive(&server.stream, (char[1]){0}, 1));
    /* The other direction is still open. */
    send_text(&server, "answer");
    carry_until_quiet();
    check_receives(&client, "answer");
}

CONNECTED_TEST(an_end_without_close_notify_is_an_error_after_the_received_bytes)
{
    send_text(&client, "half of it");
    run_loops();
    carry(&client, &server, SIZE_MAX);
    shutdown(server.far, SHUT_WR);
    run_loops();
    check_receives(&server, "half of it");
    CHECK_INT(PEL_ESYSTEM, pel_stream_receive(&server.stream, (char[1]){0}, 1));
    CHECK_INT(PEL_ETRUNCATED, server.failure.code);
    CHECK_INT(PEL_ESYSTEM, pel_stream_receive(&server.stream, (char[1]){0}, 1));
}

CONNECTED_TEST(a_changed_byte_is_an_error)
{
    char bytes[1000];
    ssize_t count;

    send_text(&client, "money");
    run_loops();
    count = read(client.far, bytes, sizeof bytes);
    CHECK(count > 5);
    bytes[count - 1] ^= 1;
    CHECK_INT(count, write(server.far, bytes, (size_t)count));
    run_loops();
    CHECK_INT(PEL_ESYSTEM, pel_stream_receive(&server.stream, (char[1]){0}, 1));
    CHECK_INT(PEL_ETLS, server.failure.code);
}

TEST(megabytes_pass_in_order_and_in_bounded_memory)
{
    enum { ALL = 3 * 1024 * 1024 };
    char *bytes = malloc(ALL), *back = malloc(ALL);
    size_t got = 0, most = 0;

    for (size_t i = 0; i < ALL; i++)
        bytes[i] = (char)(i * 7 + i / 1000);
    connect_ends();
    CHECK_INT(0, pel_stream_append_borrowed(&client.stream, bytes, ALL - 1000, 0, NULL));
    CHECK_INT(0, pel_stream_append(&client.stream, bytes + ALL - 1000, 1000));
    pel_stream_flush_later(&client.stream);
    while (got < ALL) {
        ssize_t count;
        run_loops();
        carry(&client, &server, SIZE_MAX);
        run_loops();
        while ((count = pel_stream_receive(&server.stream, back + got, ALL - got)) > 0)
            got += (size_t)count;
        CHECK(got == ALL || count == PEL_EAGAIN);
        if (client.stream.layer->sealed.capacity > most)
            most = client.stream.layer->sealed.capacity;
    }
    CHECK(memcmp(bytes, back, ALL) == 0);
    CHECK(most <= 256 * 1024);
    CHECK_INT(0, pel_stream_pending(&client.stream));
    disconnect_ends();
    free(bytes);
    free(back);
}

TEST(send_now_sends_as_much_as_the_descriptor_takes)
{
    enum { ALL = 1024 * 1024 };
    char *bytes = calloc(1, ALL);
    ssize_t taken;

    connect_ends();
    taken = pel_stream_send_now(&client.stream, bytes, ALL);
    CHECK(taken > 0 && taken < ALL);
    CHECK(pel_stream_pending(&client.stream) > 0 && pel_stream_pending(&client.stream) <= 65536);
    CHECK_INT(0, pel_stream_send_now(&client.stream, bytes, ALL));
    disconnect_ends();
    free(bytes);
}

CONNECTED_TEST(small_reads_receive_a_record_in_pieces)
{
    char byte;

    send_text(&client, "abc");
    carry_until_quiet();
    for (const char *expected = "abc"; *expected; expected++) {
        CHECK(pel_stream_receivable_p(&server.stream));
        CHECK_INT(1, pel_stream_receive(&server.stream, &byte, 1));
        CHECK_INT(*expected, byte);
    }
    CHECK_INT(PEL_EAGAIN, pel_stream_receive(&server.stream, &byte, 1));
    CHECK(!pel_stream_receivable_p(&server.stream));
}

TEST(a_client_resumes_its_session_once)
{
    make_contexts();
    for (int i = 0; i < 3; i++)
        CHECK_INT(i > 0, resumes("pelton.test:1"));
    drop_contexts();
}

CONNECTED_TEST(tls_cannot_be_started_twice_or_on_a_closed_stream)
{
    struct pel_tls_options options = client_options();

    CHECK_INT(PEL_EARGUMENT, pel_tls_start(&client.stream, client_context, &options, NULL, 0));
    pel_stream_close(&client.stream);
    CHECK_INT(PEL_ECLOSED, pel_tls_start(&client.stream, client_context, &options, NULL, 0));
    CHECK_INT(PEL_ECLOSED, pel_tls_handshake(&client.stream));
}

CONNECTED_TEST(a_layer_moves_to_another_stream_of_the_descriptor)
{
    static struct end other;
    struct pel_layer *layer;
    int fd;

    send_text(&server, "first second");
    carry_until_quiet();
    CHECK_INT(6, pel_stream_receive(&client.stream, (char[6]){0}, 6));
    layer = pel_stream_take_layer(&client.stream);
    fd = pel_stream_detach(&client.stream);
    memset(&other, 0, sizeof other);
    other.stream.handle.slot = PEL_UNREGISTERED;
    other.stream.on_ready = continue_handshake;
    CHECK_INT(0, pel_stream_open(&other.stream, &loop, fd));
    other.stream.readable = 0; /* giving the layer makes the stream readable, since the layer holds bytes */
    pel_stream_give_layer(&other.stream, layer);
    CHECK(pel_stream_receivable_p(&other.stream));
    check_receives(&other, "second");
    other.far = client.far;
    send_text(&other, "answer");
    do
        run_loops();
    while (carry(&other, &server, SIZE_MAX));
    check_receives(&server, "answer");
    pel_stream_close(&other.stream);
    pel_stream_give_layer(&other.stream, NULL);
    pel_layer_drop(NULL);
}
