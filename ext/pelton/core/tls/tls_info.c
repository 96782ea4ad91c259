#ifdef HAVE_OPENSSL_SSL_H

#include "core/tls/tls_private.h"

#include <openssl/ssl.h>
#include <string.h>

/* The peer's certificate without a reference of the caller's. OpenSSL 1.1.1 has only the function that adds one. */
static X509 *peer_certificate(SSL *ssl)
{
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    return SSL_get0_peer_certificate(ssl);
#else
    X509 *certificate = SSL_get_peer_certificate(ssl);
    X509_free(certificate); /* the session keeps it */
    return certificate;
#endif
}

int pel_tls_info(const struct pel_stream *stream, struct pel_tls_info *info)
{
    struct pel_tls *tls = pel__tls_of(stream);

    memset(info, 0, sizeof *info);
    if (!tls)
        return 0;
    info->name = tls->options.server ? SSL_get_servername(tls->ssl, TLSEXT_NAMETYPE_host_name) : tls->name;
    if (!tls->layer.open)
        return 1;
    info->protocol = SSL_get_version(tls->ssl);
    info->cipher = SSL_get_cipher_name(tls->ssl);
    info->bits = SSL_get_cipher_bits(tls->ssl, NULL);
    SSL_get0_alpn_selected(tls->ssl, &info->alpn, &info->alpn_length);
    info->resumed = SSL_session_reused(tls->ssl);
    info->verified = tls->options.verify != PEL_TLS_VERIFY_NONE && peer_certificate(tls->ssl) &&
                     SSL_get_verify_result(tls->ssl) == X509_V_OK;
    return 1;
}

int pel_tls_meets(const struct pel_stream *stream, struct pel_tls_context *context)
{
    struct pel_tls *tls = pel__tls_of(stream);
    SSL_CTX *other = pel__tls_context_ssl(context);

    return tls && tls->layer.open && SSL_version(tls->ssl) >= SSL_CTX_get_min_proto_version(other) &&
           SSL_get_security_level(tls->ssl) >= SSL_CTX_get_security_level(other) &&
           sk_SSL_CIPHER_find(SSL_CTX_get_ciphers(other), (SSL_CIPHER *)SSL_get_current_cipher(tls->ssl)) >= 0;
}

int pel_tls_peer(const struct pel_stream *stream, int chain, struct pel_buffer *pem)
{
    struct pel_tls *tls = pel__tls_of(stream);
    X509 *own = tls ? peer_certificate(tls->ssl) : NULL;
    STACK_OF(X509) *others = own && chain ? SSL_get_peer_cert_chain(tls->ssl) : NULL;
    int code = own ? pel__tls_write_pem(own, pem) : 0;

    /* On a client, OpenSSL's chain begins with the server's own certificate; on a server, it lacks the client's own. */
    for (int i = tls && tls->options.server ? 0 : 1; code == 0 && others && i < sk_X509_num(others); i++)
        code = pel__tls_write_pem(sk_X509_value(others, i), pem);
    return code;
}

#endif
