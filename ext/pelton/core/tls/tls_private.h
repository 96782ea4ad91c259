#pragma once

#include "core/tls/tls.h"

struct x509_st;

/* The TLS layer's struct, shared by tls.c, bio.c, tls_info.c, tls_failure.c and tls_hooks.c. The types ssl_st, bio_st
 * and x509_st are OpenSSL's. */

struct pel_tls {
    struct pel_layer layer;    /* first */
    struct pel_stream *stream; /* NULL: closed while a hook ran */
    struct ssl_st *ssl;
    struct pel_tls_context *context;
    struct pel_tls_options options; /* its strings belong to the caller; these are copies of name and session: */
    char *name, *session;
    struct pel_buffer early;              /* bytes of the handshake that the owner had received before */
    ssize_t last_received;                /* the result of the last receive */
    struct pel_tls_failure moved_failure; /* replaces options.failure after the layer was moved; it is not read */
    unsigned in_handshake : 1;            /* SSL_do_handshake is running: a hook may close the stream */
    unsigned close_notify_received : 1;
};

extern const struct pel_layer_type pel__tls_type; /* by which a layer is known to be TLS */

/* The stream's TLS layer, or NULL. */
static inline struct pel_tls *pel__tls_of(const struct pel_stream *stream)
{
    return stream->layer && stream->layer->type == &pel__tls_type ? (struct pel_tls *)stream->layer : NULL;
}

/* Makes OpenSSL call the hooks for certificates and server names, and keep a client's sessions in the context. */
void pel__tls_set_hooks(struct pel_tls *tls);

/* Creates the BIO by which OpenSSL reads from the descriptor and writes to layer.sealed. NULL: out of memory. */
struct bio_st *pel__tls_bio(struct pel_tls *tls);

/* Appends a certificate in PEM. Returns 0 or PEL_EMEMORY. */
int pel__tls_write_pem(struct x509_st *certificate, struct pel_buffer *pem);

/* Called after OpenSSL has failed and its alert was sent: fills in options.failure and fails the stream, unless a
 * system call has failed it before. Returns PEL_ESYSTEM. */
int pel__tls_fail(struct pel_tls *tls, int code);
