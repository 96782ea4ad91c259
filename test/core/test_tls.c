#include "check.h"

#ifndef HAVE_OPENSSL_SSL_H
TEST(without_openssl_there_is_nothing_to_test)
{
    SKIP("no OpenSSL");
}
#else

#include "tls_pair.h"

TEST(two_ends_shake_hands_and_talk)
{
    struct pel_tls_facts facts;

    connect_ends();
    send_text(&client, "hello");
    send_text(&server, "world");
    settle();
    check_receives(&server, "hello");
    check_receives(&client, "world");
    CHECK_INT(1, pel_tls_facts(&client.stream, &facts));
    CHECK_STRING("TLSv1.3", facts.protocol);
    CHECK_INT(1, facts.verified);
    CHECK_INT(1, pel_tls_facts(&server.stream, &facts));
    CHECK_STRING("pelton.test", facts.name);
    CHECK(facts.bits >= 128);
    disconnect_ends();
}

TEST(what_is_written_before_the_handshake_is_done_goes_out_after_it)
{
    make_contexts();
    open_ends();
    begin(client_options(), server_options());
    send_text(&client, "early");
    CHECK_INT(5, pel_stream_pending(&client.stream));
    settle();
    CHECK_INT(0, pel_stream_pending(&client.stream));
    check_receives(&server, "early");
    disconnect_ends();
}

TEST(what_was_queued_before_goes_out_as_it_is)
{
    struct pel_tls_options options = client_options();
    char bytes[8];

    make_contexts();
    open_ends();
    CHECK_INT(0, pel_stream_append(&client.stream, "START", 5));
    CHECK_INT(0, pel_stream_lend(&client.stream, "TLS", 3, 0));
    CHECK_INT(0, pel_tls_start(&client.stream, client_context, &options, NULL, 0));
    CHECK_INT(8, pel_stream_pending(&client.stream));
    CHECK_INT(PEL_EAGAIN, pel_tls_handshake(&client.stream));
    CHECK_INT(8, read(client.far, bytes, 8));
    CHECK_BYTES("STARTTLS", bytes, 8);
    CHECK_INT(0, pel_stream_pending(&client.stream));
    disconnect_ends();
}

TEST(bytes_that_came_early_belong_to_the_handshake)
{
    struct pel_tls_options options = server_options(), from = client_options();
    char hello[4096];
    ssize_t length;

    make_contexts();
    open_ends();
    CHECK_INT(0, pel_tls_start(&client.stream, client_context, &from, NULL, 0));
    client.handshake = pel_tls_handshake(&client.stream);
    length = read(client.far, hello, sizeof hello);
    CHECK(length > 0);
    CHECK_INT(0, pel_tls_start(&server.stream, server_context, &options, hello, (size_t)length));
    server.handshake = pel_tls_handshake(&server.stream);
    settle();
    CHECK_INT(0, client.handshake);
    CHECK_INT(0, server.handshake);
    disconnect_ends();
}

/* Plain text in place of a handshake, as one who injects commands before STARTTLS would send it. */
TEST(plain_text_is_no_handshake)
{
    struct pel_tls_options options = client_options();

    make_contexts();
    open_ends();
    CHECK_INT(0, pel_tls_start(&client.stream, client_context, &options, "250 injected\r\n", 14));
    CHECK_INT(PEL_ESYSTEM, pel_tls_handshake(&client.stream));
    CHECK_INT(PEL_ETLS, client.failure.code);
    CHECK(strstr(client.failure.text, "does not speak TLS"));
    disconnect_ends();
}

/* One direction is cut in two at `split`: all that fits before it, a turn, and the rest. */
static void talk_split_at(struct end *from, struct end *to, size_t split)
{
    size_t moved;

    open_ends();
    begin(client_options(), server_options());
    send_text(&client, "question");
    send_text(&server, "answer");
    do {
        turn();
        moved = carry(from, to, split - from->carried) + carry(to, from, SIZE_MAX);
    } while (moved);
    settle();
    if (client.handshake || server.handshake)
        CHECK_FAIL("split at %zu: %s %s", split, client.failure.text, server.failure.text);
    check_receives(&server, "question");
    check_receives(&client, "answer");
}

static void split_all(struct end *from, struct end *to)
{
    size_t all;

    make_contexts();
    talk_split_at(from, to, 0);
    all = from->carried;
    close_ends();
    CHECK(all > 200);
    for (size_t split = 1; split < all; split++) {
        talk_split_at(from, to, split);
        close_ends();
    }
    drop_contexts();
}

