#ifndef PEL_TLS_PRIVATE_H
#define PEL_TLS_PRIVATE_H

#include "tls.h"

/* TLS on a stream, inside. Its parts: tls.c, tls_bio.c, tls_facts.c, tls_failure.c and tls_hooks.c. The types are
 * OpenSSL's ssl_st, bio_st and x509_st. */

struct pel_tls {
    struct pel_layer layer;    /* first */
    struct pel_stream *stream; /* NULL: closed while a hook ran */
    struct ssl_st *ssl;
    struct pel_tls_context *context;
    struct pel_tls_options options; /* its strings are the caller's; name and session are these: */
    char *name, *session;
    struct pel_buffer early;    /* bytes of the handshake that the owner had received before */
    ssize_t raw;                /* what the last receive brought */
    struct pel_tls_failure own; /* of one that has moved: nobody asks why it failed */
    unsigned stepping : 1;      /* a handshake's step is under way: a hook may close the stream */
    unsigned at_end : 1;        /* the peer has said farewell */
};

/* A stream's; NULL: it has none. */
struct pel_tls *pel__tls_of(const struct pel_stream *stream);

/* Has OpenSSL ask the hooks about certificates and names, and hand over the sessions that are to be kept. */
void pel__tls_hook(struct pel_tls *tls);

struct x509_st;

/* Appends a certificate in PEM. 0 or PEL_EMEMORY. */
int pel__tls_write_pem(struct x509_st *certificate, struct pel_buffer *pem);

/* What OpenSSL reads from and writes to: the stream's descriptor and layer.sealed. NULL: out of memory. */
struct bio_st *pel__tls_bio(struct pel_tls *tls);

/* After OpenSSL has failed, and what it has to say to the peer is on its way: fills options.failure and ends the
 * stream, unless the system has ended it. Returns PEL_ESYSTEM. */
int pel__tls_fail(struct pel_tls *tls, int code);

#endif
