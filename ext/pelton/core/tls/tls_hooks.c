#ifdef HAVE_OPENSSL_SSL_H

#include "core/tls/tls_private.h"

#include <openssl/ssl.h>
#include <string.h>

static int on_verify(int trusted, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct pel_tls *tls = SSL_get_app_data(ssl);
    X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    struct pel_tls_certificate shown = {.depth = X509_STORE_CTX_get_error_depth(store)};
    struct pel_buffer pem = {0};
    int accepted = 0;

    if (!tls->options.hooks.verify || !tls->stream)
        return trusted;
    if (!trusted)
        shown.reason = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    if (certificate && pel__tls_write_pem(certificate, &pem) == 0) {
        shown.pem = pel_buffer_head(&pem);
        shown.length = pel_buffer_length(&pem);
        accepted = tls->options.hooks.verify(tls->options.owner, &shown);
    }
    pel_buffer_free(&pem);
    X509_STORE_CTX_set_error(store, accepted ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
    return accepted;
}

static void set_verify(struct pel_tls *tls)
{
    int mode = SSL_VERIFY_NONE;

    if (tls->options.verify == PEL_TLS_VERIFY_OFFERED)
        mode = SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE;
    else if (tls->options.verify == PEL_TLS_VERIFY)
        mode = SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_set_verify(tls->ssl, mode, on_verify);
    /* A session is resumed without looking at the client's certificate again. So a ticket counts only where it was
     * issued: in the same context, at the same level. */
    if (tls->options.server)
        pel__tls_context_name_sessions(tls->context, tls->ssl,
                                       (unsigned char)(tls->options.verify * 2 + (tls->options.hooks.verify != NULL)));
}

/* RFC 6066, section 3: a list of names, of which OpenSSL takes one, a host name. Copies it and appends a NUL; 0 when
 * there is none, or none that is well-formed: OpenSSL refuses the latter itself, later. */
static int read_server_name(SSL *ssl, char name[TLSEXT_MAXLEN_host_name + 1])
{
    const unsigned char *bytes;
    size_t size, length;

    if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) || size < 5)
        return 0;
    length = (size_t)bytes[3] << 8 | bytes[4];
    if (((size_t)bytes[0] << 8 | bytes[1]) != size - 2 || bytes[2] != TLSEXT_NAMETYPE_host_name || length != size - 5 ||
        !length || length > TLSEXT_MAXLEN_host_name || memchr(bytes + 5, 0, length))
        return 0;
    memcpy(name, bytes + 5, length);
    name[length] = 0;
    return 1;
}

/* RFC 7301, section 3.1: a list of names, each of which follows its length. Returns the only one in it; empty when
 * there are several, none, or none that is well-formed: OpenSSL refuses the latter itself, later. */
static struct pel_slice read_only_protocol(SSL *ssl)
{
    const unsigned char *bytes;
    size_t size;

    if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &bytes, &size) ||
        size < 4 || ((size_t)bytes[0] << 8 | bytes[1]) != size - 2 || bytes[2] != size - 3)
        return (struct pel_slice){0};
    return (struct pel_slice){(const char *)bytes + 3, size - 3};
}

/* Before anything of the hello is decided: the version, and whether a session is resumed, are the chosen context's. */
static int on_client_hello(SSL *ssl, int *alert, void *argument)
{
    struct pel_tls *tls = SSL_get_app_data(ssl);
    struct pel_tls_choice choice = {tls->context, tls->options.verify, tls->options.hooks.verify};
    struct pel_tls_hello hello;
    char name[TLSEXT_MAXLEN_host_name + 1];

    (void)argument;
    if (!tls->options.server || !tls->options.hooks.choose)
        return SSL_CLIENT_HELLO_SUCCESS;
    hello.name = read_server_name(ssl, name) ? name : NULL;
    hello.protocol = read_only_protocol(ssl);
    if (!tls->options.hooks.choose(tls->options.owner, &hello, &choice) || !tls->stream) {
        *alert = SSL_AD_UNRECOGNIZED_NAME;
        return SSL_CLIENT_HELLO_ERROR;
    }
    tls->options.verify = choice.verify;
    tls->options.hooks.verify = choice.on_verify;
    if (choice.context != tls->context) {
        pel_tls_context_retain(choice.context);
        if (!pel__tls_context_move(ssl, choice.context)) {
            pel_tls_context_release(choice.context);
            *alert = SSL_AD_INTERNAL_ERROR;
            return SSL_CLIENT_HELLO_ERROR;
        }
        pel_tls_context_release(tls->context);
        tls->context = choice.context;
    }
    set_verify(tls);
    return SSL_CLIENT_HELLO_SUCCESS;
}

/* The name was looked at by on_client_hello: only now may the answer say so. */
static int on_server_name(SSL *ssl, int *alert, void *argument)
{
    (void)ssl;
    (void)alert;
    (void)argument;
    return SSL_TLSEXT_ERR_OK;
}

/* Called for each new session ticket of a client. Returns 1 to keep the reference. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct pel_tls *tls = SSL_get_app_data(ssl);

    if (tls->options.server || !tls->session)
        return 0;
    pel__tls_context_keep_session(tls->context, tls->session, session);
    return 1;
}

void pel__tls_set_hooks(struct pel_tls *tls)
{
    SSL_CTX *ssl_context = pel__tls_context_ssl(tls->context);

    SSL_CTX_set_client_hello_cb(ssl_context, on_client_hello, NULL);
    SSL_CTX_set_tlsext_servername_callback(ssl_context, on_server_name);
    SSL_CTX_sess_set_new_cb(ssl_context, on_session);
    set_verify(tls);
}

#endif
