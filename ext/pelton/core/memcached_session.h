#ifndef PEL_MEMCACHED_SESSION_H
#define PEL_MEMCACHED_SESSION_H

#include "buffer.h"
#include "memcached_request_parser.h"
#include "memcached_service.h"

/*
 * One client's conversation with the embedded memcached: bytes in, bytes out, in between the store. It knows no socket:
 * the caller brings what came, and sends what it finds in `output`.
 *
 *     used = pel_memcached_session_receive(session, bytes, length, output);
 *
 * It stops where the output must be sent first (pel_memcached_session_full), so that a client that does not read holds
 * a bounded amount of memory. Large values pass by it: what comes is received straight into the item
 * (pel_memcached_session_wants), what goes is sent from there (pel_memcached_session_value).
 */

#define PEL_MEMCACHED_OUTPUT_LIMIT 65536 /* bytes; one more reply, of at most PEL_MEMCACHED_REPLY_ROOM, may come */
#define PEL_MEMCACHED_COPIED 16384       /* bytes; a longer value is not copied to the output */
#define PEL_MEMCACHED_REPLY_ROOM (PEL_MEMCACHED_COPIED + 1024)

struct pel_memcached_session {
    unsigned closing : 1; /* send what is left of the output, and close */
    /* private: */
    unsigned begun : 1;    /* its first byte has come */
    unsigned binary : 1;   /* and told that it speaks the binary protocol */
    unsigned owes_end : 1; /* an END, after the value that comes after the output */
    unsigned meta : 1, noreply : 1;
    uint8_t letter_count, opaque_length; /* of the ms whose value is being received */
    uint8_t opcode;                      /* of the binary command likewise */
    char letters[PEL_MEMCACHED_REQUEST_FLAGS];
    char opaque[32];
    struct pel_memcached_service *service;
    struct pel_memcached_request_parser parser;
    struct pel_store_put put;
    struct pel_item *upload;   /* its value is being received; a reference of ours */
    struct pel_item *download; /* its value comes after the output; a reference of ours */
    uint32_t received;         /* bytes of the upload's value, and of its CRLF in text */
    uint64_t swallow;          /* bytes of a refused value that are still to come */
};

void pel_memcached_session_init(struct pel_memcached_session *session, struct pel_memcached_service *service);

/* Gives up what it holds of the store. Legal at any time, and twice. */
void pel_memcached_session_end(struct pel_memcached_session *session);

/* Takes bytes from the client and appends replies to the output. Returns how many bytes were used; the rest is to be
 * given again: with more behind it when it is not full, with none needed once it is not full any more. */
size_t pel_memcached_session_receive(struct pel_memcached_session *session, const char *bytes, size_t length,
                                     struct pel_buffer *output);

/* Whether nothing is taken before the output is sent, and the value after it is taken. */
static inline int pel_memcached_session_full(const struct pel_memcached_session *session,
                                             const struct pel_buffer *output)
{
    return session->download || pel_buffer_length(output) >= PEL_MEMCACHED_OUTPUT_LIMIT;
}

/* Where the next bytes of a value may be received, when nothing is left of what was received before: `*bytes` has room
 * for the number that is returned; 0 when no value is under way. */
size_t pel_memcached_session_wants(const struct pel_memcached_session *session, char **bytes);

/* So many of them were. Then call pel_memcached_session_receive, with no bytes at least. */
void pel_memcached_session_wrote(struct pel_memcached_session *session, size_t length);

/* The item whose value, `*bytes`, comes after what is in the output now; NULL when there is none. The reference is the
 * caller's, who gives it back (pel_store_release) when the bytes are sent. Then call pel_memcached_session_receive,
 * with no bytes at least: more output may follow. */
struct pel_item *pel_memcached_session_value(struct pel_memcached_session *session, struct pel_slice *bytes);

#endif
