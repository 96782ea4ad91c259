#include "core/gzip/member.h"

#include "check.h"

static struct pel_slice text(const char *bytes)
{
    return (struct pel_slice){bytes, strlen(bytes)};
}

TEST(known_values)
{
    CHECK_INT(0, pel_crc32(0, text("")));
    CHECK_INT(0xe8b7be43, pel_crc32(0, text("a")));
    CHECK_INT(0xcbf43926, pel_crc32(0, text("123456789"))); /* the check value that is usual for CRCs */
    CHECK_INT(0x414fa339, pel_crc32(0, text("The quick brown fox jumps over the lazy dog")));
}

TEST(a_text_in_two_parts)
{
    static const char all[] = "The quick brown fox jumps over the lazy dog, and \0 is a byte as well";
    uint32_t whole = pel_crc32(0, (struct pel_slice){all, sizeof all});

    for (size_t split = 0; split <= sizeof all; split++) {
        struct pel_slice first = {all, split}, second = {all + split, sizeof all - split};
        uint32_t crc = pel_crc32(0, first);
        CHECK_INT(whole, pel_crc32(crc, second));
        CHECK_INT(whole, pel_crc32_combine(crc, pel_crc32(0, second), pel_crc32_shift(second.length)));
    }
}

TEST(a_long_second_part)
{
    static char zeros[1 << 20];
    uint32_t first = pel_crc32(0, text("first"));

    for (size_t length = sizeof zeros - 3; length <= sizeof zeros; length++) {
        struct pel_slice second = {zeros, length};
        CHECK_INT(pel_crc32(first, second), pel_crc32_combine(first, pel_crc32(0, second), pel_crc32_shift(length)));
    }
}

TEST(shifts_of_lengths_add_up)
{
    uint64_t huge = (uint64_t)5 << 32;

    CHECK_INT(0x80000000, pel_crc32_shift(0));
    /* Two steps of half the length shift as far as one. */
    CHECK_INT(pel_crc32_combine(1, 0, pel_crc32_shift(huge)),
              pel_crc32_combine(pel_crc32_combine(1, 0, pel_crc32_shift(huge / 2)), 0, pel_crc32_shift(huge / 2)));
}
