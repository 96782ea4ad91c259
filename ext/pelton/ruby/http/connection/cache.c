#include "ruby/http/connection/cache.h"

#include "core/base/alloc.h"
#include "ruby/http/connection/http_connection.h"

#define LEND_FROM 8192 /* bytes that are sent from where they lie, not copied */

static void take_back(struct pel_lender *lender, uintptr_t owner)
{
    struct pel_http_cache *cache = (struct pel_http_cache *)lender;

    pel_store_release(&cache->store, (struct pel_item *)owner);
    pel_http_cache_release(cache);
}

struct pel_http_cache *pel_http_cache_new(uint64_t limit)
{
    struct pel_http_cache *cache = pel_calloc(1, sizeof *cache);

    /* One response may not push all others out. */
    if (cache && pel_store_init(&cache->store, limit, limit / 8) < 0) {
        pel_free(cache);
        return NULL;
    }
    if (cache) {
        cache->lender.give_back = take_back;
        cache->references = 1;
    }
    return cache;
}

void pel_http_cache_release(struct pel_http_cache *cache)
{
    if (!cache || --cache->references)
        return;
    pel_store_free(&cache->store);
    pel_free(cache);
}

int pel_http_cache_send(struct pel_http_cache *cache, struct pel_item *item, struct pel_http_connection *connection,
                        struct pel_slice bytes)
{
    int code;

    if (bytes.length < LEND_FROM || !pel_store_retain(item))
        return connection->protocol->append(connection, bytes.bytes, bytes.length);
    code = connection->protocol->lend(connection, bytes.bytes, bytes.length, (uintptr_t)item, &cache->lender);
    if (code < 0)
        pel_store_release(&cache->store, item);
    else
        cache->references++;
    return code;
}
