#ifndef PELTON_TEST_CORE_MEMCACHED_SERVER_CONVERSATION_H
#define PELTON_TEST_CORE_MEMCACHED_SERVER_CONVERSATION_H

/*
 * A client of a session, without a socket: it sends bytes in pieces of any size, and collects all replies. Each piece
 * is copied to memory of its own, where ASAN detects an over-read.
 */

#include <stdlib.h>
#include <string.h>

#include "core/memcached_server/session.h"
#include "core/memcached_server/transfer.h"

/* The fuzz target does not include the harness. */
#ifndef CHECK
#define CHECK(condition) ((condition) ? (void)0 : abort())
#endif

struct conversation {
    struct pel_memcached_service service;
    struct pel_memcached_session session;
    struct pel_buffer output, rest, received; /* received: all replies so far */
    int direct;                               /* values are received directly into their items */
};

__attribute__((unused)) static void conversation_begin(struct conversation *talk, uint64_t memory, uint64_t item)
{
    memset(talk, 0, sizeof *talk);
    CHECK(pel_store_init(&talk->service.store, memory, item) == 0);
    pel_store_set_time(&talk->service.store, 0, 1800000000);
    talk->service.configured_memory = memory;
    talk->service.max_connections = 1024;
    pel_memcached_session_init(&talk->session, &talk->service);
}

__attribute__((unused)) static void conversation_end(struct conversation *talk)
{
    pel_memcached_session_end(&talk->session);
    pel_store_free(&talk->service.store);
    CHECK(talk->service.store.bytes == 0);
    pel_buffer_free(&talk->output);
    pel_buffer_free(&talk->rest);
    pel_buffer_free(&talk->received);
}

/* Reads all output and the value behind it. Returns 1 if there was any. */
__attribute__((unused)) static int conversation_read(struct conversation *talk)
{
    size_t length = pel_buffer_length(&talk->output);
    struct pel_slice value = {NULL, 0};
    struct pel_item *item;

    if (length)
        CHECK(pel_buffer_append(&talk->received, pel_buffer_head(&talk->output), length) == 0);
    pel_buffer_consume(&talk->output, length);
    if ((item = pel_memcached_download_take(&talk->session, &value))) {
        CHECK(pel_buffer_append(&talk->received, value.bytes, value.length) == 0);
        pel_store_release(&talk->service.store, item);
    }
    return length + value.length > 0;
}

/* Feeds the session the unconsumed bytes, and reads its output, until it needs more. */
static void conversation_run(struct conversation *talk)
{
    int full;

    do {
        size_t length = pel_buffer_length(&talk->rest), used;
        char *bytes = malloc(length ? length : 1);
        CHECK(bytes);
        if (length)
            memcpy(bytes, pel_buffer_head(&talk->rest), length);
        used = pel_memcached_session_receive(&talk->session, bytes, length, &talk->output);
        free(bytes);
        CHECK(used <= length);
        pel_buffer_consume(&talk->rest, used);
        full = pel_memcached_session_full(&talk->session, &talk->output);
        conversation_read(talk);
    } while (full && !talk->session.closing);
}

__attribute__((unused)) static void conversation_send(struct conversation *talk, const char *bytes, size_t length)
{
    while (length > 0 && !talk->session.closing) {
        char *at;
        size_t wanted = talk->direct ? pel_memcached_upload_space(&talk->session, &at) : 0;
        if (wanted > 0 && pel_buffer_length(&talk->rest) == 0) {
            if (wanted > length)
                wanted = length;
            memcpy(at, bytes, wanted);
            pel_memcached_upload_commit(&talk->session, wanted);
        } else {
            wanted = length;
            CHECK(pel_buffer_append(&talk->rest, bytes, length) == 0);
        }
        bytes += wanted;
        length -= wanted;
        conversation_run(talk);
    }
}

__attribute__((unused)) static void conversation_send_text(struct conversation *talk, const char *text)
{
    conversation_send(talk, text, strlen(text));
}

#endif
