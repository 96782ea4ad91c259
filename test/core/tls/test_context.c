#include "check.h"
#include "tls/pair.h"

static char text[PEL_TLS_TEXT];

#define CONTEXT_TEST(title) TEST_BETWEEN(make_contexts(), title, drop_contexts())

CONTEXT_TEST(invalid_settings_are_refused_with_a_reason)
{
    struct pel_tls_context *context = pel_tls_context_new();
    const struct pel_slice nothing = {0}, nonsense = bytes_of("nonsense");

    CHECK_INT(PEL_EARGUMENT, pel_tls_context_certificate(context, nonsense, nothing, NULL, text));
    CHECK(text[0]);
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_certificate(context, bytes_of(certificate_pem), nonsense, NULL, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_trust(context, nonsense, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_dh(context, nonsense, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_ciphers(context, "NOTHING", NULL, NULL, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_ciphers(context, NULL, "NOTHING", NULL, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_ciphers(context, NULL, NULL, "NOTHING", text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_security(context, 6, text));
    CHECK_INT(PEL_EARGUMENT, pel_tls_context_alpn(context, (struct pel_slice){"\5ab", 3}, text));
    pel_tls_context_release(context);
}

CONTEXT_TEST(a_key_that_belongs_to_another_certificate_is_refused)
{
    char other[4096];

    memcpy(other, certificate_pem, sizeof other);
    sign_certificate("pelton.test");
    CHECK_INT(PEL_EARGUMENT,
              pel_tls_context_certificate(server_context, bytes_of(other), bytes_of(key_pem), NULL, text));
}

TEST(a_session_is_kept_under_its_name_and_taken_once)
{
    struct pel_tls_context *context = pel_tls_context_new();
    SSL_SESSION *one = SSL_SESSION_new(), *two = SSL_SESSION_new();

    CHECK_POINTER(NULL, pel__tls_context_take_session(context, "a"));
    pel__tls_context_keep_session(context, "a", one);
    pel__tls_context_keep_session(context, "b", two);
    CHECK_POINTER(two, pel__tls_context_take_session(context, "b"));
    CHECK_POINTER(NULL, pel__tls_context_take_session(context, "b"));
    pel__tls_context_keep_session(context, "a", two); /* frees the first */
    CHECK_POINTER(two, pel__tls_context_take_session(context, "a"));
    SSL_SESSION_free(two);
    pel_tls_context_release(context);
}

TEST(the_number_of_kept_sessions_is_bounded)
{
    struct pel_tls_context *context = pel_tls_context_new();
    char name[20];
    int left = 0;

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        pel__tls_context_keep_session(context, name, SSL_SESSION_new());
    }
    for (int i = 0; i < 1000; i++) {
        SSL_SESSION *session;
        snprintf(name, sizeof name, "%d", i);
        session = pel__tls_context_take_session(context, name);
        left += session != NULL;
        SSL_SESSION_free(session);
    }
    CHECK_INT(64, left);
    pel_tls_context_release(context);
}

TEST(a_context_with_copied_ticket_keys_resumes_the_formers_sessions)
{
    struct pel_tls_context *former;

    make_contexts();
    for (int i = 0; i < 2; i++) {
        CHECK_INT(i, resumes("pelton.test:1"));
        former = server_context;
        server_context = pel_tls_context_new();
        check_code(
            pel_tls_context_certificate(server_context, bytes_of(certificate_pem), bytes_of(key_pem), NULL, text),
            text);
        pel_tls_context_copy_ticket_keys(server_context, former);
        pel_tls_context_release(former);
    }
    drop_contexts();
}
