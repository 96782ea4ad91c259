#include "core/base/base64.h"

#include "core/base/error.h"

char *pel_base64_encode(char *at, struct pel_slice slice)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = (const unsigned char *)slice.bytes;

    for (size_t left = slice.length; left > 0; bytes += 3) {
        unsigned group =
            (unsigned)bytes[0] << 16 | (left > 1 ? (unsigned)bytes[1] << 8 : 0) | (left > 2 ? bytes[2] : 0);
        *at++ = digits[group >> 18];
        *at++ = digits[group >> 12 & 63];
        *at++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[group & 63] : '=';
        left -= left < 3 ? left : 3;
    }
    return at;
}

static int digit_value(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return digit - 'A';
    if (digit >= 'a' && digit <= 'z')
        return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9')
        return digit - '0' + 52;
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

int pel_base64_decode(char *at, size_t *length, struct pel_slice text)
{
    size_t padding = 0, digits;
    char *start = at;
    unsigned group = 0;

    while (padding < 2 && padding < text.length && text.bytes[text.length - padding - 1] == '=')
        padding++;
    if (text.length % 4 != 0)
        return PEL_EPROTOCOL;
    digits = text.length - padding;
    for (size_t i = 0; i < digits; i++) {
        int value = digit_value(text.bytes[i]);
        if (value < 0)
            return PEL_EPROTOCOL;
        group = group << 6 | (unsigned)value;
        if (i % 4 == 3) {
            *at++ = (char)(group >> 16);
            *at++ = (char)(group >> 8);
            *at++ = (char)group;
            group = 0;
        }
    }
    if (padding == 1) {
        if (group & 3)
            return PEL_EPROTOCOL;
        *at++ = (char)(group >> 10);
        *at++ = (char)(group >> 2);
    } else if (padding == 2) {
        if (group & 15)
            return PEL_EPROTOCOL;
        *at++ = (char)(group >> 4);
    }
    *length = (size_t)(at - start);
    return 0;
}
