#ifndef PELTON_CORE_MEMCACHED_SERVER_SESSION_H
#define PELTON_CORE_MEMCACHED_SERVER_SESSION_H

#include "core/base/buffer.h"
#include "core/memcached_server/session_state.h"

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

/* Whether the session consumes nothing before the output is sent and the value behind it is taken. */
static inline int pel_memcached_session_full(const struct pel_memcached_session *session,
                                             const struct pel_buffer *output)
{
    return session->download || pel_buffer_length(output) >= PEL_MEMCACHED_OUTPUT_LIMIT;
}

#endif
