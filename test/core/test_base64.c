#include "base64.h"

#include "check.h"
#include "error.h"

static void check_both_ways(const char *bytes, size_t length, const char *text)
{
    char encoded[400], decoded[400];
    char *end = pel_base64_encode(encoded, (struct pel_slice){bytes, length});
    size_t back;

    CHECK_BYTES(text, encoded, (size_t)(end - encoded));
    CHECK_INT(PEL_BASE64_LENGTH(length), strlen(text));
    CHECK_INT(0, pel_base64_decode(decoded, &back, (struct pel_slice){text, strlen(text)}));
    CHECK_INT(length, back);
    CHECK(!memcmp(bytes, decoded, length));
}

static int decode(const char *text)
{
    char decoded[400];
    size_t length;

    return pel_base64_decode(decoded, &length, (struct pel_slice){text, strlen(text)});
}

TEST(the_examples_of_the_rfc)
{
    check_both_ways("", 0, "");
    check_both_ways("f", 1, "Zg==");
    check_both_ways("fo", 2, "Zm8=");
    check_both_ways("foo", 3, "Zm9v");
    check_both_ways("foob", 4, "Zm9vYg==");
    check_both_ways("fooba", 5, "Zm9vYmE=");
    check_both_ways("foobar", 6, "Zm9vYmFy");
}

TEST(every_byte_and_every_digit)
{
    check_both_ways("\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f\x41\x14\x93\x51\x55\x97\x61\x96\x9b\x71\xd7\x9f"
                    "\x82\x18\xa3\x92\x59\xa7\xa2\x9a\xab\xb2\xdb\xaf\xc3\x1c\xb3\xd3\x5d\xb7\xe3\x9e\xbb\xf3\xdf\xbf",
                    48, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    for (int byte = 0; byte < 256; byte++) {
        char bytes[] = {(char)byte, (char)~byte, (char)byte, 0}, text[9], back[8];
        size_t length;
        *pel_base64_encode(text, (struct pel_slice){bytes, 4}) = '\0';
        CHECK_INT(0, pel_base64_decode(back, &length, (struct pel_slice){text, strlen(text)}));
        CHECK(length == 4 && !memcmp(bytes, back, 4));
    }
}

TEST(a_text_is_decoded_in_its_own_place)
{
    char text[] = "Zm9vYmFy";
    size_t length;

    CHECK_INT(0, pel_base64_decode(text, &length, (struct pel_slice){text, 8}));
    CHECK_BYTES("foobar", text, length);
}

TEST(anything_else_is_refused)
{
    CHECK_INT(PEL_EPROTOCOL, decode("Z"));
    CHECK_INT(PEL_EPROTOCOL, decode("Zm9vYg="));
    CHECK_INT(PEL_EPROTOCOL, decode("===="));
    CHECK_INT(PEL_EPROTOCOL, decode("Z==="));
    CHECK_INT(PEL_EPROTOCOL, decode("Zg==Zg=="));
    CHECK_INT(PEL_EPROTOCOL, decode("Zm9 "));
    CHECK_INT(PEL_EPROTOCOL, decode("Zm-_"));
    CHECK_INT(PEL_EPROTOCOL, decode("Zh==")); /* bits that no byte has: two texts for one key */
    CHECK_INT(PEL_EPROTOCOL, decode("Zm9="));
}
