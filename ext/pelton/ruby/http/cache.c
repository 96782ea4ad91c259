#include "ruby/http/cache.h"

#include "core/base/alloc.h"

struct pel_http_cache *pel_http_cache_new(uint64_t limit)
{
    struct pel_http_cache *cache = pel_calloc(1, sizeof *cache);

    /* One response may not push all others out. */
    if (cache && pel_store_init(&cache->store, limit, limit / 8) < 0) {
        pel_free(cache);
        return NULL;
    }
    return cache;
}

void pel_http_cache_free(struct pel_http_cache *cache)
{
    if (!cache)
        return;
    pel_store_free(&cache->store);
    pel_free(cache);
}
