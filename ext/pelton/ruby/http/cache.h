#ifndef PELTON_RUBY_HTTP_CACHE_H
#define PELTON_RUBY_HTTP_CACHE_H

#include "core/store/store.h"

/* A server's cache of public responses: those are answered without calling Ruby (cached_response.h). */

struct pel_http_cache {
    struct pel_store store;
    uint64_t hits, misses; /* requests that may be answered from the cache; all others are not counted */
};

/* A cache of so many bytes. Returns NULL when there is no memory for it. */
struct pel_http_cache *pel_http_cache_new(uint64_t limit);
void pel_http_cache_free(struct pel_http_cache *cache);

#endif
