#include <openssl/err.h>
#include "check.h"
#include "tls/pair.h"

/* Fails the server's handshake by these bytes in place of a client's. */
static void fail_with(const char *bytes, size_t length)
{
    struct pel_tls_options options = server_options();

    make_contexts();
    open_ends();
    CHECK_INT(0, pel_tls_start(&server.stream, server_context, &options, NULL, 0));
    if (length)
        CHECK_INT(length, write(server.far, bytes, length));
    shutdown(server.far, SHUT_WR);
    run_loops();
    CHECK_INT(PEL_ESYSTEM, server.handshake);
    CHECK_INT(EPROTO, server.stream.error);
}

TEST(a_peer_that_speaks_http_is_named_as_a_wrong_port)
{
    fail_with("GET / HTTP/1.1\r\n\r\n", 18);
    CHECK_INT(PEL_ETLS, server.failure.code);
    CHECK(strstr(server.failure.text, "right port"));
    disconnect_ends();
}

TEST(a_peer_that_closes_without_sending_truncates_the_handshake)
{
    fail_with("", 0);
    CHECK_INT(PEL_ETRUNCATED, server.failure.code);
    CHECK(strstr(server.failure.text, "during the handshake"));
    disconnect_ends();
}

/* OpenSSL has one list of errors a thread: others that call it, as Ruby's openssl, would take this one for theirs. */
TEST(a_failure_leaves_no_error_to_other_users_of_openssl)
{
    fail_with("", 0);
    CHECK_INT(0, ERR_peek_error());
    disconnect_ends();
}

TEST(the_first_failure_is_the_one_that_is_reported)
{
    fail_with("GET / HTTP/1.1\r\n\r\n", 18);
    CHECK_INT(PEL_ESYSTEM, pel_tls_handshake(&server.stream));
    CHECK_INT(PEL_ETLS, server.failure.code);
    disconnect_ends();
}

CONNECTED_TEST(a_failed_system_call_is_no_tls_failure)
{
    pel__stream_fail(&client.stream, ECONNRESET);
    run_loops();
    CHECK_INT(PEL_ESYSTEM, pel_stream_receive(&client.stream, (char[1]){0}, 1));
    CHECK_INT(0, client.failure.code);
    CHECK_INT(ECONNRESET, client.stream.error);
}

TLS_TEST(without_a_common_version_both_ends_advise_min_version)
{
    char text[PEL_TLS_TEXT];

    check_code(pel_tls_context_versions(server_context, TLS1_3_VERSION, 0, text), text);
    check_code(pel_tls_context_versions(client_context, TLS1_2_VERSION, TLS1_2_VERSION, text), text);
    shake_hands(client_options());
    CHECK(strstr(server.failure.text, "min_version:"));
    CHECK(strstr(client.failure.text, "min_version:"));
}

TLS_TEST(a_server_without_a_certificate_is_advised_to_pass_one)
{
    pel_tls_context_release(server_context);
    server_context = pel_tls_context_new();
    shake_hands(client_options());
    CHECK(strstr(server.failure.text, "certificate: and key:"));
}
