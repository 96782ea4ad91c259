#include "core/memcached/hash_ring.h"

#include "check.h"
#include "core/base/md5.h"
#include "memcached/hash_ring_model.h"

/* test/memcached/hash_ring_test.rb compares the ring with libmemcached itself. */

static struct pel_hash_ring_server server(const char *name, uint32_t weight)
{
    return (struct pel_hash_ring_server){{name, strlen(name)}, weight};
}

static size_t points_of(const struct pel_hash_ring *ring, size_t index)
{
    size_t count = 0;

    for (uint32_t i = 0; i < ring->point_count; i++)
        count += ring->points[i].server == index;
    return count;
}

static size_t find(const struct pel_hash_ring *ring, const char *key)
{
    return pel_hash_ring_find(ring, key, strlen(key));
}

TEST(a_digest_makes_four_points)
{
    struct pel_hash_ring_server servers[] = {server("one", 1), server("other:11212", 1)};
    struct pel_hash_ring ring = {0};
    unsigned char digest[PEL_MD5_LENGTH];

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 2, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
    for (int i = 0; i < 40; i++) {
        char text[32];
        pel_md5(text, (size_t)snprintf(text, sizeof(text), "other:11212-%d", i), digest);
        for (int at = 0; at < PEL_MD5_LENGTH; at += 4) {
            uint32_t value = digest[at] | (uint32_t)digest[at + 1] << 8 | (uint32_t)digest[at + 2] << 16 |
                             (uint32_t)digest[at + 3] << 24;
            CHECK_INT(1, model_find(&ring, value));
        }
    }
    CHECK_INT(320, ring.point_count);
    pel_hash_ring_free(&ring);
}

TEST(a_weight_is_a_share_of_the_points)
{
    struct pel_hash_ring_server servers[] = {server("a", 1), server("b", 3), server("c", 0), server("d", 1000000000)};
    struct pel_hash_ring ring = {0};

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 2, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
    CHECK_INT(80, points_of(&ring, 0));
    CHECK_INT(240, points_of(&ring, 1));
    pel_hash_ring_free(&ring);

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 3, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
    CHECK_INT(points_of(&ring, 0), points_of(&ring, 2)); /* weight 0 counts as 1 */
    pel_hash_ring_free(&ring);

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 4, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
    CHECK_INT(0, points_of(&ring, 0)); /* a share too small for a digest is none */
    CHECK_INT(640, points_of(&ring, 3));
    pel_hash_ring_free(&ring);
}

/* In floats: 25 shares of 1/25 are a little less than one. */
TEST(shares_are_rounded_as_libmemcached_rounds_them)
{
    static char names[25][8];
    struct pel_hash_ring_server servers[25];
    struct pel_hash_ring ring = {0};

    for (int i = 0; i < 25; i++) {
        snprintf(names[i], sizeof(names[i]), "s%d", i);
        servers[i] = server(names[i], 1);
    }
    for (size_t count = 24; count <= 25; count++) {
        CHECK_INT(0, pel_hash_ring_build(&ring, servers, count, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
        for (size_t index = 0; index < count; index++)
            CHECK_INT(count == 24 ? 160 : 156, points_of(&ring, index));
        pel_hash_ring_free(&ring);
    }
}

TEST(equal_points_ignore_weights_and_use_the_keys_hash)
{
    struct pel_hash_ring_server servers[] = {server("a", 1), server("b", 9)};
    struct pel_hash_ring ring = {0};

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 2, PEL_HASH_RING_EQUAL, pel_key_hash_fnv1_32));
    CHECK_INT(100, points_of(&ring, 0));
    CHECK_INT(100, points_of(&ring, 1));
    for (int i = 0; i < 100; i++) {
        char text[32];
        CHECK_INT(1, pel_hash_ring_find(&ring, text, (size_t)snprintf(text, sizeof(text), "b-%d", i)));
    }
    pel_hash_ring_free(&ring);
}

/* A hash function whose value is the key itself. */
static uint32_t identity(const char *key, size_t length)
{
    uint32_t value;

    if (length != sizeof(value))
        return 0;
    memcpy(&value, key, sizeof(value));
    return value;
}

static size_t find_value(struct pel_hash_ring *ring, uint32_t value)
{
    return pel_hash_ring_find(ring, (const char *)&value, sizeof(value));
}

TEST(a_key_belongs_to_the_point_at_its_hash_or_the_next_and_after_the_last_comes_the_first)
{
    struct pel_hash_ring_server servers[] = {server("a", 1), server("b", 1), server("c", 1)};
    struct pel_hash_ring ring = {0};

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 3, PEL_HASH_RING_WEIGHTED, identity));
    for (uint32_t i = 0; i < ring.point_count; i++) {
        uint32_t value = ring.points[i].value;
        CHECK(i == 0 || ring.points[i - 1].value < value);
        CHECK_INT(ring.points[i].server, find_value(&ring, value));
        CHECK_INT(ring.points[i].server, find_value(&ring, value - 1));
        CHECK_INT(ring.points[(i + 1) % ring.point_count].server, find_value(&ring, value + 1));
    }
    CHECK_INT(ring.points[0].server, find_value(&ring, 0));
    CHECK_INT(ring.points[0].server, find_value(&ring, UINT32_MAX));
    pel_hash_ring_free(&ring);
}

TEST(of_two_points_with_one_value_the_first_servers_counts)
{
    struct pel_hash_ring_server servers[] = {server("same", 1), server("same", 1)};
    struct pel_hash_ring ring = {0};

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 2, PEL_HASH_RING_WEIGHTED, identity));
    for (uint32_t i = 0; i < ring.point_count; i++)
        CHECK_INT(0, find_value(&ring, ring.points[i].value));
    pel_hash_ring_free(&ring);
}

TEST(one_server_has_every_key)
{
    struct pel_hash_ring_server servers[] = {server("a", 1)};
    struct pel_hash_ring ring = {0};

    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 1, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
    CHECK_INT(0, find(&ring, "key"));
    CHECK_INT(0, find(&ring, ""));
    pel_hash_ring_free(&ring);
}

TEST(too_many_servers_and_too_long_names_are_refused)
{
    static char name[PEL_HASH_RING_NAME_LIMIT + 1];
    struct pel_hash_ring_server servers[] = {{{name, PEL_HASH_RING_NAME_LIMIT}, UINT32_MAX}, server("b", UINT32_MAX)};
    struct pel_hash_ring ring = {0};

    memset(name, 'n', sizeof(name));
    CHECK_INT(PEL_EARGUMENT, pel_hash_ring_build(&ring, servers, 0, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
    CHECK_INT(PEL_ELIMIT, pel_hash_ring_build(&ring, servers, PEL_HASH_RING_SERVER_LIMIT + 1, PEL_HASH_RING_WEIGHTED,
                                              pel_key_hash_md5));
    CHECK_INT(0, pel_hash_ring_build(&ring, servers, 2, PEL_HASH_RING_WEIGHTED, pel_key_hash_md5));
    CHECK_INT(320, ring.point_count);
    pel_hash_ring_free(&ring);
    pel_hash_ring_free(&ring);
    servers[1].name = (struct pel_slice){name, PEL_HASH_RING_NAME_LIMIT + 1};
    CHECK_INT(PEL_ELIMIT, pel_hash_ring_build(&ring, servers, 2, PEL_HASH_RING_EQUAL, pel_key_hash_md5));
    CHECK_INT(0, ring.server_count);
}
