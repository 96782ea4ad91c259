#pragma once

#include "core/base/slice.h"

/*
 * The settings that many TLS streams share: a certificate and its key, trusted authorities, versions, ciphers, sessions
 * to resume. A context is reference-counted, and never changes once a stream uses it: a reload creates another context.
 */

struct pel_tls_context;
struct pel_tls;

#define PEL_TLS_TEXT 256

/* Creates a context with safe defaults: TLS 1.2 at least, ciphers with forward secrecy, neither renegotiation nor
 * compression. The caller owns the only reference. NULL: out of memory. */
struct pel_tls_context *pel_tls_context_new(void);
void pel_tls_context_retain(struct pel_tls_context *context);
void pel_tls_context_release(struct pel_tls_context *context);

/* Settings. Each returns 0, or PEL_EARGUMENT with OpenSSL's reason in `text`. */

/* A PEM certificate followed by its chain, and its key; without bytes, the key is read from `pem`, too. */
int pel_tls_context_certificate(struct pel_tls_context *context, struct pel_slice pem, struct pel_slice key,
                                const char *password, char text[PEL_TLS_TEXT]);
/* Trusted authorities in PEM. A server that requests client certificates sends their names to the client. */
int pel_tls_context_trust(struct pel_tls_context *context, struct pel_slice pem, char text[PEL_TLS_TEXT]);
/* A directory of trusted authorities, in files named by their hashes; or, with NULL, the system's. */
int pel_tls_context_trust_folder(struct pel_tls_context *context, const char *path, char text[PEL_TLS_TEXT]);
/* The oldest and newest version, as OpenSSL numbers them; 0: OpenSSL's own limit. */
int pel_tls_context_versions(struct pel_tls_context *context, int least, int most, char text[PEL_TLS_TEXT]);
/* OpenSSL's lists: ciphers for TLS 1.2, suites for TLS 1.3, groups (curves). NULL leaves a list unchanged. */
int pel_tls_context_ciphers(struct pel_tls_context *context, const char *ciphers, const char *suites,
                            const char *groups, char text[PEL_TLS_TEXT]);
/* OpenSSL's security level, 0 to 5. Level 2 refuses keys and ciphers with less than 112 bits of security. */
int pel_tls_context_security(struct pel_tls_context *context, int level, char text[PEL_TLS_TEXT]);
/* Parameters for DHE, in PEM. */
int pel_tls_context_dh(struct pel_tls_context *context, struct pel_slice pem, char text[PEL_TLS_TEXT]);
/* Protocols in the order of preference, each preceded by a byte with its length. */
int pel_tls_context_alpn(struct pel_tls_context *context, struct pel_slice protocols, char text[PEL_TLS_TEXT]);
/* What a server sends, as it is, to a client that begins with an HTTP request instead of a handshake. Copied. Returns 0
 * or PEL_EMEMORY. */
int pel_tls_context_plain_answer(struct pel_tls_context *context, const char *answer);
/* Whether a server lets clients resume sessions, and a client resumes them. */
void pel_tls_context_resumption(struct pel_tls_context *context, int on);
/* Copies the session ticket keys of another context, so that clients can still resume after a server has reloaded. */
void pel_tls_context_copy_ticket_keys(struct pel_tls_context *context, struct pel_tls_context *former);

/* ---- for the TLS layer ---------------------------------------------------------------------------------------- */

/* The context's SSL_CTX. */
void *pel__tls_context_ssl(struct pel_tls_context *context);
/* The answer to HTTP without TLS, or NULL. */
const char *pel__tls_context_plain_answer(const struct pel_tls_context *context);
/* Has a connection (an SSL) go on with this context's settings, before its hello was looked at. 0: out of memory. */
int pel__tls_context_move(void *ssl, struct pel_tls_context *context);
/* Names a server's sessions, of the connections (an SSL) at one level: others do not resume them. */
void pel__tls_context_name_sessions(const struct pel_tls_context *context, void *ssl, unsigned char level);
/* Keeps a client's session (an SSL_SESSION) under a name, where it replaces an older one. Takes over the reference. */
void pel__tls_context_keep_session(struct pel_tls_context *context, const char *name, void *session);
/* Removes the session of that name and passes its reference to the caller: a ticket is used once. NULL: none. */
void *pel__tls_context_take_session(struct pel_tls_context *context, const char *name);
/* OpenSSL's reason for the last failure. Empties OpenSSL's error queue. */
void pel__tls_error_text(char text[PEL_TLS_TEXT]);
