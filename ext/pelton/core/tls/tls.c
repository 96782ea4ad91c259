#ifdef HAVE_OPENSSL_SSL_H

#include "core/tls/tls_private.h"

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include "core/base/alloc.h"
#include "core/base/slice.h"

#define READ_AHEAD 65536 /* the bytes that OpenSSL receives at once, to open them record by record */

/* Sends OpenSSL's alert, or what else is sealed. If the peer is gone, that error is dropped, since it is not the
 * failure to report. */
static void send_alert(struct pel_tls *tls)
{
    if (!tls->stream->error && pel__layer_send(tls->stream) == PEL_ESYSTEM)
        tls->stream->error = 0;
}

/* Answers a client that speaks HTTP instead of TLS, and ends the output. Returns whether there is such an answer. */
static int answer_plain_request(struct pel_tls *tls)
{
    const char *answer = pel__tls_context_plain_answer(tls->context);
    struct pel_stream *stream = tls->stream;

    if (!answer || stream->error || ERR_GET_REASON(ERR_peek_last_error()) != SSL_R_HTTP_REQUEST ||
        pel_buffer_append(&tls->layer.sealed, answer, strlen(answer)) < 0)
        return 0;
    send_alert(tls);
    stream->write_shut = 1;
    shutdown(stream->handle.fd, SHUT_WR);
    return 1;
}

/* Classifies the result of an OpenSSL call: PEL_EAGAIN, 0 at the end, or PEL_ESYSTEM after the failure was recorded. */
static int classify_result(struct pel_tls *tls, int result)
{
    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return tls->stream->error ? PEL_ESYSTEM : PEL_EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        tls->close_notify_received = 1;
        return 0;
    default:
        if (!answer_plain_request(tls))
            send_alert(tls);
        return pel__tls_fail(tls, tls->last_received == 0 ? PEL_ETRUNCATED : PEL_ETLS);
    }
}

/* ---- the layer ------------------------------------------------------------------------------------------------ */

static ssize_t tls_receive(struct pel_stream *stream, void *bytes, size_t length)
{
    struct pel_tls *tls = pel__tls_of(stream);
    size_t count = 0;
    int code = 1;

    if (tls->close_notify_received)
        return 0;
    if (tls->options.failure->code)
        return PEL_ESYSTEM;
    while (count < length && code > 0) {
        int result;
        ERR_clear_error();
        result = SSL_read(tls->ssl, (char *)bytes + count, (int)pel_min(length - count, INT_MAX));
        if (result > 0)
            count += (size_t)result;
        else
            code = classify_result(tls, result);
    }
    if (pel_buffer_length(&tls->layer.sealed) && !stream->error)
        pel_stream_flush_later(stream);
    if (code != PEL_EAGAIN)
        stream->readable = 1;
    return count ? (ssize_t)count : code;
}

static int tls_seal(struct pel_stream *stream, const void *bytes, size_t length)
{
    struct pel_tls *tls = pel__tls_of(stream);

    while (length) {
        int result, part = (int)pel_min(length, INT_MAX);
        ERR_clear_error();
        if ((result = SSL_write(tls->ssl, bytes, part)) <= 0)
            return pel__tls_fail(tls, PEL_ETLS);
        bytes = (const char *)bytes + result;
        length -= (size_t)result;
    }
    return 0;
}

static void tls_end(struct pel_stream *stream)
{
    ERR_clear_error();
    SSL_shutdown(pel__tls_of(stream)->ssl);
    ERR_clear_error();
}

static void destroy_tls(struct pel_tls *tls)
{
    /* Mark the shutdown as complete, so that OpenSSL does not invalidate the session of a connection that this side
     * closed without close_notify. */
    if (tls->layer.open && !tls->options.failure->code)
        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    pel_tls_context_release(tls->context);
    pel_buffer_free(&tls->early);
    pel_buffer_free(&tls->layer.sealed);
    pel_free(tls->name);
    pel_free(tls->session);
    pel_free(tls);
}

static void tls_free(struct pel_layer *layer)
{
    struct pel_tls *tls = (struct pel_tls *)layer;

    if (tls->in_handshake)
        tls->stream = NULL; /* pel_tls_handshake frees it after SSL_do_handshake has returned */
    else
        destroy_tls(tls);
}

static void tls_moved(struct pel_layer *layer, struct pel_stream *stream)
{
    struct pel_tls *tls = (struct pel_tls *)layer;

    tls->stream = stream;
    tls->options.failure = &tls->moved_failure;
    tls->options.hooks = (struct pel_tls_hooks){0};
    if (pel_buffer_length(&tls->early) || SSL_has_pending(tls->ssl))
        stream->readable = 1;
}

