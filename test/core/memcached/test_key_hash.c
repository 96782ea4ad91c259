#include "core/memcached/hash_ring.h"

#include "check.h"

static const char fox[] = "The quick brown fox jumps over the lazy dog";

TEST(fnv_1_test_vectors)
{
    CHECK_INT(0x811c9dc5, pel_key_hash_fnv1_32("", 0));
    CHECK_INT(0x050c5d7e, pel_key_hash_fnv1_32("a", 1));
    CHECK_INT(0x31f0b262, pel_key_hash_fnv1_32("foobar", 6));
}

TEST(fnv_1a_test_vectors)
{
    CHECK_INT(0x811c9dc5, pel_key_hash_fnv1a_32("", 0));
    CHECK_INT(0xe40c292c, pel_key_hash_fnv1a_32("a", 1));
    CHECK_INT(0xbf9cf968, pel_key_hash_fnv1a_32("foobar", 6));
}

TEST(one_at_a_time_test_vectors)
{
    CHECK_INT(0, pel_key_hash_one_at_a_time("", 0));
    CHECK_INT(0xca2e9442, pel_key_hash_one_at_a_time("a", 1));
    CHECK_INT(0x519e91f5, pel_key_hash_one_at_a_time(fox, strlen(fox)));
}

TEST(md5_is_little_endian)
{
    CHECK_INT(0xd98c1dd4, pel_key_hash_md5("", 0));
    CHECK_INT(0x9d7d109e, pel_key_hash_md5(fox, strlen(fox)));
}

/* As in libmemcached on platforms where char is signed. */
TEST(bytes_over_127_count_as_negative)
{
    uint32_t start = UINT32_C(2166136261), prime = UINT32_C(16777619);

    CHECK_INT(start * prime ^ UINT32_C(0xffffff80), pel_key_hash_fnv1_32("\x80", 1));
    CHECK_INT((start ^ UINT32_C(0xffffffff)) * prime, pel_key_hash_fnv1a_32("\xff", 1));
    CHECK(pel_key_hash_one_at_a_time("\xff", 1) != pel_key_hash_one_at_a_time("\x7f", 1));
}

TEST(the_hash_depends_on_every_byte_of_the_key_and_no_other)
{
    static pel_key_hash *const hashes[] = {
#define HASH(NAME, name) pel_key_hash_##name,
        PEL_KEY_HASHES(HASH)};
    char key[64];

    for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        uint32_t whole;
        memset(key, 'k', sizeof(key));
        whole = hashes[i](key, 40);
        key[40] = 'x';
        CHECK_INT(whole, hashes[i](key, 40));
        for (int at = 0; at < 40; at++) {
            key[at] ^= 1;
            CHECK(hashes[i](key, 40) != whole);
            key[at] ^= 1;
        }
        CHECK(hashes[i](key, 39) != whole);
    }
}
