#ifndef PEL_TLS_CONTEXT_H
#define PEL_TLS_CONTEXT_H

#include <stddef.h>

/*
 * What many TLS streams share: a certificate and its key, whom to trust, versions, ciphers, sessions to resume. It is
 * counted, and never changes once a stream uses it: a reload makes another.
 */

struct pel_tls_context;
struct pel_tls;

#define PEL_TLS_TEXT 256

struct pel_bytes {
    const char *bytes; /* NULL: absent */
    size_t length;
};

/* With safe defaults: TLS 1.2 at least, ciphers with forward secrecy, neither renegotiation nor compression. One
 * reference, the caller's. NULL: out of memory. */
struct pel_tls_context *pel_tls_context_new(void);
void pel_tls_context_retain(struct pel_tls_context *context);
void pel_tls_context_release(struct pel_tls_context *context);

/* Settings. Each returns 0, or PEL_EARGUMENT with a text that says what OpenSSL did not like. */

/* A PEM certificate, with its chain behind it, and its key. */
int pel_tls_context_certificate(struct pel_tls_context *context, struct pel_bytes pem, struct pel_bytes key,
                                const char *password, char text[PEL_TLS_TEXT]);
/* Authorities in PEM; their names are sent to clients whose certificate is wanted. */
int pel_tls_context_trust(struct pel_tls_context *context, struct pel_bytes pem, char text[PEL_TLS_TEXT]);
/* A folder of them, named by their hashes; or, with NULL, those that the system trusts. */
int pel_tls_context_trust_folder(struct pel_tls_context *context, const char *path, char text[PEL_TLS_TEXT]);
/* Versions as OpenSSL numbers them; 0: no limit of its own. */
int pel_tls_context_versions(struct pel_tls_context *context, int least, int most, char text[PEL_TLS_TEXT]);
/* OpenSSL's lists: of ciphers for TLS 1.2, of suites for TLS 1.3, of groups (curves). NULL leaves one as it is. */
int pel_tls_context_ciphers(struct pel_tls_context *context, const char *ciphers, const char *suites,
                            const char *groups, char text[PEL_TLS_TEXT]);
/* OpenSSL's security level, 0 to 5: 2 refuses what has less than 112 bits. */
int pel_tls_context_security(struct pel_tls_context *context, int level, char text[PEL_TLS_TEXT]);
/* Parameters for DHE, in PEM. */
int pel_tls_context_dh(struct pel_tls_context *context, struct pel_bytes pem, char text[PEL_TLS_TEXT]);
/* Protocols by preference, each behind a byte with its length. */
int pel_tls_context_alpn(struct pel_tls_context *context, struct pel_bytes protocols, char text[PEL_TLS_TEXT]);
/* Whether a server lets clients resume, and a client does so. */
void pel_tls_context_resumption(struct pel_tls_context *context, int on);
/* Takes the keys of another's session tickets, so that clients of a server that has reloaded still resume. */
void pel_tls_context_succeed(struct pel_tls_context *context, struct pel_tls_context *former);

/* ---- for tls.c ------------------------------------------------------------------------------------------------ */

/* Its SSL_CTX. */
void *pel__tls_context_ssl(struct pel_tls_context *context);
/* A client's session (an SSL_SESSION), kept under a name, in place of an older one. Takes the reference over. */
void pel__tls_context_keep(struct pel_tls_context *context, const char *name, void *session);
/* Takes it out, with its reference: a ticket is used once. NULL: none. */
void *pel__tls_context_take(struct pel_tls_context *context, const char *name);
/* What OpenSSL has to say of the last failure. Empties its queue. */
void pel__tls_text(char text[PEL_TLS_TEXT]);

#endif
