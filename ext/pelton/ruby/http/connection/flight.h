#pragma once

#include "ruby/http/connection/http_connection.h"

/*
 * Requests for the same key of the server's cache that miss it at once: the first, the leader, runs the application,
 * and the others wait for what becomes of it. They are WAITING, on the flight's list, without a slot; their own
 * deadlines go on. A flight ends when its leader's response was kept or turns out not to be, when the leader's exchange
 * ends for any other reason, and PEL_HTTP_FLIGHT_LIMIT after somebody has begun to wait. Then each of them is resumed
 * (pel_http_jobs.resume).
 */

#define PEL_HTTP_FLIGHT_LIMIT ((int64_t)5 * 1000 * 1000 * 1000) /* nanoseconds */

struct pel_http_flight {
    struct pel_reactor_timer timer; /* first; active while somebody waits */
    struct pel_http_flight *next;   /* in its bucket */
    struct pel_http_cache *cache;
    struct pel_http_connection *leader;
    struct pel_http_list waiting;
    uint64_t hash;
    unsigned outdated : 1; /* its key was purged: it goes on for those that wait already */
    size_t length;
    char key[];
};

/* The flight that requests for a key may wait for, or NULL. */
struct pel_http_flight *pel_http_flight_find(struct pel_http_cache *cache, uint64_t hash, struct pel_slice key);

/* A connection's request leads a flight from now on, unless there is no memory for it. */
void pel_http_flight_begin(struct pel_http_connection *connection, uint64_t hash, struct pel_slice key);

/* A connection's request waits for a flight: whoever dispatches it sees it on a list. */
void pel_http_flight_join(struct pel_http_flight *flight, struct pel_http_connection *connection);

/* Ends a flight, which is freed. C only. */
void pel_http_flight_end(struct pel_http_flight *flight);

/* Ends the flight that a connection's request leads, if it leads one. C only. */
static inline void pel_http_flight_leave(struct pel_http_connection *connection)
{
    if (connection->request.flight)
        pel_http_flight_end(connection->request.flight);
}

/* Who comes later does not wait for the flights of now. */
void pel_http_flights_outdate(struct pel_http_cache *cache);

/* In a child after a fork: they are the parent's. */
void pel_http_flights_forget(struct pel_http_cache *cache);

/* The requests that wait for a flight. */
uint32_t pel_http_flights_waiting(const struct pel_http_cache *cache);
