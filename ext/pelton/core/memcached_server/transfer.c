#include "core/memcached_server/transfer.h"

#include "core/memcached_server/text_reply.h"

/* The number of bytes behind a value on the wire. */
static size_t terminator_length(const struct pel_memcached_session *session)
{
    return session->binary ? 0 : 2;
}

int pel__memcached_upload_begin(struct pel_memcached_session *session, const struct pel_memcached_upload *upload)
{
    struct pel_memcached_service *service = session->service;
    struct pel_store *store = &service->store;
    int code = pel_store_allocate(store, upload->key, upload->length, upload->client_flags,
                                  pel_store_instant(store, upload->expiry), &session->upload);

    session->received = 0;
    if (code == 0)
        return 0;
    session->upload = NULL;
    session->swallow = upload->length + terminator_length(session);
    *(code == PEL_ELIMIT ? &service->counters.store_too_large : &service->counters.store_no_memory) += 1;
    if (upload->replaces) {
        struct pel_item *old = pel_store_find(store, upload->key);
        if (old)
            pel_store_remove(store, old);
    }
    return code;
}

int pel__memcached_upload_begin_text(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                                     int64_t expiry, struct pel_buffer *output)
{
    int meta = request->verb == PEL_REQUEST_META_SET;
    struct pel_memcached_upload upload = {.key = request->key,
                                          .length = request->length,
                                          .client_flags = request->client_flags,
                                          .expiry = expiry,
                                          .replaces = meta || request->verb == PEL_REQUEST_SET};
    int code = pel__memcached_upload_begin(session, &upload);

    if (code < 0 && (meta || !request->noreply))
        pel__put_line(output, code == PEL_ELIMIT ? "SERVER_ERROR object too large for cache"
                                                 : "SERVER_ERROR out of memory storing object");
    return code == 0;
}

size_t pel_memcached_upload_space(const struct pel_memcached_session *session, char **bytes)
{
    if (!session->upload)
        return 0;
    *bytes = pel_item_value(session->upload) + session->received;
    return session->upload->length + terminator_length(session) - session->received;
}

void pel_memcached_upload_commit(struct pel_memcached_session *session, size_t length)
{
    session->received += (uint32_t)length;
}

void pel__memcached_append_value(struct pel_memcached_session *session, struct pel_item *item,
                                 struct pel_buffer *output)
{
    size_t length = item->length + terminator_length(session);

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
        *bytes = (struct pel_slice){pel_item_value(item), item->length + terminator_length(session)};
    return item;
}
