#include "check.h"
#include "tls/pair.h"

static struct pel_tls_context *chosen;
static char requested_name[100];
static char requested_protocol[100];

static int choose_context(void *owner, const struct pel_tls_hello *hello, struct pel_tls_choice *choice)
{
    snprintf(requested_name, sizeof requested_name, "%s", hello->name ? hello->name : "(none)");
    snprintf(requested_protocol, sizeof requested_protocol, "%.*s", (int)hello->protocol.length,
             hello->protocol.length ? hello->protocol.bytes : "");
    if (owner)
        pel_stream_close(owner);
    choice->context = chosen;
    return chosen != NULL;
}

TLS_TEST(a_server_chooses_a_context_by_the_requested_name)
{
    struct pel_tls_options options = server_options();

    chosen = server_context;
    server_context = pel_tls_context_new(); /* without a certificate */
    options.hooks.choose = choose_context;
    open_ends();
    begin(client_options(), options);
    carry_until_quiet();
    CHECK_INT(0, client.handshake);
    CHECK_STRING("pelton.test", requested_name);
    close_ends();
    pel_tls_context_release(chosen);
    chosen = NULL;
    open_ends();
    begin(client_options(), options);
    carry_until_quiet();
    CHECK_INT(PEL_ESYSTEM, client.handshake);
}

static void offer_protocols(struct pel_slice protocols)
{
    struct pel_tls_options options = server_options();
    char text[PEL_TLS_TEXT];

    make_contexts();
    check_code(pel_tls_context_alpn(client_context, protocols, text), text);
    chosen = server_context;
    options.hooks.choose = choose_context;
    open_ends();
    begin(client_options(), options);
    carry_until_quiet();
    CHECK_INT(0, client.handshake);
    close_ends();
    drop_contexts();
}

TEST(the_hook_is_told_the_only_protocol_that_a_client_offers)
{
    offer_protocols(bytes_of("\012acme-tls/1"));
    CHECK_STRING("acme-tls/1", requested_protocol);
}

TEST(the_hook_is_told_no_protocol_when_a_client_offers_several)
{
    offer_protocols(bytes_of("\012acme-tls/1\010http/1.1"));
    CHECK_STRING("", requested_protocol);
}

TLS_TEST(a_hook_may_close_the_stream)
{
    struct pel_tls_options options = server_options();

    chosen = server_context;
    options.hooks.choose = choose_context;
    options.owner = &server.stream;
    open_ends();
    begin(client_options(), options);
    carry_until_quiet();
    CHECK_INT(PEL_ECLOSED, server.handshake);
    CHECK(!pel_stream_open_p(&server.stream));
}

static int accepts;
static int seen_depth;

static int verify(void *owner, const struct pel_tls_certificate *certificate)
{
    seen_depth = certificate->depth;
    CHECK_BYTES(certificate_pem, certificate->pem, certificate->length);
    return accepts;
}

TEST(the_hook_decides_whether_a_certificate_is_accepted)
{
    struct pel_tls_options options = client_options();

    options.hooks.verify = verify;
    make_contexts();
    for (accepts = 0; accepts < 2; accepts++) {
        pel_tls_context_release(client_context);
        client_context = pel_tls_context_new(); /* trusts no authority */
        seen_depth = -1;
        shake_hands(options);
        CHECK_INT(accepts ? 0 : PEL_ESYSTEM, client.handshake);
        CHECK_INT(0, seen_depth);
        CHECK_INT(accepts ? 0 : PEL_EUNTRUSTED, client.failure.code);
        close_ends();
    }
    drop_contexts();
}

TEST(a_server_that_requires_a_client_certificate_refuses_a_client_without_one)
{
    struct pel_tls_options options = server_options();
    struct pel_buffer pem = {0};
    char text[PEL_TLS_TEXT];

    options.verify = PEL_TLS_VERIFY;
    make_contexts();
    check_code(pel_tls_context_trust(server_context, bytes_of(certificate_pem), text), text);
    open_ends();
    begin(client_options(), options);
    carry_until_quiet();
    CHECK_INT(PEL_ESYSTEM, server.handshake);
    CHECK(strstr(server.failure.text, "client certificate"));
    close_ends();
    check_code(pel_tls_context_certificate(client_context, bytes_of(certificate_pem), bytes_of(key_pem), NULL, text),
               text);
    open_ends();
    begin(client_options(), options);
    carry_until_quiet();
    CHECK_INT(0, server.handshake);
    CHECK_INT(0, pel_tls_peer(&server.stream, 1, &pem));
    CHECK_BYTES(certificate_pem, pel_buffer_head(&pem), pel_buffer_length(&pem));
    pel_buffer_free(&pem);
    disconnect_ends();
}
