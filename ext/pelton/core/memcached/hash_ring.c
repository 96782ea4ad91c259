#include "core/memcached/hash_ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/alloc.h"
#include "core/base/md5.h"

#define EQUAL_POINTS 100
#define WEIGHTED_POINTS 160
#define POINTS_A_DIGEST 4

static uint32_t server_weight(const struct pel_hash_ring_server *server)
{
    return server->weight ? server->weight : 1;
}

/* libmemcached computes in floats, step by step, and rounds down: 25 servers of the same weight have 156 points each,
 * not 160. The variable is volatile, so that no compiler keeps more precision between two steps. */
static uint32_t digest_count(const struct pel_hash_ring_server *server, uint64_t total_weight, size_t count)
{
    volatile float share = (float)server_weight(server) / (float)total_weight;

    share = share * WEIGHTED_POINTS;
    share = share / POINTS_A_DIGEST;
    share = share * (float)count;
    share = share + 0.0000000001F;
    return (uint32_t)share;
}

/* Writes "NAME-NUMBER", whose hash makes points; returns its length. */
static size_t point_name(char *text, size_t size, const struct pel_hash_ring_server *server, uint32_t number)
{
    memcpy(text, server->name.bytes, server->name.length);
    return server->name.length +
           (size_t)snprintf(text + server->name.length, size - server->name.length, "-%u", number);
}

static void add_point(struct pel_hash_ring *ring, uint32_t value, size_t server)
{
    ring->points[ring->point_count++] = (struct pel_hash_ring_point){value, (uint32_t)server};
}

static void add_weighted_points(struct pel_hash_ring *ring, const struct pel_hash_ring_server *servers, size_t index,
                                uint32_t digests)
{
    char text[PEL_HASH_RING_NAME_LIMIT + 16];
    unsigned char digest[PEL_MD5_LENGTH];

    for (uint32_t i = 0; i < digests; i++) {
        pel_md5(text, point_name(text, sizeof(text), &servers[index], i), digest);
        for (const unsigned char *at = digest; at < digest + PEL_MD5_LENGTH; at += 4)
            add_point(ring, pel_md5_word(at), index);
    }
}

static void add_equal_points(struct pel_hash_ring *ring, const struct pel_hash_ring_server *servers, size_t index)
{
    char text[PEL_HASH_RING_NAME_LIMIT + 16];

    for (uint32_t i = 0; i < EQUAL_POINTS; i++)
        add_point(ring, ring->hash(text, point_name(text, sizeof(text), &servers[index], i)), index);
}

/* Orders points of the same value by the order in which their servers were given. */
static int compare_points(const void *one, const void *other)
{
    const struct pel_hash_ring_point *a = one, *b = other;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->server > b->server) - (a->server < b->server);
}

int pel_hash_ring_build(struct pel_hash_ring *ring, const struct pel_hash_ring_server *servers, size_t count,
                        enum pel_hash_ring_points points, pel_key_hash *hash)
{
    uint64_t total_weight = 0, total_points = 0;

    if (count == 0)
        return PEL_EARGUMENT;
    if (count > PEL_HASH_RING_SERVER_LIMIT)
        return PEL_ELIMIT;
    for (size_t i = 0; i < count; i++) {
        if (servers[i].name.length > PEL_HASH_RING_NAME_LIMIT)
            return PEL_ELIMIT;
        total_weight += server_weight(&servers[i]);
    }
    for (size_t i = 0; i < count; i++)
        total_points += points == PEL_HASH_RING_EQUAL
                            ? EQUAL_POINTS
                            : (uint64_t)digest_count(&servers[i], total_weight, count) * POINTS_A_DIGEST;
    ring->points = pel_malloc(total_points * sizeof(*ring->points));
    if (!ring->points)
        return PEL_EMEMORY;
    ring->hash = hash;
    ring->point_count = 0;
    ring->server_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        if (points == PEL_HASH_RING_EQUAL)
            add_equal_points(ring, servers, i);
        else
            add_weighted_points(ring, servers, i, digest_count(&servers[i], total_weight, count));
    }
    qsort(ring->points, ring->point_count, sizeof(*ring->points), compare_points);
    return 0;
}

size_t pel_hash_ring_find(const struct pel_hash_ring *ring, const char *key, size_t length)
{
    const struct pel_hash_ring_point *point = ring->points;
    uint32_t hash;

    if (ring->server_count == 1)
        return 0;
    hash = ring->hash(key, length);
    /* A binary search without a branch that depends on the hash. */
    for (uint32_t left = ring->point_count; left > 1; left -= left / 2)
        point += point[left / 2 - 1].value < hash ? left / 2 : 0;
    point += point->value < hash;
    return point == ring->points + ring->point_count ? ring->points->server : point->server;
}

void pel_hash_ring_free(struct pel_hash_ring *ring)
{
    pel_free(ring->points);
    *ring = (struct pel_hash_ring){0};
}
