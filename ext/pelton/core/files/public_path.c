#include "core/files/public_path.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The next byte of a path, which moves along; -1 where it is malformed, or none that a name may have. */
static int next_byte(const char **at, const char *end)
{
    unsigned char byte = (unsigned char)*(*at)++;
    int high, low;

    if (byte == '%') {
        if (end - *at < 2 || (high = hex_digit((*at)[0])) < 0 || (low = hex_digit((*at)[1])) < 0)
            return -1;
        *at += 2;
        byte = (unsigned char)(high << 4 | low);
        if (byte == '/')
            return -1;
    }
    return byte < ' ' || byte == 0x7f || byte == '\\' ? -1 : byte;
}

/* Whether the segment that ends a name may be there. */
static int segment_allowed_p(const char *name, size_t start, size_t end)
{
    static const char well_known[] = ".well-known";

    if (start == end)
        return 0;
    return name[start] != '.' ||
           (start == 0 && end == sizeof well_known - 1 && !memcmp(name, well_known, sizeof well_known - 1));
}

ssize_t pel_public_path(struct pel_slice path, char name[PEL_PUBLIC_PATH])
{
    const char *at = path.bytes, *end = at + path.length;
    size_t length = 0, segment = 0;

    if (at == end || *at++ != '/')
        return PEL_EARGUMENT;
    while (at < end) {
        int byte = next_byte(&at, end);
        if (byte < 0 || length == PEL_PUBLIC_PATH - 1)
            return PEL_EARGUMENT;
        if (byte == '/') {
            if (!segment_allowed_p(name, segment, length))
                return PEL_EARGUMENT;
            if (at == end)
                break;
            segment = length + 1;
        }
        name[length++] = (char)byte;
    }
    if (length && !segment_allowed_p(name, segment, length))
        return PEL_EARGUMENT;
    name[length] = '\0';
    return (ssize_t)length;
}
