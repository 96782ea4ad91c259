#ifdef HAVE_OPENSSL_SSL_H

#include "core/tls/tls_private.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <string.h>
#include "core/base/slice.h"

#define MAX_SEALED (1024 * 1024) /* bytes; a peer that sends but never reads would cause more replies than this */

static BIO_METHOD *stream_bio_method;

/* Receives directly into OpenSSL's own buffer, which OpenSSL frees once it is empty. */
static int receive_sealed(struct pel_tls *tls, BIO *bio, char *bytes, int length)
{
    tls->last_received = tls->stream ? pel__stream_receive(tls->stream, bytes, (size_t)length) : PEL_ECLOSED;
    if (tls->last_received == PEL_EAGAIN)
        BIO_set_retry_read(bio);
    return tls->last_received < 0 ? -1 : (int)tls->last_received;
}

static int bio_read(BIO *bio, char *bytes, int length)
{
    struct pel_tls *tls = BIO_get_data(bio);
    size_t count = pel_min((size_t)length, pel_buffer_length(&tls->early));

    BIO_clear_retry_flags(bio);
    if (!count)
        return receive_sealed(tls, bio, bytes, length);
    memcpy(bytes, pel_buffer_head(&tls->early), count);
    pel_buffer_consume(&tls->early, count);
    if (!pel_buffer_length(&tls->early))
        pel_buffer_free(&tls->early);
    return (int)count;
}

static int bio_write(BIO *bio, const char *bytes, int length)
{
    struct pel_tls *tls = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (!tls->stream || pel_buffer_length(&tls->layer.sealed) > MAX_SEALED ||
        pel_buffer_append(&tls->layer.sealed, bytes, (size_t)length) < 0)
        return -1;
    return length;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    struct pel_tls *tls = BIO_get_data(bio);

    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF)
        return tls->last_received == 0;
    return command == BIO_CTRL_FLUSH;
}

BIO *pel__tls_bio(struct pel_tls *tls)
{
    BIO *bio;

    if (!stream_bio_method &&
        (stream_bio_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "a stream"))) {
        BIO_meth_set_read(stream_bio_method, bio_read);
        BIO_meth_set_write(stream_bio_method, bio_write);
        BIO_meth_set_ctrl(stream_bio_method, bio_control);
    }
    bio = stream_bio_method ? BIO_new(stream_bio_method) : NULL;
    if (bio) {
        BIO_set_data(bio, tls);
        BIO_set_init(bio, 1);
    }
    return bio;
}

int pel__tls_write_pem(X509 *certificate, struct pel_buffer *pem)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes;
    long length;
    int code = PEL_EMEMORY;

    if (bio && PEM_write_bio_X509(bio, certificate) && (length = BIO_get_mem_data(bio, &bytes)) >= 0)
        code = pel_buffer_append(pem, bytes, (size_t)length);
    BIO_free(bio);
    return code;
}

#endif
