#include "check.h"
#include "core/tls/tls_private.h"
#include "tls/pair.h"

static struct pel_tls *tls_of(struct end *end)
{
    return (struct pel_tls *)end->stream.layer;
}

CONNECTED_TEST(an_idle_stream_keeps_no_buffer)
{
    send_text(&client, "x");
    carry_until_quiet();
    check_receives(&server, "x");
    CHECK_INT(0, tls_of(&server)->early.capacity);
    CHECK(tls_of(&client)->layer.sealed.capacity <= 16384);
}

CONNECTED_TEST(a_read_without_bytes_is_retried_and_is_no_end)
{
    char byte;
    struct bio_st *bio;

    bio = pel__tls_bio(tls_of(&client));
    while (pel_stream_receive(&client.stream, &byte, 1) > 0)
        ;
    CHECK_INT(-1, BIO_read(bio, &byte, 1));
    CHECK(BIO_should_read(bio));
    CHECK(!BIO_eof(bio));
    shutdown(client.far, SHUT_WR);
    run_loops();
    CHECK_INT(0, BIO_read(bio, &byte, 1));
    CHECK(!BIO_should_retry(bio));
    CHECK(BIO_eof(bio));
    BIO_free(bio);
}

/* A peer that causes replies and never reads them must not exhaust the memory. */
CONNECTED_TEST(replies_to_a_peer_that_never_reads_are_bounded)
{
    char bytes[65536] = {0};
    struct bio_st *bio;
    int written = 0;

    bio = pel__tls_bio(tls_of(&client));
    while (written < 1000 && BIO_write(bio, bytes, sizeof bytes) > 0)
        written++;
    CHECK(written >= 16 && written < 20);
    CHECK(!BIO_should_retry(bio));
    BIO_free(bio);
}
