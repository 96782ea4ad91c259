#include "check.h"

#ifndef HAVE_OPENSSL_SSL_H
TEST(without_openssl_there_is_nothing_to_test)
{
    SKIP("no OpenSSL");
}
#else

#include "tls_pair.h"

static char text[PEL_TLS_TEXT];

TEST(what_cannot_be_used_is_told)
{
    struct pel_tls_context *context = pel_tls_context_new();
    const struct pel_bytes nothing = {0}, nonsense = bytes_of("nonsense");

    make_contexts();
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_certificate(context, nonsense, nothing, NULL, text));
    CHECK(text[0]);
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_certificate(context, bytes_of(certificate_pem), nonsense, NULL, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_trust(context, nonsense, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_dh(context, nonsense, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_ciphers(context, "NOTHING", NULL, NULL, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_ciphers(context, NULL, "NOTHING", NULL, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_ciphers(context, NULL, NULL, "NOTHING", text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_security(context, 6, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_alpn(context, (struct pel_bytes){"\5ab", 3}, text));
    pel_tls_context_release(context);
    drop_contexts();
}

TEST(a_key_that_belongs_to_another_certificate_is_refused)
{
    char other[4096];

    make_contexts();
    memcpy(other, certificate_pem, sizeof other);
    sign_certificate("pelton.test");
    CHECK_INT(PEL_EARGUMENT,
              pel_tls_context_certificate(server_context, bytes_of(other), bytes_of(key_pem), NULL, text));
    drop_contexts();
}

TEST(a_session_is_kept_under_its_name_and_taken_once)
{
    struct pel_tls_context *context = pel_tls_context_new();
    SSL_SESSION *one = SSL_SESSION_new(), *two = SSL_SESSION_new();

    CHECK_POINTER(NULL, pel__tls_context_take(context, "a"));
    pel__tls_context_keep(context, "a", one);
    pel__tls_context_keep(context, "b", two);
    CHECK_POINTER(two, pel__tls_context_take(context, "b"));
    CHECK_POINTER(NULL, pel__tls_context_take(context, "b"));
    pel__tls_context_keep(context, "a", two); /* frees the first */
    CHECK_POINTER(two, pel__tls_context_take(context, "a"));
    SSL_SESSION_free(two);
    pel_tls_context_release(context);
}

TEST(sessions_of_many_names_are_bounded)
{
    struct pel_tls_context *context = pel_tls_context_new();
    char name[20];
    int left = 0;

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        pel__tls_context_keep(context, name, SSL_SESSION_new());
    }
    for (int i = 0; i < 1000; i++) {
        SSL_SESSION *session;
        snprintf(name, sizeof name, "%d", i);
        session = pel__tls_context_take(context, name);
        left += session != NULL;
        SSL_SESSION_free(session);
    }
    CHECK_INT(64, left);
    pel_tls_context_release(context);
}

TEST(a_successor_understands_the_tickets_of_the_one_before)
{
    struct pel_tls_options options = client_options();
    struct pel_tls_context *former;
    struct pel_tls_facts facts;

    options.session = "pelton.test:1";
    make_contexts();
    for (int i = 0; i < 2; i++) {
        open_ends();
        begin(options, server_options());
        send_text(&server, "x");
        settle();
        check_receives(&client, "x");
        CHECK_INT(1, pel_tls_facts(&client.stream, &facts));
        CHECK_INT(i, facts.resumed);
        close_ends();
        former = server_context;
        server_context = pel_tls_context_new();
        check_code(
            pel_tls_context_certificate(server_context, bytes_of(certificate_pem), bytes_of(key_pem), NULL, text),
            text);
        pel_tls_context_succeed(server_context, former);
        pel_tls_context_release(former);
    }
    drop_contexts();
}

#endif
