#include "core/base/base64.h"

#include "check.h"
#include "core/base/error.h"

static void check_round_trip(const char *bytes, size_t length, const char *text)
{
    char encoded[400], decoded[400];
    char *end = pel_base64_encode(encoded, (struct pel_slice){bytes, length});
    size_t decoded_length;

    CHECK_BYTES(text, encoded, (size_t)(end - encoded));
    CHECK_INT(PEL_BASE64_LENGTH(length), strlen(text));
    CHECK_INT(0, pel_base64_decode(decoded, &decoded_length, (struct pel_slice){text, strlen(text)}));
    CHECK_INT(length, decoded_length);
    CHECK(!memcmp(bytes, decoded, length));
}

TEST(rfc_4648_test_vectors)
{
    check_round_trip("", 0, "");
    check_round_trip("f", 1, "Zg==");
    check_round_trip("fo", 2, "Zm8=");
    check_round_trip("foo", 3, "Zm9v");
    check_round_trip("foob", 4, "Zm9vYg==");
    check_round_trip("fooba", 5, "Zm9vYmE=");
    check_round_trip("foobar", 6, "Zm9vYmFy");
}

TEST(every_byte_and_every_digit_make_a_round_trip)
{
    check_round_trip("\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f\x41\x14\x93\x51\x55\x97\x61\x96\x9b\x71\xd7\x9f"
                     "\x82\x18\xa3\x92\x59\xa7\xa2\x9a\xab\xb2\xdb\xaf\xc3\x1c\xb3\xd3\x5d\xb7\xe3\x9e\xbb\xf3\xdf\xbf",
                     48, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    for (int byte = 0; byte < 256; byte++) {
        char bytes[] = {(char)byte, (char)~byte, (char)byte, 0}, text[9], decoded_length[8];
        size_t length;
        *pel_base64_encode(text, (struct pel_slice){bytes, 4}) = '\0';
        CHECK_INT(0, pel_base64_decode(decoded_length, &length, (struct pel_slice){text, strlen(text)}));
        CHECK(length == 4 && !memcmp(bytes, decoded_length, 4));
    }
}

TEST(a_text_is_decoded_in_place)
{
    char text[] = "Zm9vYmFy";
    size_t length;

    CHECK_INT(0, pel_base64_decode(text, &length, (struct pel_slice){text, 8}));
    CHECK_BYTES("foobar", text, length);
}

TEST(a_malformed_text_is_refused)
{
    /* The last two have padding bits that are not zero: two texts would mean the same key. */
    static const char *const texts[] = {"Z", "Zm9vYg=", "====", "Z===", "Zg==Zg==", "Zm9 ", "Zm-_", "Zh==", "Zm9="};
    char decoded[400];
    size_t length;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_INT(PEL_EPROTOCOL, pel_base64_decode(decoded, &length, (struct pel_slice){texts[i], strlen(texts[i])}));
}
