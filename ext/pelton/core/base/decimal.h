#pragma once

#include <stdint.h>
#include "core/base/error.h"
#include "core/base/slice.h"

/* Decimal numbers in text. */

#define PEL_DECIMAL_DIGITS 20 /* of the largest number */

/* Parses all of `text`, digits and nothing else, as a number up to `limit`. Returns 0, or PEL_EPROTOCOL. A number
 * beyond the limit is set all the same, if it has 64 bits. */
static inline int pel_decimal(struct pel_slice text, uint64_t limit, uint64_t *number)
{
    uint64_t result = 0;

    if (text.length == 0)
        return PEL_EPROTOCOL;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned char)text.bytes[i] - (unsigned)'0';
        if (digit > 9)
            return PEL_EPROTOCOL;
        if (i < PEL_DECIMAL_DIGITS - 1) /* so many digits cannot overflow */
            result = result * 10 + digit;
        else if (__builtin_mul_overflow(result, 10, &result) || __builtin_add_overflow(result, digit, &result))
            return PEL_EPROTOCOL;
    }
    *number = result;
    return result <= limit ? 0 : PEL_EPROTOCOL;
}

/* The same for a number of 32 bits that may begin with a minus. */
static inline int pel_decimal_signed(struct pel_slice text, int64_t *number)
{
    int negative = text.length > 0 && text.bytes[0] == '-';
    uint64_t magnitude;

    text.bytes += negative;
    text.length -= (size_t)negative;
    if (pel_decimal(text, negative ? UINT64_C(1) << 31 : INT32_MAX, &magnitude) < 0)
        return PEL_EPROTOCOL;
    *number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 0;
}

/* Writes the digits of a number so that they stop before `end`. Returns where they begin. */
static inline char *pel_decimal_before(char *end, uint64_t number)
{
    do
        *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

/* Writes the digits of a number at `at`. Returns their end. */
static inline char *pel_decimal_put(char *at, uint64_t number)
{
    char digits[PEL_DECIMAL_DIGITS], *end = digits + sizeof digits, *first = pel_decimal_before(end, number);

    memcpy(at, first, (size_t)(end - first));
    return at + (end - first);
}
