#pragma once

#include "core/stream/stream.h"
#include "core/tls/context.h"

/*
 * TLS on a stream, by OpenSSL: a layer that never uses the descriptor itself, so it never blocks. Received bytes are
 * opened when the owner receives; queued bytes are sealed when the stream is flushed. The layer keeps at most one
 * read's worth of sealed bytes in each direction.
 *
 * The owner calls pel_tls_handshake whenever on_ready reports readiness, until the handshake is done. Only
 * pel_tls_handshake calls the hooks; they may do anything except call pel_tls_handshake again, even close the stream.
 */

/* The reason of a failure. It belongs to the owner, since it must outlive the stream's closing. */
struct pel_tls_failure {
    int code; /* PEL_ETLS, PEL_EUNTRUSTED, PEL_ETRUNCATED; 0: no failure, or stream->error is an errno of the system */
    char text[PEL_TLS_TEXT];
};

enum pel_tls_verify {
    PEL_TLS_VERIFY_NONE,
    PEL_TLS_VERIFY_OFFERED, /* verify the certificate of a client that sends one */
    PEL_TLS_VERIFY          /* the peer must send a certificate, and it must be valid */
};

/* A certificate of the peer's chain, passed to the hook. Valid during the call. */
struct pel_tls_certificate {
    const char *pem;
    size_t length;
    int depth;          /* 0: the peer's own certificate */
    const char *reason; /* why the certificate is not trusted; NULL: it is trusted */
};

/* How a server meets a client: filled with the listener's own before the hook is asked. */
struct pel_tls_choice {
    struct pel_tls_context *context;
    enum pel_tls_verify verify;
    int (*on_verify)(void *owner, const struct pel_tls_certificate *certificate);
};

/* What a client's hello asks for. Valid during the call. */
struct pel_tls_hello {
    const char *name;          /* of the server, or NULL */
    struct pel_slice protocol; /* the one that the client speaks on top of TLS; empty: it names none, or several */
};

struct pel_tls_hooks {
    /* Whether to accept a certificate. Called for each certificate of the chain, the authority's first. */
    int (*verify)(void *owner, const struct pel_tls_certificate *certificate);
    /* Changes the choice for what a client asks for. 0: the client is refused. The context is retained by the caller.
     * Called again when the client was asked for another hello. */
    int (*choose)(void *owner, const struct pel_tls_hello *hello, struct pel_tls_choice *choice);
};

struct pel_tls_options {
    int server;
    enum pel_tls_verify verify;
    const char *name;           /* client: the expected server name or address, or NULL */
    const char *session;        /* client: the key under which its session is kept and resumed, or NULL */
    struct pel_tls_hooks hooks; /* either may be NULL */
    void *owner;                /* passed to the hooks */
    struct pel_tls_failure *failure;
};

/* Starts TLS on a stream. The `early` bytes were received before and belong to the peer's handshake. The stream retains
 * the context. Returns 0, PEL_EMEMORY, PEL_ECLOSED, or PEL_EARGUMENT if the stream has a layer already or its write
 * side is being shut. */
int pel_tls_start(struct pel_stream *stream, struct pel_tls_context *context, const struct pel_tls_options *options,
                  const void *early, size_t length);

/* Continues the handshake. Returns 0 when it is done; PEL_EAGAIN when it needs more bytes; PEL_ECLOSED when the stream
 * was closed meanwhile; PEL_ESYSTEM when it failed: see failure and stream->error. */
int pel_tls_handshake(struct pel_stream *stream);

/* ---- the negotiated parameters: NULL or 0 before the handshake is done, and without TLS ----------------------- */

struct pel_tls_info {
    const char *protocol, *cipher; /* static texts */
    int bits;
    const char *name; /* the server name that the client requested, or NULL; valid until the stream is closed */
    const unsigned char *alpn;
    unsigned alpn_length;
    int resumed, verified;
};

/* Fills in the parameters. Returns whether the stream has TLS. */
int pel_tls_info(const struct pel_stream *stream, struct pel_tls_info *info);

/* Whether the connection, whose handshake is done, could have been made with the other context as well, by its version,
 * its cipher and its level of security. 0 without TLS. */
int pel_tls_meets(const struct pel_stream *stream, struct pel_tls_context *context);

/* Appends the peer's certificate, or its whole chain, in PEM; nothing if there is none. Returns 0 or PEL_EMEMORY. */
int pel_tls_peer(const struct pel_stream *stream, int chain, struct pel_buffer *pem);
