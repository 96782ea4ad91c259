#include "core/http1/caching.h"
#include "ruby/http/connection/flight.h"
#include "ruby/http/response/cache_entry.h"
#include "ruby/http/response/http_response.h"

/* Responses are removed from the cache by their paths. */

struct purge {
    struct pel_slice pattern;
    uint64_t responses; /* of what is removed: the rest is what was noted of other keys */
};

static int purged_p(struct pel_item *item, const void *data)
{
    struct purge *purge = *(struct purge *const *)data;
    struct pel_http_entry entry = pel_http_entry_read(item);

    if (!pel_http1_cache_key_matches((struct pel_slice){pel_item_value(item) + sizeof entry, entry.key},
                                     purge->pattern))
        return 0;
    purge->responses += entry.knowledge == PEL_HTTP_KEPT;
    return 1;
}

/* _purge(pattern): removes the responses for these targets, and has those not kept that are being made. Returns the
 * number of the former; nil without a cache. */
static VALUE server_purge(VALUE self, VALUE pattern)
{
    struct pel_http_cache *cache = pel_http_server_get(self)->cache;
    struct purge purge = {.responses = 0}, *place = &purge;

    Check_Type(pattern, T_STRING);
    if (!cache)
        return Qnil;
    purge.pattern = pel_string_slice(pattern);
    pel_store_remove_if(&cache->store, purged_p, &place);
    pel_http_flights_outdate(cache);
    cache->purged += purge.responses;
    cache->purged_at = pel_now();
    RB_GC_GUARD(pattern);
    return ULL2NUM(purge.responses);
}

void pel_init_http_purge(VALUE server)
{
    rb_define_private_method(server, "_purge", server_purge, 1);
}
