#ifdef HAVE_OPENSSL_SSL_H

#include "core/tls/context.h"

#include <openssl/dh.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include "core/base/alloc.h"
#include "core/base/error.h"

#define MAX_SESSIONS 64 /* the sessions that a client keeps */

/* Only ciphers with AEAD and forward secrecy, as in TLS 1.3. No finite-field Diffie-Hellman: a client that requests a
 * large group would make the server compute for a tenth of a second. */
#define CIPHERS                                                                                                        \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"                         \
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define GROUPS "X25519:P-256:P-384:P-521"

struct kept_session {
    char *name;
    SSL_SESSION *session;
};

struct pel_tls_context {
    SSL_CTX *ssl;
    unsigned references;
    uint64_t identity; /* of its sessions; one that was reloaded has its former's */
    char *groups;      /* NULL: the default ones */
    unsigned char *alpn;
    unsigned alpn_length;
    char *plain_answer; /* or NULL */
    struct kept_session sessions[MAX_SESSIONS];
    unsigned next_session; /* counts the insertions: its remainder is the slot to overwrite */
};

/* ---- memory --------------------------------------------------------------------------------------------------- */

struct pel_tls_context *pel_tls_context_new(void)
{
    static uint64_t contexts;
    struct pel_tls_context *context = pel_calloc(1, sizeof *context);
    SSL_CTX *ssl = context ? SSL_CTX_new(TLS_method()) : NULL;

    if (!ssl) {
        pel_free(context);
        ERR_clear_error();
        return NULL;
    }
    context->ssl = ssl;
    context->references = 1;
    context->identity = __atomic_add_fetch(&contexts, 1, __ATOMIC_RELAXED);
    SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_cipher_list(ssl, CIPHERS);
    SSL_CTX_set1_groups_list(ssl, GROUPS);
    SSL_CTX_set_dh_auto(ssl, 1); /* for programs that enable DHE by their own cipher list */
    if (SSL_CTX_get_security_level(ssl) < 2)
        SSL_CTX_set_security_level(ssl, 2);
    pel_tls_context_resumption(context, 1);
    return context;
}

void pel_tls_context_retain(struct pel_tls_context *context)
{
    context->references++;
}

void pel_tls_context_release(struct pel_tls_context *context)
{
    if (!context || --context->references)
        return;
    for (int i = 0; i < MAX_SESSIONS; i++) {
        SSL_SESSION_free(context->sessions[i].session);
        pel_free(context->sessions[i].name);
    }
    SSL_CTX_free(context->ssl);
    pel_free(context->alpn);
    pel_free(context->plain_answer);
    pel_free(context->groups);
    pel_free(context);
}

void *pel__tls_context_ssl(struct pel_tls_context *context)
{
    return context->ssl;
}

/* ---- errors --------------------------------------------------------------------------------------------------- */

void pel__tls_error_text(char text[PEL_TLS_TEXT])
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(code);

    if (reason)
        snprintf(text, PEL_TLS_TEXT, "%s", reason);
    else
        snprintf(text, PEL_TLS_TEXT, "OpenSSL error %lu", code);
    ERR_clear_error();
}

static int openssl_failure(char text[PEL_TLS_TEXT])
{
    pel__tls_error_text(text);
    return PEL_EARGUMENT;
}

static int check_openssl(int ok, char text[PEL_TLS_TEXT])
{
    return ok ? 0 : openssl_failure(text);
}

/* ---- PEM ------------------------------------------------------------------------------------------------------ */

/* Replaces OpenSSL's own callback, which prompts at the terminal. */
static int supply_password(char *buffer, int size, int writing, void *password)
{
    size_t length = password ? strlen(password) : 0;

    (void)writing;
    if (length > (size_t)size)
        return -1;
    if (length)
        memcpy(buffer, password, length);
    return (int)length;
}

static BIO *pem_reader(struct pel_slice pem)
{
    return BIO_new_mem_buf(pem.bytes, (int)pem.length);
}

/* Whether reading stopped at the end of the certificates, which OpenSSL reports like an error. */
static int reached_end_of_pem(void)
{
    unsigned long code = ERR_peek_last_error();
    int ended = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;

    if (ended)
        ERR_clear_error();
    return ended;
}

static int use_certificates(SSL_CTX *ssl, BIO *bio)
{
    X509 *certificate = PEM_read_bio_X509_AUX(bio, NULL, supply_password, NULL);
    int ok = certificate && SSL_CTX_use_certificate(ssl, certificate);

    X509_free(certificate);
    if (!ok)
        return 0;
    SSL_CTX_clear_chain_certs(ssl);
    while ((certificate = PEM_read_bio_X509(bio, NULL, supply_password, NULL)))
        if (!SSL_CTX_add0_chain_cert(ssl, certificate)) {
            X509_free(certificate);
            return 0;
        }
    return reached_end_of_pem();
}