TEST(what_a_client_sends_may_come_in_any_two_pieces)
{
    split_all(&client, &server);
}

TEST(what_a_server_sends_may_come_in_any_two_pieces)
{
    split_all(&server, &client);
}

/* Until nothing moves any more, byte by byte; what an end is told is added to its text. */
static void carry_bytes(char *at_server, char *at_client)
{
    ssize_t count;

    do {
        turn();
        if ((count = pel_stream_receive(&server.stream, at_server, 100)) > 0)
            at_server += count;
        if ((count = pel_stream_receive(&client.stream, at_client, 100)) > 0)
            at_client += count;
    } while (carry(&client, &server, 1) + carry(&server, &client, 1));
}

TEST(every_byte_may_come_alone)
{
    char at_server[200] = "", at_client[200] = "";

    make_contexts();
    open_ends();
    begin(client_options(), server_options());
    send_text(&client, "question");
    send_text(&server, "answer");
    carry_bytes(at_server, at_client);
    CHECK_STRING("question", at_server);
    CHECK_STRING("answer", at_client);
    disconnect_ends();
}

TEST(a_certificate_for_another_name_is_refused)
{
    struct pel_tls_options options = client_options();

    options.name = "other.test";
    make_contexts();
    open_ends();
    begin(options, server_options());
    settle();
    CHECK_INT(PEL_ESYSTEM, client.handshake);
    CHECK_INT(PEL_EUNTRUSTED, client.failure.code);
    CHECK(strstr(client.failure.text, "other.test"));
    CHECK_INT(EPROTO, client.stream.error);
    disconnect_ends();
}

TEST(an_address_is_compared_with_the_certificates_addresses)
{
    struct pel_tls_options options = client_options();

    options.name = "127.0.0.1";
    make_contexts();
    open_ends();
    begin(options, server_options());
    settle();
    CHECK_INT(0, client.handshake);
    close_ends();
    options.name = "127.0.0.2";
    open_ends();
    begin(options, server_options());
    settle();
    CHECK_INT(PEL_EUNTRUSTED, client.failure.code);
    disconnect_ends();
}

TEST(a_certificate_that_nobody_vouches_for_is_refused)
{
    make_contexts();
    pel_tls_context_release(client_context);
    client_context = pel_tls_context_new();
    open_ends();
    begin(client_options(), server_options());
    settle();
    CHECK_INT(PEL_EUNTRUSTED, client.failure.code);
    CHECK(strstr(client.failure.text, "ca_file:"));
    disconnect_ends();
}

TEST(a_farewell_is_the_end_of_file)
{
    connect_ends();
    send_text(&client, "last");
    CHECK_INT(0, pel_stream_close_write(&client.stream));
    settle();
    check_receives(&server, "last");
    CHECK_INT(0, pel_stream_receive(&server.stream, (char[1]){0}, 1));
    /* The other direction is open still. */
    send_text(&server, "answer");
    settle();
    check_receives(&client, "answer");
    disconnect_ends();
}

TEST(an_end_without_a_farewell_is_an_error_behind_what_came)
{
    connect_ends();
    send_text(&client, "half of it");
    turn();
    carry(&client, &server, SIZE_MAX);
    shutdown(server.far, SHUT_WR);
    turn();
    check_receives(&server, "half of it");
    CHECK_INT(PEL_ESYSTEM, pel_stream_receive(&server.stream, (char[1]){0}, 1));
    CHECK_INT(PEL_ETRUNCATED, server.failure.code);
    CHECK_INT(PEL_ESYSTEM, pel_stream_receive(&server.stream, (char[1]){0}, 1));
    disconnect_ends();
}

TEST(a_changed_byte_is_an_error)
{
    char bytes[1000];
    ssize_t count;

    connect_ends();
    send_text(&client, "money");
    turn();
    count = read(client.far, bytes, sizeof bytes);
    CHECK(count > 5);
    bytes[count - 1] ^= 1;
    CHECK_INT(count, write(server.far, bytes, (size_t)count));
    turn();
    CHECK_INT(PEL_ESYSTEM, pel_stream_receive(&server.stream, (char[1]){0}, 1));
    CHECK_INT(PEL_ETLS, server.failure.code);
    disconnect_ends();
}

