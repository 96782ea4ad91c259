#include "ruby/http/response/cache_entry.h"

static void copy_parts(char *at, VALUE parts)
{
    for (long i = 0; i < RARRAY_LEN(parts); i++) {
        VALUE part = RARRAY_AREF(parts, i);
        memcpy(at, RSTRING_PTR(part), (size_t)RSTRING_LEN(part));
        at += RSTRING_LEN(part);
    }
}

struct pel_item *pel_http_entry_find(struct pel_store *store, struct pel_slice key, struct pel_http_entry *entry)
{
    uint64_t hash = pel_http_entry_hash(store, key);
    struct pel_item *item = pel_store_find(store, (struct pel_slice){(const char *)&hash, sizeof hash});

    if (!item)
        return NULL;
    *entry = pel_http_entry_read(item);
    if (entry->key != key.length || memcmp(pel_item_value(item) + sizeof *entry, key.bytes, key.length))
        return NULL;
    return item;
}

void pel_http_entry_store(struct pel_store *store, struct pel_slice key, const struct pel_http_entry *entry,
                          const char *head, VALUE parts)
{
    uint64_t hash = pel_http_entry_hash(store, key), cas;
    struct pel_item *item;
    char *at;

    if (pel_store_allocate(store, (struct pel_slice){(const char *)&hash, sizeof hash},
                           sizeof *entry + key.length + entry->head + (uint64_t)entry->body, 0, 0, &item) < 0)
        return;
    at = pel_item_value(item);
    memcpy(at, entry, sizeof *entry);
    memcpy(at += sizeof *entry, key.bytes, key.length);
    at += key.length;
    if (entry->head)
        memcpy(at, head, entry->head);
    if (entry->body)
        copy_parts(at + entry->head, parts);
    pel_store_put(store, item, &(struct pel_store_put){.mode = PEL_STORE_SET}, &cas);
    pel_store_release(store, item);
}

void pel_http_entry_note(struct pel_http_connection *connection, struct pel_slice key,
                         enum pel_http_knowledge knowledge)
{
    struct pel_http_entry entry = {
        .stored = connection->reactor->loop.now, .knowledge = knowledge, .key = (uint32_t)key.length};

    pel_http_entry_store(&connection->server->cache->store, key, &entry, NULL, Qnil);
}
