#pragma once

#include "core/http1/caching.h"
#include "ruby/http/connection/cache.h"
#include "ruby/http/connection/http_connection.h"

#define PEL_NANOSECONDS 1000000000

/* What the server's cache knows of a key: an item of its store. */

/* What is known of a key. */
enum pel_http_knowledge {
    PEL_HTTP_KEPT,   /* the response is here */
    PEL_HTTP_PUBLIC, /* it was public, but the application had seen who asked: what it answers without that may be kept
                      */
    PEL_HTTP_IN_VAIN /* the anonymous attempt gave no public response, or none yet: wait before the next */
};

/* What an item's value begins with; the key, the head, without its empty line, and the body follow. The item's own key
 * is the key's hash. */
struct pel_http_entry {
    int64_t stored;    /* on the loop's clock */
    uint32_t lifetime; /* seconds */
    uint32_t knowledge;
    struct pel_http1_stale stale; /* seconds after that */
    uint32_t key, head, body;
    uint32_t tag, tag_length;   /* the place of the ETag's value in the head */
    uint32_t date, date_length; /* and of Last-Modified's */
};

static inline struct pel_http_entry pel_http_entry_read(struct pel_item *item)
{
    struct pel_http_entry entry;

    memcpy(&entry, pel_item_value(item), sizeof entry);
    return entry;
}

static inline const char *pel_http_entry_head(struct pel_item *item, const struct pel_http_entry *entry)
{
    return pel_item_value(item) + sizeof *entry + entry->key;
}

static inline int64_t pel_http_entry_age(const struct pel_http_connection *connection,
                                         const struct pel_http_entry *entry)
{
    return (connection->reactor->loop.now - entry->stored) / PEL_NANOSECONDS;
}

static inline uint64_t pel_http_entry_hash(const struct pel_store *store, struct pel_slice key)
{
    return pel_siphash(&store->seed, key.bytes, key.length);
}

/* The item of a key, whatever is known by it, or NULL. */
struct pel_item *pel_http_entry_find(struct pel_store *store, struct pel_slice key, struct pel_http_entry *entry);

/* Stores an entry in place of what was known of its key. `parts`: the body's Strings. */
void pel_http_entry_store(struct pel_store *store, struct pel_slice key, const struct pel_http_entry *entry,
                          const char *head, VALUE parts);

/* The same without a response. */
void pel_http_entry_note(struct pel_http_connection *connection, struct pel_slice key,
                         enum pel_http_knowledge knowledge);
