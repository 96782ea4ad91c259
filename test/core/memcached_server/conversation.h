#pragma once

/*
 * A client of a session, without a socket: it sends bytes in pieces of any size, and collects all replies. Each piece
 * is copied to memory of its own, where ASAN detects an over-read. A conversation has a store of its own, unless it
 * joins that of another one.
 */

#include <stdlib.h>
#include <string.h>

#include "core/memcached_server/memcached_session.h"
#include "core/memcached_server/transfer.h"

/* The fuzz target does not include the harness. */
#ifndef CHECK
#define CHECK(condition) ((condition) ? (void)0 : abort())
#endif

struct conversation {
    struct pel_memcached_service service;
    struct pel_memcached_session session;
    struct pel_buffer output, rest, received; /* received: all replies so far */
    struct pel_item *held;                    /* the item whose value the client is reading */
    struct pel_slice value;                   /* of that item */
    struct pel_buffer copy;                   /* of that value, which must not change meanwhile */
    int direct;                               /* values are received directly into their items */
    int slow; /* replies are only read by conversation_read, values released by conversation_release */
};

/* Begins a conversation with another one's service, which must end after it. */
static void conversation_join(struct conversation *talk, struct pel_memcached_service *service)
{
    pel_memcached_session_init(&talk->session, service);
}

__attribute__((unused)) static void conversation_begin(struct conversation *talk, uint64_t memory, uint64_t item)
{
    memset(talk, 0, sizeof *talk);
    CHECK(pel_store_init(&talk->service.store, memory, item) == 0);
    pel_store_set_time(&talk->service.store, 0, 1800000000);
    talk->service.configured_memory = memory;
    talk->service.max_connections = 1024;
    conversation_join(talk, &talk->service);
}

/* Begins to read the value that follows the output. Returns 0 if there is none. */
static int conversation_hold(struct conversation *talk)
{
    if (!(talk->held = pel_memcached_download_take(&talk->session, &talk->value)))
        return 0;
    CHECK(pel_buffer_append(&talk->copy, talk->value.bytes, talk->value.length) == 0);
    return 1;
}

/* Ends the reading of a value. */
static void conversation_release(struct conversation *talk)
{
    if (!talk->held)
        return;
    CHECK(!memcmp(pel_buffer_head(&talk->copy), talk->value.bytes, talk->value.length));
    pel_buffer_free(&talk->copy);
    CHECK(pel_buffer_append(&talk->received, talk->value.bytes, talk->value.length) == 0);
    pel_store_release(&talk->session.service->store, talk->held);
    talk->held = NULL;
}

/* Ends the session and leaves the store to others. */
static void conversation_leave(struct conversation *talk)
{
    pel_memcached_session_end(&talk->session);
    conversation_release(talk);
    pel_buffer_free(&talk->output);
    pel_buffer_free(&talk->rest);
    pel_buffer_free(&talk->received);
}

__attribute__((unused)) static void conversation_end(struct conversation *talk)
{
    conversation_leave(talk);
    pel_store_free(&talk->service.store);
    CHECK(talk->service.store.bytes == 0);
}

/* Reads all output and begins with the value after it, unless it is at a value. Returns 1 if there was any. */
static int conversation_read(struct conversation *talk)
{
    size_t length = pel_buffer_length(&talk->output);

    if (talk->held)
        return 0;
    if (length)
        CHECK(pel_buffer_append(&talk->received, pel_buffer_head(&talk->output), length) == 0);
    pel_buffer_consume(&talk->output, length);
    if (!conversation_hold(talk))
        return length > 0;
    if (!talk->slow)
        conversation_release(talk);
    return 1;
}

/* Feeds the session the unconsumed bytes, and reads its output, until it needs more. */
static void conversation_run(struct conversation *talk)
{
    int full;

    if (talk->slow && pel_memcached_session_full(&talk->session, &talk->output))
        return;
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
        if (!talk->slow)
            conversation_read(talk);
    } while (full && !talk->slow && !talk->session.closing);
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
