#include "check.h"

#ifndef HAVE_OPENSSL_SSL_H
TEST(without_openssl_there_is_nothing_to_test)
{
    SKIP("no OpenSSL");
}
#else

#include "tls_pair.h"

TEST(without_tls_there_are_none)
{
    struct pel_tls_facts facts;
    struct pel_buffer pem = {0};

    make_contexts();
    open_ends();
    CHECK_INT(0, pel_tls_facts(&client.stream, &facts));
    CHECK_POINTER(NULL, facts.protocol);
    CHECK_INT(0, pel_tls_peer(&client.stream, 1, &pem));
    CHECK_INT(0, pel_buffer_length(&pem));
    disconnect_ends();
}

TEST(before_the_handshake_is_done_a_client_knows_whom_it_asks_for)
{
    struct pel_tls_facts facts;

    make_contexts();
    open_ends();
    begin(client_options(), server_options());
    CHECK_INT(1, pel_tls_facts(&client.stream, &facts));
    CHECK_STRING("pelton.test", facts.name);
    CHECK_POINTER(NULL, facts.protocol);
    CHECK_INT(0, facts.verified);
    disconnect_ends();
}

TEST(both_ends_know_what_was_agreed_upon)
{
    struct pel_tls_facts facts;

    connect_ends();
    CHECK_INT(1, pel_tls_facts(&client.stream, &facts));
    CHECK_STRING("TLSv1.3", facts.protocol);
    CHECK_INT(1, facts.verified);
    CHECK_INT(0, facts.resumed);
    CHECK_INT(0, facts.alpn_length);
    CHECK_INT(1, pel_tls_facts(&server.stream, &facts));
    CHECK_STRING("pelton.test", facts.name);
    CHECK_INT(0, facts.verified); /* the client has shown nothing */
    CHECK(facts.bits >= 128);
    disconnect_ends();
}

TEST(a_client_sees_the_servers_certificate_and_a_server_none)
{
    struct pel_buffer pem = {0};

    connect_ends();
    CHECK_INT(0, pel_tls_peer(&client.stream, 0, &pem));
    CHECK_BYTES(certificate_pem, pel_buffer_head(&pem), pel_buffer_length(&pem));
    pel_buffer_free(&pem);
    CHECK_INT(0, pel_tls_peer(&client.stream, 1, &pem));
    CHECK_BYTES(certificate_pem, pel_buffer_head(&pem), pel_buffer_length(&pem));
    pel_buffer_free(&pem);
    CHECK_INT(0, pel_tls_peer(&server.stream, 1, &pem));
    CHECK_INT(0, pel_buffer_length(&pem));
    disconnect_ends();
}

#endif
