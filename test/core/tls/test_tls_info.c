#include "check.h"
#include "tls/pair.h"

TLS_TEST(a_stream_without_tls_has_no_info)
{
    struct pel_tls_info info;
    struct pel_buffer pem = {0};

    open_ends();
    CHECK_INT(0, pel_tls_info(&client.stream, &info));
    CHECK_POINTER(NULL, info.protocol);
    CHECK_INT(0, pel_tls_peer(&client.stream, 1, &pem));
    CHECK_INT(0, pel_buffer_length(&pem));
}

TLS_TEST(before_the_handshake_is_done_a_client_knows_the_requested_name)
{
    struct pel_tls_info info;

    open_ends();
    begin(client_options(), server_options());
    CHECK_INT(1, pel_tls_info(&client.stream, &info));
    CHECK_STRING("pelton.test", info.name);
    CHECK_POINTER(NULL, info.protocol);
    CHECK_INT(0, info.verified);
}

CONNECTED_TEST(both_ends_know_the_negotiated_parameters)
{
    struct pel_tls_info info;

    CHECK_INT(1, pel_tls_info(&client.stream, &info));
    CHECK_STRING("TLSv1.3", info.protocol);
    CHECK_INT(1, info.verified);
    CHECK_INT(0, info.resumed);
    CHECK_INT(0, info.alpn_length);
    CHECK_INT(1, pel_tls_info(&server.stream, &info));
    CHECK_STRING("pelton.test", info.name);
    CHECK_INT(0, info.verified); /* the client has sent no certificate */
    CHECK(info.bits >= 128);
}

static int meets(int least, int level, const char *ciphers, const char *suites)
{
    struct pel_tls_context *context = pel_tls_context_new();
    char text[PEL_TLS_TEXT];
    int met;

    CHECK_INT(0, pel_tls_context_security(context, level, text));
    CHECK_INT(0, pel_tls_context_versions(context, least, 0, text));
    CHECK_INT(0, pel_tls_context_ciphers(context, ciphers, suites, NULL, text));
    met = pel_tls_meets(&server.stream, context);
    pel_tls_context_release(context);
    return met;
}

TEST(a_connection_meets_what_other_contexts_demand)
{
    connect_ends(); /* with TLS 1.3 */
    CHECK_INT(1, meets(TLS1_2_VERSION, 2, NULL, NULL));
    CHECK_INT(1, meets(TLS1_3_VERSION, 2, NULL, NULL));
    CHECK_INT(1, meets(TLS1_VERSION, 0, "ALL", NULL));
    CHECK_INT(0, meets(TLS1_2_VERSION, 3, NULL, NULL));
    CHECK_INT(0, meets(TLS1_2_VERSION, 2, NULL, "TLS_AES_128_CCM_SHA256"));
    disconnect_ends();
}

TLS_TEST(a_connection_without_tls_meets_nothing)
{
    open_ends();
    CHECK_INT(0, meets(TLS1_2_VERSION, 2, NULL, NULL));
}

CONNECTED_TEST(a_client_has_the_servers_certificate_and_a_server_none)
{
    struct pel_buffer pem = {0};

    CHECK_INT(0, pel_tls_peer(&client.stream, 0, &pem));
    CHECK_BYTES(certificate_pem, pel_buffer_head(&pem), pel_buffer_length(&pem));
    pel_buffer_free(&pem);
    CHECK_INT(0, pel_tls_peer(&client.stream, 1, &pem));
    CHECK_BYTES(certificate_pem, pel_buffer_head(&pem), pel_buffer_length(&pem));
    pel_buffer_free(&pem);
    CHECK_INT(0, pel_tls_peer(&server.stream, 1, &pem));
    CHECK_INT(0, pel_buffer_length(&pem));
}
