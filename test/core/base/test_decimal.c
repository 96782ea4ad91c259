#include "core/base/decimal.h"

#include "check.h"

static struct pel_slice word(const char *text)
{
    return (struct pel_slice){text, strlen(text)};
}

TEST(a_number_is_digits_up_to_its_limit)
{
    uint64_t number;

    CHECK_INT(0, pel_decimal(word("0"), 0, &number));
    CHECK_INT(0, number);
    CHECK_INT(0, pel_decimal(word("0042"), 42, &number));
    CHECK_INT(42, number);
    CHECK_INT(PEL_EPROTOCOL, pel_decimal(word("43"), 42, &number));
    CHECK_INT(0, pel_decimal(word("18446744073709551615"), UINT64_MAX, &number));
    CHECK(number == UINT64_MAX);
    CHECK_INT(PEL_EPROTOCOL, pel_decimal(word("18446744073709551616"), UINT64_MAX, &number));
}

TEST(other_words_are_no_numbers)
{
    static const char *const words[] = {"", "-1", "+1", "1a", "a", " 1", "1 ", "0x1", "1.5"};
    uint64_t number;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK_INT(PEL_EPROTOCOL, pel_decimal(word(words[i]), UINT64_MAX, &number));
}

TEST(a_signed_number_has_32_bits)
{
    int64_t number;

    CHECK_INT(0, pel_decimal_signed(word("2147483647"), &number));
    CHECK_INT(INT32_MAX, number);
    CHECK_INT(0, pel_decimal_signed(word("-2147483648"), &number));
    CHECK_INT(INT32_MIN, number);
    CHECK_INT(PEL_EPROTOCOL, pel_decimal_signed(word("2147483648"), &number));
    CHECK_INT(PEL_EPROTOCOL, pel_decimal_signed(word("-2147483649"), &number));
    CHECK_INT(PEL_EPROTOCOL, pel_decimal_signed(word("-"), &number));
    CHECK_INT(PEL_EPROTOCOL, pel_decimal_signed(word("--1"), &number));
    CHECK_INT(PEL_EPROTOCOL, pel_decimal_signed(word(""), &number));
}
