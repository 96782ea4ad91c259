#include "core/memcached_server/request_line.h"

int pel__memcached_request_number(struct pel_slice word, uint64_t limit, uint64_t *number)
{
    uint64_t result = 0;

    if (word.length == 0)
        return PEL_EPROTOCOL;
    for (size_t i = 0; i < word.length; i++) {
        unsigned digit = (unsigned)(unsigned char)word.bytes[i] - '0';
        if (digit > 9 || result > (UINT64_MAX - digit) / 10)
            return PEL_EPROTOCOL;
        result = result * 10 + digit;
    }
    *number = result;
    return result <= limit ? 0 : PEL_EPROTOCOL;
}

int pel__memcached_request_signed(struct pel_slice word, int64_t *number)
{
    int negative = word.length > 0 && word.bytes[0] == '-';
    uint64_t magnitude;

    word.bytes += negative;
    word.length -= (size_t)negative;
    if (pel__memcached_request_number(word, negative ? UINT64_C(1) << 31 : INT32_MAX, &magnitude) < 0)
        return PEL_EPROTOCOL;
    *number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 0;
}
