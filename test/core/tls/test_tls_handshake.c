#include "check.h"
#include "tls/pair.h"

TLS_TEST(output_written_before_the_handshake_is_done_is_sent_after_it)
{
    open_ends();
    begin(client_options(), server_options());
    send_text(&client, "early");
    CHECK_INT(5, pel_stream_pending(&client.stream));
    carry_until_quiet();
    CHECK_INT(0, pel_stream_pending(&client.stream));
    check_receives(&server, "early");
}

TLS_TEST(output_queued_before_tls_is_sent_in_plain)
{
    struct pel_tls_options options = client_options();
    char bytes[8];

    open_ends();
    CHECK_INT(0, pel_stream_append(&client.stream, "START", 5));
    CHECK_INT(0, pel_stream_append_borrowed(&client.stream, "TLS", 3, 0, NULL));
    CHECK_INT(0, pel_tls_start(&client.stream, client_context, &options, NULL, 0));
    CHECK_INT(8, pel_stream_pending(&client.stream));
    CHECK_INT(PEL_EAGAIN, pel_tls_handshake(&client.stream));
    CHECK_INT(8, read(client.far, bytes, 8));
    CHECK_BYTES("STARTTLS", bytes, 8);
    CHECK_INT(0, pel_stream_pending(&client.stream));
}

TEST(http_instead_of_a_handshake_is_answered_where_there_is_an_answer)
{
    struct pel_tls_options options = server_options();
    char bytes[16];

    for (int answered = 0; answered < 2; answered++) {
        make_contexts();
        if (answered)
            CHECK_INT(0, pel_tls_context_plain_answer(server_context, "no TLS"));
        open_ends();
        CHECK_INT(0, pel_tls_start(&server.stream, server_context, &options, NULL, 0));
        CHECK_INT(18, write(server.far, "GET / HTTP/1.0\r\n\r\n", 18));
        run_loops();
        CHECK_INT(PEL_ESYSTEM, server.handshake);
        CHECK_INT(PEL_ETLS, server.failure.code);
        if (answered) {
            CHECK_INT(6, read(server.far, bytes, sizeof bytes));
            CHECK_BYTES("no TLS", bytes, 6);
            CHECK_INT(0, read(server.far, bytes, sizeof bytes));
        } else {
            CHECK_INT(-1, read(server.far, bytes, sizeof bytes));
        }
        disconnect_ends();
    }
}

TEST(what_is_neither_tls_nor_http_gets_no_such_answer)
{
    struct pel_tls_options options = server_options();
    char bytes[16] = {0};

    make_contexts();
    CHECK_INT(0, pel_tls_context_plain_answer(server_context, "no TLS"));
    open_ends();
    CHECK_INT(0, pel_tls_start(&server.stream, server_context, &options, NULL, 0));
    CHECK_INT(18, write(server.far, "SSH-2.0-OpenSSH_9\n", 18));
    run_loops();
    CHECK_INT(PEL_ETLS, server.failure.code);
    CHECK(read(server.far, bytes, sizeof bytes) < 6 || memcmp(bytes, "no TLS", 6));
    disconnect_ends();
}

TLS_TEST(bytes_received_before_the_start_belong_to_the_handshake)
{
    struct pel_tls_options options = server_options(), from = client_options();
    char hello[4096];
    ssize_t length;

    open_ends();
    CHECK_INT(0, pel_tls_start(&client.stream, client_context, &from, NULL, 0));
    client.handshake = pel_tls_handshake(&client.stream);
    length = read(client.far, hello, sizeof hello);
    CHECK(length > 0);
    CHECK_INT(0, pel_tls_start(&server.stream, server_context, &options, hello, (size_t)length));
    server.handshake = pel_tls_handshake(&server.stream);
    carry_until_quiet();
    CHECK_INT(0, client.handshake);
    CHECK_INT(0, server.handshake);
}

/* Plain text in place of a handshake, as an attacker sends it who injects commands before STARTTLS. */
TLS_TEST(plain_text_fails_the_handshake)
{
    struct pel_tls_options options = client_options();

    open_ends();
    CHECK_INT(0, pel_tls_start(&client.stream, client_context, &options, "250 injected\r\n", 14));
    CHECK_INT(PEL_ESYSTEM, pel_tls_handshake(&client.stream));
    CHECK_INT(PEL_ETLS, client.failure.code);
    CHECK(strstr(client.failure.text, "does not speak TLS"));
}

/* Delivers one direction in two pieces: the bytes before `split`, and, after both ends have run, the rest. */
static void talk_split_at(struct end *from, struct end *to, size_t split)
{
    size_t moved;

    open_ends();
    begin(client_options(), server_options());
    send_text(&client, "question");
    send_text(&server, "answer");
    do {
        run_loops();
        moved = carry(from, to, split - from->carried) + carry(to, from, SIZE_MAX);
    } while (moved);
    carry_until_quiet();
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

TEST(a_clients_bytes_may_arrive_in_any_two_pieces)
{
    split_all(&client, &server);
}

TEST(a_servers_bytes_may_arrive_in_any_two_pieces)
{
    split_all(&server, &client);
}

/* Carries single bytes in both directions until there are none, and collects the plain bytes of both ends. */
static void carry_bytes(char *at_server, char *at_client)
{
    ssize_t count;

    do {
        run_loops();
        if ((count = pel_stream_receive(&server.stream, at_server, 100)) > 0)
            at_server += count;
        if ((count = pel_stream_receive(&client.stream, at_client, 100)) > 0)
            at_client += count;
    } while (carry(&client, &server, 1) + carry(&server, &client, 1));
}

TLS_TEST(every_byte_may_arrive_alone)
{
    char at_server[200] = "", at_client[200] = "";

    open_ends();
    begin(client_options(), server_options());
    send_text(&client, "question");
    send_text(&server, "answer");
    carry_bytes(at_server, at_client);
    CHECK_STRING("question", at_server);
    CHECK_STRING("answer", at_client);
}

TEST(a_certificate_for_another_name_is_refused)
{
    struct pel_tls_options options = client_options();

    options.name = "other.test";
    make_contexts();
    shake_hands(options);
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
    shake_hands(options);
    CHECK_INT(0, client.handshake);
    close_ends();
    options.name = "127.0.0.2";
    shake_hands(options);
    CHECK_INT(PEL_EUNTRUSTED, client.failure.code);
    disconnect_ends();
}

TLS_TEST(a_certificate_of_an_unknown_authority_is_refused)
{
    pel_tls_context_release(client_context);
    client_context = pel_tls_context_new();
    shake_hands(client_options());
    CHECK_INT(PEL_EUNTRUSTED, client.failure.code);
    CHECK(strstr(client.failure.text, "ca_file:"));
}

/* Changes every third byte of the client's first flight: neither a crash, nor a handshake that both ends complete. */
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
        carry_until_quiet();
        CHECK(client.handshake != 0 || server.handshake != 0);
        close_ends();
    }
    drop_contexts();
}
