#include "core/gzip/member.h"

#include "check.h"

/* Whether what is written inflates is seen in test/http/page_test.rb, by zlib and gzip. */

#define HEADER "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

static struct pel_slice text(const char *bytes)
{
    return (struct pel_slice){bytes, strlen(bytes)};
}

static void check(const char *expected, size_t length, const char *bytes, const char *end)
{
    CHECK_INT(length, end - bytes);
    CHECK(!memcmp(expected, bytes, length));
}

TEST(an_empty_member)
{
    char bytes[PEL_GZIP_FRAME];
    struct pel_gzip_member member;

    pel_gzip_begin(&member, bytes);
    pel_gzip_add_text(&member, text(""));
    check(HEADER "\x03\x00\0\0\0\0\0\0\0\0", PEL_GZIP_FRAME, bytes, pel_gzip_end(&member));
}

TEST(text_is_stored)
{
    char bytes[PEL_GZIP_FRAME + 6];
    struct pel_gzip_member member;

    pel_gzip_begin(&member, bytes);
    pel_gzip_add_text(&member, text("a"));
    check(HEADER "\x00\x01\x00\xfe\xff"
                 "a\x03\x00\x43\xbe\xb7\xe8\x01\0\0\0",
          sizeof bytes, bytes, pel_gzip_end(&member));
}

TEST(a_fragment_is_copied)
{
    char bytes[PEL_GZIP_FRAME + 6];
    struct pel_gzip_member member;
    struct pel_gzip_fragment fragment = {
        .deflated = {"\x00\x01\x00\xfe\xff"
                     "a",
                     6},
        .crc = pel_crc32(0, text("a")),
        .shift = pel_crc32_shift(1),
        .length = 1,
    };

    pel_gzip_begin(&member, bytes);
    pel_gzip_add_fragment(&member, &fragment);
    check(HEADER "\x00\x01\x00\xfe\xff"
                 "a\x03\x00\x43\xbe\xb7\xe8\x01\0\0\0",
          sizeof bytes, bytes, pel_gzip_end(&member));
}

TEST(the_crc_of_fragments_and_text_is_that_of_the_whole)
{
    static const char all[] = "fragment, text, fragment";
    char bytes[200];
    struct pel_gzip_member member;

    for (size_t first = 0; first <= strlen(all); first++)
        for (size_t second = first; second <= strlen(all); second++) {
            struct pel_slice parts[] = {
                {all, first}, {all + first, second - first}, {all + second, strlen(all) - second}};
            pel_gzip_begin(&member, bytes);
            for (int i = 0; i < 3; i++) {
                struct pel_gzip_fragment fragment = {.crc = pel_crc32(0, parts[i]),
                                                     .shift = pel_crc32_shift(parts[i].length),
                                                     .length = parts[i].length};
                if (i == 1)
                    pel_gzip_add_text(&member, parts[i]);
                else
                    pel_gzip_add_fragment(&member, &fragment);
            }
            CHECK_INT(pel_crc32(0, text(all)), member.crc);
            CHECK_INT(strlen(all), member.length);
        }
}

TEST(long_text_takes_several_blocks)
{
    static char letters[65536], bytes[65536 + 10];

    CHECK_INT(0, pel_gzip_stored_length(0));
    CHECK_INT(6, pel_gzip_stored_length(1));
    CHECK_INT(65540, pel_gzip_stored_length(65535));
    CHECK_INT(sizeof bytes, pel_gzip_stored_length(65536));
    memset(letters, 'x', sizeof letters);
    CHECK_POINTER(bytes + sizeof bytes, pel_gzip_store(bytes, (struct pel_slice){letters, sizeof letters}));
    CHECK(!memcmp("\x00\xff\xff\x00\x00x", bytes, 6));
    CHECK(!memcmp("\x00\x01\x00\xfe\xffx", bytes + 65540, 6));
}