int pel_tls_context_certificate(struct pel_tls_context *context, struct pel_slice pem, struct pel_slice key,
                                const char *password, char text[PEL_TLS_TEXT])
{
    BIO *bio = pem_reader(pem), *key_bio = pem_reader(key.bytes ? key : pem);
    EVP_PKEY *private_key = NULL;
    int ok = 0;

    ERR_clear_error();
    if (!bio || !key_bio || !use_certificates(context->ssl, bio))
        goto done;
    if (!(private_key = PEM_read_bio_PrivateKey(key_bio, NULL, supply_password, (void *)password)))
        goto done;
    ok = SSL_CTX_use_PrivateKey(context->ssl, private_key) && SSL_CTX_check_private_key(context->ssl);
done:
    EVP_PKEY_free(private_key);
    BIO_free(bio);
    BIO_free(key_bio);
    return check_openssl(ok, text);
}

int pel_tls_context_trust(struct pel_tls_context *context, struct pel_slice pem, char text[PEL_TLS_TEXT])
{
    X509_STORE *store = SSL_CTX_get_cert_store(context->ssl);
    BIO *bio = pem_reader(pem);
    X509 *certificate;
    int count = 0, ok = bio != NULL;

    ERR_clear_error();
    while (ok && (certificate = PEM_read_bio_X509_AUX(bio, NULL, supply_password, NULL))) {
        ok = X509_STORE_add_cert(store, certificate) && SSL_CTX_add_client_CA(context->ssl, certificate);
        X509_free(certificate);
        count++;
    }
    BIO_free(bio);
    return check_openssl(ok && count && reached_end_of_pem(), text);
}

int pel_tls_context_trust_folder(struct pel_tls_context *context, const char *path, char text[PEL_TLS_TEXT])
{
    ERR_clear_error();
    return check_openssl(path ? SSL_CTX_load_verify_locations(context->ssl, NULL, path)
                              : SSL_CTX_set_default_verify_paths(context->ssl),
                         text);
}

/* ---- negotiation ---------------------------------------------------------------------------------------------- */

int pel_tls_context_versions(struct pel_tls_context *context, int least, int most, char text[PEL_TLS_TEXT])
{
    ERR_clear_error();
    return check_openssl(
        SSL_CTX_set_min_proto_version(context->ssl, least) && SSL_CTX_set_max_proto_version(context->ssl, most), text);
}

int pel_tls_context_ciphers(struct pel_tls_context *context, const char *ciphers, const char *suites,
                            const char *groups, char text[PEL_TLS_TEXT])
{
    char *copied = groups ? strdup(groups) : NULL;

    ERR_clear_error();
    if (copied) {
        pel_free(context->groups);
        context->groups = copied;
    }
    return check_openssl((!ciphers || SSL_CTX_set_cipher_list(context->ssl, ciphers)) &&
                             (!suites || SSL_CTX_set_ciphersuites(context->ssl, suites)) &&
                             (!groups || SSL_CTX_set1_groups_list(context->ssl, groups)),
                         text);
}

int pel_tls_context_security(struct pel_tls_context *context, int level, char text[PEL_TLS_TEXT])
{
    if (level < 0 || level > 5) {
        snprintf(text, PEL_TLS_TEXT, "the security level is a number from 0 to 5");
        return PEL_EARGUMENT;
    }
    SSL_CTX_set_security_level(context->ssl, level);
    return 0;
}

int pel_tls_context_dh(struct pel_tls_context *context, struct pel_slice pem, char text[PEL_TLS_TEXT])
{
    BIO *bio = pem_reader(pem);
    int ok = 0;

    ERR_clear_error();
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    EVP_PKEY *parameters = bio ? PEM_read_bio_Parameters(bio, NULL) : NULL;
    if (parameters && !(ok = SSL_CTX_set0_tmp_dh_pkey(context->ssl, parameters)))
        EVP_PKEY_free(parameters);
#else
    DH *parameters = bio ? PEM_read_bio_DHparams(bio, NULL, supply_password, NULL) : NULL;
    ok = parameters && SSL_CTX_set_tmp_dh(context->ssl, parameters);
    DH_free(parameters);
#endif
    BIO_free(bio);
    return check_openssl(ok, text);
}

