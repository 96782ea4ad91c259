#include <stdlib.h>
#include <string.h>

#include "core/memcached/hash_ring.h"
#include "memcached/hash_ring_model.h"

/* For any servers and any key: the ring finds the same server as a comparison with every point. */

#define CHECK(condition) ((condition) ? (void)0 : abort())

static pel_key_hash *const hashes[] = {
#define HASH(NAME, name) pel_key_hash_##name,
    PEL_KEY_HASHES(HASH)};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pel_hash_ring_server servers[16];
    struct pel_hash_ring ring = {0};
    enum pel_hash_ring_points points;
    pel_key_hash *hash;
    size_t count = 0;

    if (size < 2)
        return 0;
    hash = hashes[data[0] % (sizeof(hashes) / sizeof(hashes[0]))];
    points = data[0] & 0x80 ? PEL_HASH_RING_EQUAL : PEL_HASH_RING_WEIGHTED;
    data++;
    size--;
    /* Each server is the length of its name, its weight, its name. The rest is the key. */
    for (; count < 16 && size >= 5 && (size_t)data[0] + 5 <= size; count++) {
        servers[count].name = (struct pel_slice){(const char *)data + 5, data[0]};
        memcpy(&servers[count].weight, data + 1, 4);
        size -= 5 + servers[count].name.length;
        data += 5 + servers[count].name.length;
    }
    if (count == 0)
        return 0;
    CHECK(pel_hash_ring_build(&ring, servers, count, points, hash) == 0);
    CHECK(ring.point_count > 0 && ring.point_count <= 160 * count);
    for (uint32_t i = 1; i < ring.point_count; i++)
        CHECK(ring.points[i - 1].value <= ring.points[i].value && ring.points[i].server < count);
    for (size_t length = 0; length <= size && length < 8; length++) {
        size_t found = pel_hash_ring_find(&ring, (const char *)data, length);
        CHECK(found == (count == 1 ? 0 : model_find(&ring, hash((const char *)data, length))));
    }
    pel_hash_ring_free(&ring);
    return 0;
}
