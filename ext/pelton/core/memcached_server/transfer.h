#pragma once

#include "core/base/buffer.h"
#include "core/memcached_server/memcached_session.h"

/*
 * The transfer of values between clients and items. An upload receives the value of a storage command into a new item;
 * a download sends a long value from its item. Neither copies the value through the session.
 */

/* ---- for the connection --------------------------------------------------------------------------------------- */

/* The memory into which the connection can receive the next bytes of a value directly, once the session has consumed
 * all bytes received before: sets `*bytes` and returns the number of bytes; 0 without an upload. */
size_t pel_memcached_upload_space(const struct pel_memcached_session *session, char **bytes);

/* Adds `length` bytes that were received there. The connection then calls pel_memcached_session_receive, even without
 * further bytes. */
void pel_memcached_upload_commit(struct pel_memcached_session *session, size_t length);

/* The item whose value, `*bytes`, follows the bytes that are in the output now, or NULL. The caller gets the reference,
 * and releases it (pel_store_release) when the bytes are sent. Then it calls pel_memcached_session_receive, even
 * without further bytes, since more output may follow. */
struct pel_item *pel_memcached_download_take(struct pel_memcached_session *session, struct pel_slice *bytes);

/* ---- for the commands ----------------------------------------------------------------------------------------- */

/* Starts to receive the value of a storage command. Returns 1; or 0 after it has appended an error reply: then the
 * value will be discarded. */
int pel__memcached_upload_begin(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                                int64_t expiry, struct pel_buffer *output);

/* Appends a value with its CRLF; a long value will be sent directly from the item. */
void pel__memcached_append_value(struct pel_memcached_session *session, struct pel_item *item,
                                 struct pel_buffer *output);
