#ifdef HAVE_OPENSSL_SSL_H

#include "tls_private.h"

#include <openssl/bio.h>
#include <string.h>

#define SEALED_MOST (1024 * 1024) /* a peer that sends but never reads makes more answers than this */

static BIO_METHOD *method;

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* Straight into OpenSSL's own buffer, which it frees when it is empty. */
static int receive(struct pel_tls *tls, BIO *bio, char *bytes, int length)
{
    tls->raw = tls->stream ? pel__stream_receive(tls->stream, bytes, (size_t)length) : PEL_ECLOSED;
    if (tls->raw == PEL_EAGAIN)
        BIO_set_retry_read(bio);
    return tls->raw < 0 ? -1 : (int)tls->raw;
}

static int bio_read(BIO *bio, char *bytes, int length)
{
    struct pel_tls *tls = BIO_get_data(bio);
    size_t count = least((size_t)length, pel_buffer_length(&tls->early));

    BIO_clear_retry_flags(bio);
    if (!count)
        return receive(tls, bio, bytes, length);
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
    if (!tls->stream || pel_buffer_length(&tls->layer.sealed) > SEALED_MOST ||
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
        return tls->raw == 0;
    return command == BIO_CTRL_FLUSH;
}

BIO *pel__tls_bio(struct pel_tls *tls)
{
    BIO *bio;

    if (!method && (method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "a stream"))) {
        BIO_meth_set_read(method, bio_read);
        BIO_meth_set_write(method, bio_write);
        BIO_meth_set_ctrl(method, bio_control);
    }
    bio = method ? BIO_new(method) : NULL;
    if (bio) {
        BIO_set_data(bio, tls);
        BIO_set_init(bio, 1);
    }
    return bio;
}

#endif
