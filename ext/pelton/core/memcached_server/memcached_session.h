#pragma once

#include "core/base/buffer.h"
#include "core/memcached_server/request_parser.h"
#include "core/memcached_server/service.h"

/* The state of a session, shared by memcached_session.c, transfer.c and the commands. */

#define PEL_MEMCACHED_COPIED 16384 /* bytes; a longer value is not copied to the output */
#define PEL_MEMCACHED_REPLY_SPACE (PEL_MEMCACHED_COPIED + 1024)

struct pel_memcached_session {
    unsigned closing : 1; /* the caller sends the rest of the output and closes the connection */
    /* private: */
    unsigned end_after_value : 1; /* an END must follow the value that follows the output */
    unsigned meta : 1, noreply : 1;
    uint8_t letter_count, opaque_length; /* of the ms command whose value is being received */
    char letters[PEL_MEMCACHED_REQUEST_FLAGS];
    char opaque[32];
    struct pel_memcached_service *service;
    struct pel_memcached_request_parser parser;
    struct pel_store_put put;
    struct pel_item *upload;   /* the item whose value is being received; the session owns a reference */
    struct pel_item *download; /* the item whose value follows the output; the session owns a reference */
    uint32_t received;         /* bytes of the upload's value and its CRLF */
    uint64_t swallow;          /* bytes of a refused value to discard */
};

/*
 * One client's session with the embedded memcached: it parses requests, executes them on the store and appends replies.
 * It knows no socket: the caller passes the received bytes, and sends the bytes of `output`.
 *
 *     used = pel_memcached_session_receive(session, bytes, length, output);
 *
 * The session stops when the output must be sent first (pel_memcached_session_full), so that a client that does not
 * read uses a bounded amount of memory. Large values bypass it (transfer.h): they are received directly into the item,
 * and sent directly from the item.
 */

#define PEL_MEMCACHED_OUTPUT_LIMIT 65536 /* bytes; one more reply of at most PEL_MEMCACHED_REPLY_SPACE may follow */

void pel_memcached_session_init(struct pel_memcached_session *session, struct pel_memcached_service *service);

/* Releases the session's references to items. May be called at any time and repeatedly. */
void pel_memcached_session_end(struct pel_memcached_session *session);

/* Consumes bytes from the client and appends replies to the output. Returns the number of consumed bytes. The caller
 * passes the rest again: if the session was not full, together with further bytes; otherwise as soon as it is not full
 * any more. */
size_t pel_memcached_session_receive(struct pel_memcached_session *session, const char *bytes, size_t length,
                                     struct pel_buffer *output);

/* Whether the session consumes nothing before the output is sent and the value after it is taken. */
static inline int pel_memcached_session_full(const struct pel_memcached_session *session,
                                             const struct pel_buffer *output)
{
    return session->download || pel_buffer_length(output) >= PEL_MEMCACHED_OUTPUT_LIMIT;
}

/*
 * The commands, which the session executes. Each appends its reply to the output, in which the session has reserved
 * PEL_MEMCACHED_REPLY_SPACE bytes.
 */

void pel__memcached_classic(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                            struct pel_buffer *output);
void pel__memcached_meta(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                         struct pel_buffer *output);

/* Reply to a storage command after its value was received and stored or refused. */
void pel__memcached_meta_stored(struct pel_memcached_session *session, enum pel_store_result result, uint64_t cas,
                                struct pel_buffer *output);
