#include "core/base/siphash.h"

#include "check.h"

static const struct pel_siphash_seed zero;

#define CHECK_HASH(expected, text) CHECK(pel_siphash(&zero, text, strlen(text)) == UINT64_C(expected))

/* From Python 3.11, which hashes bytes by SipHash-1-3 with a zero seed when PYTHONHASHSEED is 0. */
TEST(hashes_are_those_of_siphash_1_3)
{
    CHECK_HASH(0x407448d2b89b1813, "a");
    CHECK_HASH(0x6a5cdcad01c973fa, "foo");
    CHECK_HASH(0x3489982430560a87, "12345678");
    CHECK_HASH(0x1fd27a29b0e9dc7a, "abcdefghijklmno");
    CHECK_HASH(0xf738bb4f30801228, "0123456789abcdef0");
}

TEST(different_seeds_make_different_hashes)
{
    struct pel_siphash_seed one, other;

    CHECK_INT(0, pel_siphash_seed(&one));
    CHECK_INT(0, pel_siphash_seed(&other));
    CHECK(memcmp(&one, &other, sizeof one));
    CHECK(pel_siphash(&one, "key", 3) != pel_siphash(&other, "key", 3));
    CHECK(pel_siphash(&one, "key", 3) == pel_siphash(&one, "key", 3));
}

TEST(the_hash_depends_on_the_length)
{
    CHECK(pel_siphash(&zero, "\0\0", 1) != pel_siphash(&zero, "\0\0", 2));
    CHECK(pel_siphash(&zero, "", 0) != pel_siphash(&zero, "\0", 1));
}

TEST(no_byte_behind_the_end_is_read)
{
    for (size_t length = 0; length < 40; length++) {
        char *bytes = malloc(length ? length : 1);
        memset(bytes, 'x', length);
        pel_siphash(&zero, bytes, length); /* ASAN would report an over-read */
        free(bytes);
    }
}
