#ifndef PEL_TLS_H
#define PEL_TLS_H

#include "stream.h"
#include "tls_context.h"

/*
 * TLS on a stream, by OpenSSL: a layer that never touches the descriptor itself, so nothing in it blocks. What came is
 * opened when the owner receives; what is queued is sealed when the stream is flushed. It keeps at most one read's
 * worth of sealed bytes in each direction.
 *
 * The owner calls pel_tls_handshake when on_ready says that something came, until the handshake is done. Its hooks are
 * called from there alone; they may do anything but call pel_tls_handshake again, even close the stream.
 */

/* What ended it. The owner's: it outlives the stream's closing. */
struct pel_tls_failure {
    int code; /* PEL_ETLS, PEL_EUNTRUSTED, PEL_ETRUNCATED; 0: none, or stream->error is the system's */
    char text[PEL_TLS_TEXT];
};

enum pel_tls_verify {
    PEL_TLS_VERIFY_NONE,
    PEL_TLS_VERIFY_OFFERED, /* a client's certificate, if it has one */
    PEL_TLS_VERIFY          /* the peer must have one, and it must be good */
};

/* A certificate of the peer's chain, as the hook sees it. Valid during the call. */
struct pel_tls_certificate {
    const char *pem;
    size_t length;
    int depth;          /* 0: the peer's own */
    const char *reason; /* why it is not trusted, NULL: it is */
};

struct pel_tls_hooks {
    /* Whether a certificate is accepted. Called for each, the authority's first. */
    int (*verify)(void *owner, const struct pel_tls_certificate *certificate);
    /* The context for the name that a client asks for, or NULL: refuse it. It is retained here. `name` may be NULL. */
    struct pel_tls_context *(*choose)(void *owner, const char *name);
};

struct pel_tls_options {
    int server;
    enum pel_tls_verify verify;
    const char *name;           /* a client's: whom it expects, a name or an address; or NULL */
    const char *session;        /* a client's: under which its session is kept and resumed; or NULL */
    struct pel_tls_hooks hooks; /* either may be NULL */
    void *owner;                /* the hooks' */
    struct pel_tls_failure *failure;
};

/* Puts TLS on a stream; `early` bytes were received before, and belong to the peer's handshake. The stream keeps the
 * context. 0, PEL_EMEMORY, PEL_ECLOSED, or PEL_EARGUMENT: there is TLS already, or the shut write side is past. */
int pel_tls_start(struct pel_stream *stream, struct pel_tls_context *context, const struct pel_tls_options *options,
                  const void *early, size_t length);

/* Goes on with the handshake. 0: done; PEL_EAGAIN: when more has come; PEL_ECLOSED: it was closed meanwhile;
 * PEL_ESYSTEM: it failed, see failure and stream->error. */
int pel_tls_handshake(struct pel_stream *stream);

/* ---- what was agreed upon: NULL or 0 before the handshake is done, and without TLS ------------------------------- */

struct pel_tls_facts {
    const char *protocol, *cipher; /* static texts */
    int bits;
    const char *name; /* that the client asked for, or NULL; until the stream is closed */
    const unsigned char *alpn;
    unsigned alpn_length;
    int resumed, verified;
};
int pel_tls_facts(const struct pel_stream *stream, struct pel_tls_facts *facts);

/* Appends the peer's certificate, or all of its chain, in PEM. 0, PEL_EMEMORY; nothing when there is none. */
int pel_tls_peer(const struct pel_stream *stream, int chain, struct pel_buffer *pem);

#endif