TEST(much_goes_through_in_order_and_in_bounded_memory)
{
    enum { ALL = 3 * 1024 * 1024 };
    char *bytes = malloc(ALL), *back = malloc(ALL);
    size_t got = 0, most = 0;

    for (size_t i = 0; i < ALL; i++)
        bytes[i] = (char)(i * 7 + i / 1000);
    connect_ends();
    CHECK_INT(0, pel_stream_lend(&client.stream, bytes, ALL - 1000, 0));
    CHECK_INT(0, pel_stream_append(&client.stream, bytes + ALL - 1000, 1000));
    pel_stream_flush_later(&client.stream);
    while (got < ALL) {
        ssize_t count;
        turn();
        carry(&client, &server, SIZE_MAX);
        turn();
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

TEST(sending_at_once_takes_what_the_descriptor_takes)
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

TEST(small_reads_take_a_record_piece_by_piece)
{
    char byte;

    connect_ends();
    send_text(&client, "abc");
    settle();
    for (const char *expected = "abc"; *expected; expected++) {
        CHECK(pel_stream_receivable_p(&server.stream));
        CHECK_INT(1, pel_stream_receive(&server.stream, &byte, 1));
        CHECK_INT(*expected, byte);
    }
    CHECK_INT(PEL_EAGAIN, pel_stream_receive(&server.stream, &byte, 1));
    CHECK(!pel_stream_receivable_p(&server.stream));
    disconnect_ends();
}

TEST(a_client_resumes_its_session_once)
{
    struct pel_tls_options options = client_options();
    struct pel_tls_facts facts;

    options.session = "pelton.test:1";
    make_contexts();
    for (int i = 0; i < 3; i++) {
        open_ends();
        begin(options, server_options());
        send_text(&server, "x");
        settle();
        check_receives(&client, "x"); /* the tickets come before it */
        CHECK_INT(1, pel_tls_facts(&client.stream, &facts));
        CHECK_INT(i > 0, facts.resumed);
        close_ends();
    }
    drop_contexts();
}

TEST(there_is_one_layer_of_tls)
{
    struct pel_tls_options options = client_options();

    connect_ends();
    CHECK_INT(PEL_EARGUMENT, pel_tls_start(&client.stream, client_context, &options, NULL, 0));
    pel_stream_close(&client.stream);
    CHECK_INT(PEL_ECLOSED, pel_tls_start(&client.stream, client_context, &options, NULL, 0));
    CHECK_INT(PEL_ECLOSED, pel_tls_handshake(&client.stream));
    disconnect_ends();
}

TEST(a_layer_moves_to_another_stream_of_the_descriptor)
{
    static struct end other;
    struct pel_layer *layer;
    int fd;

    connect_ends();
    send_text(&server, "first second");
    settle();
    CHECK_INT(6, pel_stream_receive(&client.stream, (char[6]){0}, 6));
    layer = pel_stream_take_layer(&client.stream);
    fd = pel_stream_detach(&client.stream);
    memset(&other, 0, sizeof other);
    other.stream.handle.slot = PEL_UNREGISTERED;
    other.stream.on_ready = on_ready;
    CHECK_INT(0, pel_stream_open(&other.stream, &loop, fd));
    other.stream.readable = 0; /* what the layer holds is told all the same */
    pel_stream_give_layer(&other.stream, layer);
    CHECK(pel_stream_receivable_p(&other.stream));
    check_receives(&other, "second");
    other.far = client.far;
    send_text(&other, "answer");
    do
        turn();
    while (carry(&other, &server, SIZE_MAX));
    check_receives(&server, "answer");
    pel_stream_close(&other.stream);
    pel_stream_give_layer(&other.stream, NULL);
    pel_layer_drop(NULL);
    disconnect_ends();
}

/* Any byte of the client's first flight, and of its second, turned over: never a crash, never a handshake that both
 * take for done. */
TEST(no_changed_byte_of_the_handshake_is_accepted)
{
    char bytes[8192];
    ssize_t count;

    make_contexts();
    for (ssize_t at = 0, all = 1; at < all; at += 3) {
        open_ends();
        begin(client_options(), server_options());
        all = count = read(client.far, bytes, sizeof bytes);
        CHECK(count > at);
        bytes[at] ^= 0x41;
        CHECK_INT(count, write(server.far, bytes, (size_t)count));
        settle();
        CHECK(client.handshake != 0 || server.handshake != 0);
        close_ends();
    }
    drop_contexts();
}

#endif
