#ifdef HAVE_OPENSSL_SSL_H

#include "tls_private.h"

#include <openssl/ssl.h>

static int on_verify(int trusted, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct pel_tls *tls = SSL_get_app_data(ssl);
    X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    struct pel_tls_certificate seen = {.depth = X509_STORE_CTX_get_error_depth(store)};
    struct pel_buffer pem = {0};
    int accepted = 0;

    if (!tls->options.hooks.verify || !tls->stream)
        return trusted;
    if (!trusted)
        seen.reason = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    if (certificate && pel__tls_write_pem(certificate, &pem) == 0) {
        seen.pem = pel_buffer_head(&pem);
        seen.length = pel_buffer_length(&pem);
        accepted = tls->options.hooks.verify(tls->options.owner, &seen);
    }
    pel_buffer_free(&pem);
    X509_STORE_CTX_set_error(store, accepted ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
    return accepted;
}

static int on_server_name(SSL *ssl, int *alert, void *argument)
{
    struct pel_tls *tls = SSL_get_app_data(ssl);
    struct pel_tls_context *chosen;

    (void)argument;
    if (!tls->options.server || !tls->options.hooks.choose)
        return SSL_TLSEXT_ERR_OK;
    chosen = tls->options.hooks.choose(tls->options.owner, SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
    if (!chosen || !tls->stream) {
        *alert = SSL_AD_UNRECOGNIZED_NAME;
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    if (chosen == tls->context)
        return SSL_TLSEXT_ERR_OK;
    pel_tls_context_retain(chosen);
    SSL_set_SSL_CTX(ssl, pel__tls_context_ssl(chosen));
    pel_tls_context_release(tls->context);
    tls->context = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* A client's new ticket; 1: it is kept. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct pel_tls *tls = SSL_get_app_data(ssl);

    if (tls->options.server || !tls->session)
        return 0;
    pel__tls_context_keep(tls->context, tls->session, session);
    return 1;
}

void pel__tls_hook(struct pel_tls *tls)
{
    SSL_CTX *ssl_context = pel__tls_context_ssl(tls->context);
    int mode = SSL_VERIFY_NONE;

    SSL_CTX_set_tlsext_servername_callback(ssl_context, on_server_name);
    SSL_CTX_sess_set_new_cb(ssl_context, on_session);
    if (tls->options.verify == PEL_TLS_VERIFY_OFFERED)
        mode = SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE;
    else if (tls->options.verify == PEL_TLS_VERIFY)
        mode = SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_set_verify(tls->ssl, mode, on_verify);
}

#endif
