#ifdef HAVE_OPENSSL_SSL_H

#include "core/tls/tls_private.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

/* The text of a failure: its reason, and advice. */

/* Whether verification failed because the authority is not trusted. */
static int authority_unknown(long result)
{
    return result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT || result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
           result == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT || result == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
           result == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
}

static void describe_untrusted(struct pel_tls *tls, long result)
{
    const char *reason = X509_verify_cert_error_string(result);

    if (result == X509_V_ERR_HOSTNAME_MISMATCH || result == X509_V_ERR_IP_ADDRESS_MISMATCH)
        snprintf(
            tls->options.failure->text, PEL_TLS_TEXT,
            "the certificate is not for %.100s (%s): connect by a name that it lists, or pass that as server_name:",
            tls->name ? tls->name : "this server", reason);
    else if (result == X509_V_ERR_APPLICATION_VERIFICATION)
        snprintf(tls->options.failure->text, PEL_TLS_TEXT, "the program's own check refused the certificate");
    else
        snprintf(tls->options.failure->text, PEL_TLS_TEXT, "the certificate%s%.100s is not trusted: %s%s",
                 tls->name ? " of " : "", tls->name ? tls->name : "", reason,
                 authority_unknown(result) ? ". Pass the authority's certificate as ca_file:" : "");
}

static const char *failure_advice(unsigned long code)
{
    switch (ERR_GET_REASON(code)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
        return " (the peer does not speak TLS here: is it the right port?)";
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
        return " (a server needs certificate: and key:, and both sides need a common cipher)";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
        return " (no common version: see min_version:)";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return " (this server requires a client certificate)";
#ifdef SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        return " (the server requires a client certificate: pass certificate: and key:)";
#endif
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        return " (the peer does not trust this side's certificate)";
    default:
        return "";
    }
}

int pel__tls_fail(struct pel_tls *tls, int code)
{
    struct pel_tls_failure *failure = tls->options.failure;
    unsigned long error = ERR_peek_last_error();
    long result = SSL_get_verify_result(tls->ssl);

    if (tls->stream->error)
        return PEL_ESYSTEM;
    failure->code = code;
    if (code == PEL_ETRUNCATED) {
        snprintf(failure->text, PEL_TLS_TEXT, "%s",
                 tls->layer.open ? "the connection ended without close_notify: the received data may be truncated"
                                 : "the peer closed the connection during the handshake");
    } else if (ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED && result != X509_V_OK) {
        failure->code = PEL_EUNTRUSTED;
        describe_untrusted(tls, result);
    } else {
        const char *more = failure_advice(error);
        pel__tls_error_text(failure->text);
        strncat(failure->text, more, PEL_TLS_TEXT - strlen(failure->text) - 1);
    }
    ERR_clear_error();
    return pel__stream_fail(tls->stream, EPROTO);
}

#endif
