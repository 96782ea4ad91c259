#pragma once

/*
 * Two streams with TLS between them. The test carries the bytes from one to the other: any number at a time, truncated,
 * or changed. The certificate is for "pelton.test" and self-signed.
 */

#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include "core/tls/tls.h"

struct end {
    struct pel_stream stream; /* first */
    struct pel_tls_failure failure;
    int far;        /* the peer's descriptor, which the test holds */
    int handshake;  /* the last result of pel_tls_handshake */
    size_t carried; /* the bytes carried from this end */
};

static struct pel_loop loop;
static struct end client, server;
static struct pel_tls_context *client_context, *server_context;
static char certificate_pem[4096], key_pem[4096];

static void check_code(int code, const char *text)
{
    if (code < 0)
        CHECK_FAIL("%s", text);
}

static void sign_certificate(const char *name)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_NAME *subject = X509_get_subject_name(certificate);
    char alternative[100];
    X509_EXTENSION *extension;
    BIO *bio;

    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(certificate, subject);
    snprintf(alternative, sizeof alternative, "DNS:%s,IP:127.0.0.1", name);
    extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, alternative);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
    memset(certificate_pem, 0, sizeof certificate_pem);
    memset(key_pem, 0, sizeof key_pem);
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    BIO_read(bio, certificate_pem, sizeof certificate_pem - 1);
    BIO_free(bio);
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    BIO_read(bio, key_pem, sizeof key_pem - 1);
    BIO_free(bio);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static struct pel_slice bytes_of(const char *text)
{
    return (struct pel_slice){text, strlen(text)};
}

static void make_contexts(void)
{
    char text[PEL_TLS_TEXT];

    if (!certificate_pem[0])
        sign_certificate("pelton.test");
    CHECK((client_context = pel_tls_context_new()) && (server_context = pel_tls_context_new()));
    check_code(pel_tls_context_certificate(server_context, bytes_of(certificate_pem), bytes_of(key_pem), NULL, text),
               text);
    check_code(pel_tls_context_trust(client_context, bytes_of(certificate_pem), text), text);
}

static void drop_contexts(void)
{
    pel_tls_context_release(client_context);
    pel_tls_context_release(server_context);
}

static void continue_handshake(struct pel_stream *stream, unsigned events)
{
    struct end *end = (struct end *)stream;

    if (pel_stream_securing_p(stream))
        end->handshake = pel_tls_handshake(stream);
}

static void open_end(struct end *end)
{
    int fds[2];

    memset(end, 0, sizeof *end);
    end->stream.handle.slot = PEL_UNREGISTERED;
    end->stream.on_ready = continue_handshake;
    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    CHECK_INT(0, pel_socket_prepare(fds[0]));
    CHECK_INT(0, pel_socket_prepare(fds[1]));
    CHECK_INT(0, pel_stream_open(&end->stream, &loop, fds[0]));
    end->far = fds[1];
    end->handshake = PEL_EAGAIN;
}

static struct pel_tls_options client_options(void)
{
    return (struct pel_tls_options){.verify = PEL_TLS_VERIFY, .name = "pelton.test", .failure = &client.failure};
}

static struct pel_tls_options server_options(void)
{
    return (struct pel_tls_options){.server = 1, .failure = &server.failure};
}

static void open_ends(void)
{
    CHECK_INT(0, pel_loop_open(&loop, NULL));
    open_end(&client);
    open_end(&server);
}

static void begin(struct pel_tls_options for_client, struct pel_tls_options for_server)
{
    CHECK_INT(0, pel_tls_start(&client.stream, client_context, &for_client, NULL, 0));
    CHECK_INT(0, pel_tls_start(&server.stream, server_context, &for_server, NULL, 0));
    client.handshake = pel_tls_handshake(&client.stream);
    server.handshake = pel_tls_handshake(&server.stream);
}

/* Flushes and dispatches events until there are none. */
static void run_loops(void)
{
    int more;

    do {
        more = loop.flush_list != NULL;
        pel_streams_flush(&loop);
        CHECK_INT(0, pel_loop_wait(&loop, 0));
        while (pel_loop_dispatch(&loop))
            more = 1;
    } while (more);
}

/* Carries at most `most` bytes from one end to the other. Returns their number. */
static size_t carry(struct end *from, struct end *to, size_t most)
{
    char bytes[65536];
    ssize_t count = most ? read(from->far, bytes, most < sizeof bytes ? most : sizeof bytes) : 0;

    if (count <= 0)
        return 0;
    CHECK_INT(count, write(to->far, bytes, (size_t)count));
    from->carried += (size_t)count;
    return (size_t)count;
}

/* Runs both ends and carries bytes in both directions until neither end sends any more. */
static void carry_until_quiet(void)
{
    do
        run_loops();
    while (carry(&client, &server, SIZE_MAX) + carry(&server, &client, SIZE_MAX));
}

static void close_ends(void)
{
    pel_stream_close(&client.stream);
    pel_stream_close(&server.stream);
    close(client.far);
    close(server.far);
    pel_loop_close(&loop);
}

/* Opens a pair, and goes on with the handshake as far as it comes. */
__attribute__((unused)) static void shake_hands(struct pel_tls_options options)
{
    open_ends();
    begin(options, server_options());
    carry_until_quiet();
}

/* Opens a pair and completes the handshake. */
__attribute__((unused)) static void connect_ends(void)
{
    make_contexts();
    shake_hands(client_options());
    CHECK_INT(0, client.handshake);
    CHECK_INT(0, server.handshake);
}

__attribute__((unused)) static void disconnect_ends(void)
{
    close_ends();
    drop_contexts();
}

__attribute__((unused)) static void send_text(struct end *end, const char *text)
{
    CHECK_INT(0, pel_stream_append(&end->stream, text, strlen(text)));
    pel_stream_flush_later(&end->stream);
}

__attribute__((unused)) static void check_receives(struct end *end, const char *text)
{
    char bytes[1000];
    ssize_t count = pel_stream_receive(&end->stream, bytes, sizeof bytes);

    if (count < 0)
        CHECK_FAIL("receive: %s (%s)", pel_error_text((int)count), end->failure.text);
    CHECK_BYTES(text, bytes, (size_t)count);
}

/* Opens a pair whose client has a session under this name, or makes one: whether it resumes it. Closes the pair. */
__attribute__((unused)) static int resumes(const char *session)
{
    struct pel_tls_options options = client_options();
    struct pel_tls_info info;

    options.session = session;
    open_ends();
    begin(options, server_options());
    send_text(&server, "x");
    carry_until_quiet();
    check_receives(&client, "x"); /* the tickets arrive before it */
    CHECK_INT(1, pel_tls_info(&client.stream, &info));
    close_ends();
    return info.resumed;
}

#define CONNECTED_TEST(title) TEST_BETWEEN(connect_ends(), title, disconnect_ends())

#define TLS_TEST(title) TEST_BETWEEN(make_contexts(), title, disconnect_ends())
