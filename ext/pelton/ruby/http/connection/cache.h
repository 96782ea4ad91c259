#pragma once

#include "core/store/store.h"
#include "core/stream/stream.h"

#define PEL_HTTP_FLIGHTS 256 /* buckets */

struct pel_http_connection;
struct pel_http_flight;

/* A server's cache of public responses: those are answered without calling Ruby (cached_response.h). */

struct pel_http_cache {
    struct pel_lender lender; /* first; of items to the streams that send them */
    uint64_t references;      /* of the server, and one for each item that is lent: a stream may outlive the server */
    struct pel_store store;
    uint64_t hits, misses; /* requests that may be answered from the cache; all others are not counted */
    uint64_t stale;        /* of the hits: those answered by a response whose lifetime was over; and such failures */
    uint64_t purged;       /* responses that were removed by request */
    int64_t purged_at;     /* when that was last asked for: what began before is not kept */
    uint64_t waits;        /* of the misses: those that have waited for another's response */
    struct pel_http_flight *flights[PEL_HTTP_FLIGHTS]; /* by their key's hash */
};

/* A cache of so many bytes. Returns NULL when there is no memory for it. */
struct pel_http_cache *pel_http_cache_new(uint64_t limit);
void pel_http_cache_release(struct pel_http_cache *cache);

/* Appends bytes of an item to a response's body: short ones as a copy, others by reference, so that the item stays
 * until they are sent. Returns 0 or a negative code. */
int pel_http_cache_send(struct pel_http_cache *cache, struct pel_item *item, struct pel_http_connection *connection,
                        struct pel_slice bytes);