const struct pel_layer_type pel__tls_type = {
    .receive = tls_receive, .seal = tls_seal, .end = tls_end, .moved = tls_moved, .free = tls_free};

/* ---- starting ------------------------------------------------------------------------------------------------- */

static int is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* Sets the server name that the client requests, and the name or address that it verifies. */
static int set_expected_peer(struct pel_tls *tls)
{
    int address = is_address(tls->name);
    X509_VERIFY_PARAM *parameters = SSL_get0_param(tls->ssl);

    if (!address && !SSL_set_tlsext_host_name(tls->ssl, tls->name))
        return 0;
    if (tls->options.verify == PEL_TLS_VERIFY_NONE)
        return 1;
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return address ? X509_VERIFY_PARAM_set1_ip_asc(parameters, tls->name) : SSL_set1_host(tls->ssl, tls->name);
}

static void resume_session(struct pel_tls *tls)
{
    SSL_SESSION *session = pel__tls_context_take_session(tls->context, tls->session);

    if (session)
        SSL_set_session(tls->ssl, session);
    SSL_SESSION_free(session);
}

static int create_ssl(struct pel_tls *tls)
{
    SSL_CTX *ssl_context = pel__tls_context_ssl(tls->context);
    BIO *bio;

    if (!(tls->ssl = SSL_new(ssl_context)) || !(bio = pel__tls_bio(tls)))
        return 0;
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_read_ahead(tls->ssl, 1);
    SSL_set_default_read_buffer_len(tls->ssl, READ_AHEAD);
    SSL_set_app_data(tls->ssl, tls);
    pel__tls_set_hooks(tls);
    if (tls->options.server) {
        SSL_set_accept_state(tls->ssl);
        return 1;
    }
    SSL_set_connect_state(tls->ssl);
    if (tls->session)
        resume_session(tls);
    return !tls->name || set_expected_peer(tls);
}

/* Copies a string that may be NULL. Returns whether there was memory. */
static int copy_string(char **to, const char *from)
{
    return !from || (*to = strdup(from));
}

int pel_tls_start(struct pel_stream *stream, struct pel_tls_context *context, const struct pel_tls_options *options,
                  const void *early, size_t length)
{
    struct pel_tls *tls;
    int code = PEL_EMEMORY;

    if (!pel_stream_open_p(stream))
        return PEL_ECLOSED;
    if (stream->layer || stream->shut_when_sent)
        return PEL_EARGUMENT;
    if (!(tls = pel_calloc(1, sizeof *tls)))
        return PEL_EMEMORY;
    *tls = (struct pel_tls){
        .layer.type = &pel__tls_type, .stream = stream, .context = context, .options = *options, .last_received = 1};
    pel_tls_context_retain(context);
    *options->failure = (struct pel_tls_failure){0};
    ERR_clear_error();
    if (copy_string(&tls->name, options->name) && copy_string(&tls->session, options->session) && create_ssl(tls) &&
        (!length || pel_buffer_append(&tls->early, early, length) == 0))
        code = pel__layer_put_on(stream, &tls->layer);
    ERR_clear_error();
    if (code < 0)
        destroy_tls(tls);
    return code;
}

/* Lets bytes pass, including those that have arrived already and those that are queued. */
static void open_layer(struct pel_stream *stream, struct pel_tls *tls)
{
    tls->layer.open = 1;
    if (pel_buffer_length(&tls->early) || SSL_has_pending(tls->ssl) || stream->hangup)
        stream->readable = 1;
    if (stream->writable && (pel_stream_unsent_p(stream) || stream->shut_when_sent))
        pel_stream_flush_later(stream);
}

int pel_tls_handshake(struct pel_stream *stream)
{
    struct pel_tls *tls = pel__tls_of(stream);
    int result, code;

    if (!tls)
        return PEL_ECLOSED;
    if (tls->layer.open)
        return 0;
    if (stream->connecting || tls->in_handshake)
        return PEL_EAGAIN;
    if (tls->options.failure->code)
        return PEL_ESYSTEM;
    ERR_clear_error();
    tls->in_handshake = 1;
    result = SSL_do_handshake(tls->ssl);
    tls->in_handshake = 0;
    if (!tls->stream) {
        destroy_tls(tls);
        return PEL_ECLOSED;
    }
    if (result == 1) {
        open_layer(stream, tls);
        code = pel__layer_send(stream);
        return code == PEL_ESYSTEM ? code : 0;
    }
    code = classify_result(tls, result);
    if (code == 0) /* close_notify instead of a handshake */
        return pel__tls_fail(tls, PEL_ETRUNCATED);
    if (code == PEL_EAGAIN && pel__layer_send(stream) == PEL_ESYSTEM)
        return PEL_ESYSTEM;
    return code;
}

#endif
