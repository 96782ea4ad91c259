#ifndef PELTON_CORE_MEMCACHED_SERVER_COMMANDS_H
#define PELTON_CORE_MEMCACHED_SERVER_COMMANDS_H

#include "core/base/buffer.h"
#include "core/memcached_server/session_state.h"

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

#endif
