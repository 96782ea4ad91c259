#include "core/base/md5.h"

#include "check.h"

static void check_digest(const char *expected, const void *bytes, size_t length)
{
    unsigned char digest[PEL_MD5_LENGTH];
    char text[2 * PEL_MD5_LENGTH + 1];

    pel_md5(bytes, length, digest);
    for (int i = 0; i < PEL_MD5_LENGTH; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    CHECK_STRING(expected, text);
}

static void check_text(const char *expected, const char *text)
{
    check_digest(expected, text, strlen(text));
}

TEST(rfc_1321_test_suite)
{
    check_text("d41d8cd98f00b204e9800998ecf8427e", "");
    check_text("0cc175b9c0f1b6a831c399e269772661", "a");
    check_text("900150983cd24fb0d6963f7d28e17f72", "abc");
    check_text("f96b697d7cb7938d525a2f31aaf161d0", "message digest");
    check_text("c3fcd3d76192e4007dfb496cca67e13b", "abcdefghijklmnopqrstuvwxyz");
    check_text("d174ab98d277d9f5a5611c2c9f419d9f", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
    check_text("57edf4a22be3c955ac49da2e2107b67a",
               "12345678901234567890123456789012345678901234567890123456789012345678901234567890");
}

/* At these lengths the padding takes one more block. Digests of that many bytes 'x', from another implementation. */
TEST(lengths_around_a_block_boundary)
{
    static const struct {
        size_t length;
        const char *digest;
    } lengths[] = {
        {1, "9dd4e461268c8034f5c8564e155c67a6"},   {55, "04364420e25c512fd958a70738aa8f72"},
        {56, "668a72d5ba17f08e62dabcafad6db14b"},  {57, "693037871c4a9d3d8685018905cb530a"},
        {63, "7dc2ca208106a2f703567bdff99d8981"},  {64, "c1bb4f81d892b2d57947682aeb252456"},
        {65, "1bc932052302d074bdec39795fe00cf6"},  {119, "ab347a5f68c8a443cfcddc633f12c24f"},
        {120, "fb98667f98096de92620b64f46e1c5b5"}, {121, "e8bb0ccd83750100b37f4831cd5d7ee2"},
        {127, "a0b28c1da68705c2ff883fe279b72753"}, {128, "d69cb61a6ee87200676eb0d4b90edbcb"},
        {129, "3926841d393c00c3f36260e5ace10dc1"},
    };
    char bytes[129];

    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        check_digest(lengths[i].digest, bytes, lengths[i].length);
}
