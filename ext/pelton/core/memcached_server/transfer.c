#include "core/memcached_server/transfer.h"

#include "core/memcached_server/text_reply.h"

#define TERMINATOR 2 /* bytes: the CRLF after a value on the wire */

int pel__memcached_upload_begin(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                                int64_t expiry, struct pel_buffer *output)
{
    struct pel_memcached_service *service = session->service;
    struct pel_store *store = &service->store;
    int meta = request->verb == PEL_REQUEST_META_SET;
    int code = pel_store_allocate(store, request->key, request->length, request->client_flags,
                                  pel_store_instant(store, expiry), &session->upload);

    session->received = 0;
    if (code == 0)
        return 1;
    session->upload = NULL;
    session->swallow = request->length + TERMINATOR;
    *(code == PEL_ELIMIT ? &service->counters.store_too_large : &service->counters.store_no_memory) += 1;
    if (meta || request->verb == PEL_REQUEST_SET) { /* it would have replaced the old value, which must not stay */
        struct pel_item *old = pel_store_find(store, request->key);
        if (old)
            pel_store_remove(store, old);
    }
    if (meta || !request->noreply)
        pel__put_line(output, code == PEL_ELIMIT ? "SERVER_ERROR object too large for cache"
                                                 : "SERVER_ERROR out of memory storing object");
    return 0;
}

size_t pel_memcached_upload_space(const struct pel_memcached_session *session, char **bytes)
{
    if (!session->upload)
        return 0;
    *bytes = pel_item_value(session->upload) + session->received;
    return session->upload->length + TERMINATOR - session->received;
}

void pel_memcached_upload_commit(struct pel_memcached_session *session, size_t length)
{
    session->received += (uint32_t)length;
}

void pel__memcached_append_value(struct pel_memcached_session *session, struct pel_item *item,
                                 struct pel_buffer *output)
{
    size_t length = item->length + TERMINATOR;

    if (length > PEL_MEMCACHED_COPIED && pel_store_retain(item))
        session->download = item;
    else if (pel_buffer_append(output, pel_item_value(item), length) < 0)
        session->closing = 1;
}

struct pel_item *pel_memcached_download_take(struct pel_memcached_session *session, struct pel_slice *bytes)
{
    struct pel_item *item = session->download;

    session->download = NULL;
    if (item)
        *bytes = (struct pel_slice){pel_item_value(item), item->length + TERMINATOR};
    return item;
}
