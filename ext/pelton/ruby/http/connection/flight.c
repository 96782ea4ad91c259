#include "ruby/http/connection/flight.h"

#include "core/base/alloc.h"
#include "ruby/http/connection/cache.h"

static struct pel_http_flight **bucket_of(struct pel_http_cache *cache, uint64_t hash)
{
    return &cache->flights[hash % PEL_HTTP_FLIGHTS];
}

struct pel_http_flight *pel_http_flight_find(struct pel_http_cache *cache, uint64_t hash, struct pel_slice key)
{
    struct pel_http_flight *flight = *bucket_of(cache, hash);

    while (flight && (flight->outdated || flight->hash != hash || flight->length != key.length ||
                      memcmp(flight->key, key.bytes, key.length)))
        flight = flight->next;
    return flight;
}

static void end_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    (void)reactor;
    pel_http_flight_end((struct pel_http_flight *)timer);
}

void pel_http_flight_begin(struct pel_http_connection *connection, uint64_t hash, struct pel_slice key)
{
    struct pel_http_cache *cache = connection->server->cache;
    struct pel_http_flight *flight = pel_calloc(1, sizeof *flight + key.length), **bucket = bucket_of(cache, hash);

    if (!flight)
        return;
    flight->timer.on_timeout = end_on_timeout;
    flight->cache = cache;
    flight->leader = connection;
    flight->hash = hash;
    flight->length = key.length;
    memcpy(flight->key, key.bytes, key.length);
    flight->next = *bucket;
    *bucket = flight;
    connection->request.flight = flight;
}

void pel_http_flight_join(struct pel_http_flight *flight, struct pel_http_connection *connection)
{
    struct pel_loop *loop = &connection->reactor->loop;

    connection->request.waits++;
    flight->cache->waits++;
    pel_http_list_add(&flight->waiting, connection);
    if (!pel_timer_active(&flight->timer.entry))
        pel_timer_add(&loop->timers, &flight->timer.entry, loop->now + PEL_HTTP_FLIGHT_LIMIT);
}

static void unlist(struct pel_http_flight *flight)
{
    struct pel_http_flight **place = bucket_of(flight->cache, flight->hash);

    while (*place && *place != flight)
        place = &(*place)->next;
    if (*place)
        *place = flight->next;
}

void pel_http_flight_end(struct pel_http_flight *flight)
{
    struct pel_http_connection *waiting;

    unlist(flight);
    pel_timer_cancel(&flight->leader->reactor->loop.timers, &flight->timer.entry);
    flight->leader->request.flight = NULL;
    while ((waiting = flight->waiting.first)) {
        VALUE self = waiting->self; /* no GC root once it is answered and closed */
        pel_http_list_remove(waiting);
        waiting->jobs->resume(waiting);
        RB_GC_GUARD(self);
    }
    pel_free(flight);
}

void pel_http_flights_outdate(struct pel_http_cache *cache)
{
    for (size_t i = 0; i < PEL_HTTP_FLIGHTS; i++)
        for (struct pel_http_flight *flight = cache->flights[i]; flight; flight = flight->next)
            flight->outdated = 1;
}

void pel_http_flights_forget(struct pel_http_cache *cache)
{
    memset(cache->flights, 0, sizeof cache->flights);
}

uint32_t pel_http_flights_waiting(const struct pel_http_cache *cache)
{
    uint32_t count = 0;

    for (size_t i = 0; i < PEL_HTTP_FLIGHTS; i++)
        for (const struct pel_http_flight *flight = cache->flights[i]; flight; flight = flight->next)
            count += flight->waiting.count;
    return count;
}