/* A server selects the first of its own protocols that the client offers. If there is none, it goes on without ALPN. */
static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *offered,
                       unsigned offered_length, void *argument)
{
    struct pel_tls_context *context = argument;

    (void)ssl;
    return SSL_select_next_proto((unsigned char **)out, length, context->alpn, context->alpn_length, offered,
                                 offered_length) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

int pel_tls_context_alpn(struct pel_tls_context *context, struct pel_slice protocols, char text[PEL_TLS_TEXT])
{
    ERR_clear_error();
    pel_free(context->alpn);
    context->alpn_length = (unsigned)protocols.length;
    if (!(context->alpn = pel_malloc(protocols.length + 1))) {
        snprintf(text, PEL_TLS_TEXT, "out of memory");
        return PEL_EARGUMENT;
    }
    memcpy(context->alpn, protocols.bytes, protocols.length);
    SSL_CTX_set_alpn_select_cb(context->ssl, select_alpn, context);
    return check_openssl(SSL_CTX_set_alpn_protos(context->ssl, context->alpn, context->alpn_length) == 0, text);
}

/* ---- clients without TLS --------------------------------------------------------------------------------------- */

int pel_tls_context_plain_answer(struct pel_tls_context *context, const char *answer)
{
    pel_free(context->plain_answer);
    return (context->plain_answer = strdup(answer)) ? 0 : PEL_EMEMORY;
}

const char *pel__tls_context_plain_answer(const struct pel_tls_context *context)
{
    return context->plain_answer;
}

/* ---- resuming ------------------------------------------------------------------------------------------------- */

void pel_tls_context_resumption(struct pel_tls_context *context, int on)
{
    /* The context keeps a client's sessions by name. A server keeps no sessions, since its tickets contain them. */
    SSL_CTX_set_session_cache_mode(context->ssl,
                                   on ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (on) {
        SSL_CTX_clear_options(context->ssl, SSL_OP_NO_TICKET);
        SSL_CTX_set_num_tickets(context->ssl, 2);
    } else {
        SSL_CTX_set_options(context->ssl, SSL_OP_NO_TICKET);
        SSL_CTX_set_num_tickets(context->ssl, 0);
    }
}

static struct kept_session *find_session(struct pel_tls_context *context, const char *name)
{
    for (int i = 0; i < MAX_SESSIONS; i++)
        if (context->sessions[i].name && strcmp(context->sessions[i].name, name) == 0)
            return &context->sessions[i];
    return NULL;
}

void pel__tls_context_keep_session(struct pel_tls_context *context, const char *name, void *session)
{
    struct kept_session *slot = find_session(context, name);

    if (!slot) {
        slot = &context->sessions[context->next_session++ % MAX_SESSIONS];
        pel_free(slot->name);
        slot->name = strdup(name);
    }
    SSL_SESSION_free(slot->session);
    slot->session = session;
}

void *pel__tls_context_take_session(struct pel_tls_context *context, const char *name)
{
    struct kept_session *slot = find_session(context, name);
    SSL_SESSION *session = slot ? slot->session : NULL;

    if (slot)
        slot->session = NULL;
    return session;
}

/* OpenSSL moves the certificate, the store and what is looked up in its context; the rest was copied when the
 * connection was made. */
int pel__tls_context_move(void *ssl, struct pel_tls_context *context)
{
    SSL_CTX *moved_to = context->ssl;

    if (!SSL_set_SSL_CTX(ssl, moved_to))
        return 0;
    SSL_clear_options(ssl, ~SSL_CTX_get_options(moved_to));
    SSL_set_options(ssl, SSL_CTX_get_options(moved_to));
    return SSL_set_min_proto_version(ssl, SSL_CTX_get_min_proto_version(moved_to)) &&
           SSL_set_max_proto_version(ssl, SSL_CTX_get_max_proto_version(moved_to)) &&
           SSL_set_num_tickets(ssl, SSL_CTX_get_num_tickets(moved_to)) &&
           SSL_set1_groups_list(ssl, context->groups ? context->groups : GROUPS);
}

void pel__tls_context_name_sessions(const struct pel_tls_context *context, void *ssl, unsigned char level)
{
    unsigned char name[sizeof context->identity + 1];

    memcpy(name, &context->identity, sizeof context->identity);
    name[sizeof context->identity] = level;
    SSL_set_session_id_context(ssl, name, sizeof name);
}

void pel_tls_context_copy_ticket_keys(struct pel_tls_context *context, struct pel_tls_context *former)
{
    unsigned char keys[256];
    long length = SSL_CTX_set_tlsext_ticket_keys(former->ssl, NULL, 0); /* NULL queries the keys' length */

    context->identity = former->identity;
    if (length > 0 && length <= (long)sizeof keys && SSL_CTX_get_tlsext_ticket_keys(former->ssl, keys, length) == 1)
        SSL_CTX_set_tlsext_ticket_keys(context->ssl, keys, length);
    OPENSSL_cleanse(keys, sizeof keys);
    ERR_clear_error();
}

#endif
