#include "core/http1/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include "core/base/decimal.h"

#define TOKEN PEL_HTTP1_TOKEN
#define VALUE PEL_HTTP1_VALUE
#define TARGET PEL_HTTP1_TARGET_BYTE
#define HOST PEL_HTTP1_HOST_BYTE

#define ALNUM (TOKEN | VALUE | TARGET | HOST)
#define BOTH (VALUE | TARGET)
#define MARK (TOKEN | VALUE | TARGET | HOST)

static const unsigned char classes[256] = {
    ['\t'] = VALUE,        [' '] = VALUE,        ['!'] = MARK,         ['"'] = BOTH,
    ['#'] = TOKEN | VALUE, /* not TARGET: fragments are never sent */
    ['$'] = MARK,          ['%'] = MARK,         ['&'] = MARK,         ['\''] = MARK,
    ['('] = BOTH | HOST,   [')'] = BOTH | HOST,  ['*'] = MARK,         ['+'] = MARK,
    [','] = BOTH | HOST,   ['-'] = MARK,         ['.'] = MARK,         ['/'] = BOTH,
    ['0' ... '9'] = ALNUM, [':'] = BOTH | HOST,  [';'] = BOTH | HOST,  ['<'] = BOTH,
    ['='] = BOTH | HOST,   ['>'] = BOTH,         ['?'] = BOTH,         ['@'] = BOTH,
    ['A' ... 'Z'] = ALNUM, ['['] = BOTH | HOST,  ['\\'] = BOTH,        [']'] = BOTH | HOST,
    ['^'] = TOKEN | BOTH,  ['_'] = MARK,         ['`'] = TOKEN | BOTH, ['a' ... 'z'] = ALNUM,
    ['{'] = BOTH,          ['|'] = TOKEN | BOTH, ['}'] = BOTH,         ['~'] = MARK,
    [128 ... 255] = VALUE,
};

int pel_http1_all(const char *bytes, size_t length, enum pel_http1_class class)
{
    unsigned char common = class;

    for (size_t i = 0; i < length; i++)
        common &= classes[(unsigned char)bytes[i]];
    return common != 0;
}

static char lower_ascii(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte | 32) : byte;
}

int pel__http1_same(const char *bytes, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (lower_ascii(bytes[i]) != word[i])
            return 0;
    return 1;
}

int pel_http1_equal(struct pel_slice slice, const char *word)
{
    return slice.length == strlen(word) && pel__http1_same(slice.bytes, word, slice.length);
}

struct pel_slice pel_http1_trim(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return (struct pel_slice){from, (size_t)(to - from)};
}

int pel_http1_has_token(struct pel_slice list, const char *token)
{
    const char *end = list.bytes + list.length;

    for (const char *from = list.bytes; from < end;) {
        const char *comma = memchr(from, ',', (size_t)(end - from)), *to = comma ? comma : end;
        if (pel_http1_equal(pel_http1_trim(from, to), token))
            return 1;
        from = to + 1;
    }
    return 0;
}

int pel_http1_has_inner_token(struct pel_slice list, const char *token)
{
    const char *end = list.bytes + list.length, *last = end;

    while (last > list.bytes && last[-1] != ',')
        last--;
    return last > list.bytes && pel_http1_has_token((struct pel_slice){list.bytes, (size_t)(last - list.bytes)}, token);
}

/* ---- hosts ---------------------------------------------------------------------------------------------------- */

static int hex_digit_p(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

/* 1 to 65535, or empty. */
static int port_valid(const char *from, const char *end)
{
    struct pel_slice text = {from, (size_t)(end - from)};
    uint64_t port;

    return !text.length || (text.length <= 5 && pel_decimal(text, 65535, &port) == 0 && port);
}

/* An IPv6 address, or "v", a version, a dot and an address of the future (RFC 3986, 3.2.2). */
static int literal_valid(const char *from, const char *end)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (from < end && (*from == 'v' || *from == 'V')) {
        for (from++; from < end && hex_digit_p(*from); from++)
            ;
        return from < end - 1 && from[-1] != 'v' && from[-1] != 'V' && *from == '.';
    }
    if (from == end || (size_t)(end - from) >= sizeof text)
        return 0;
    memcpy(text, from, (size_t)(end - from));
    text[end - from] = 0;
    return inet_pton(AF_INET6, text, &address) == 1;
}

/* A name's bytes up to its port: a per cent sign precedes two hexadecimal digits. NULL if it is malformed. */
static const char *skip_name(const char *from, const char *end)
{
    for (; from < end && *from != ':'; from++) {
        if (*from == '[' || *from == ']')
            return NULL;
        if (*from == '%' && (end - from < 3 || !hex_digit_p(from[1]) || !hex_digit_p(from[2])))
            return NULL;
    }
    return from;
}

int pel_http1_host_valid(struct pel_slice host)
{
    const char *bytes = host.bytes, *end = host.bytes + host.length, *port;

    if (!host.length)
        return 1;
    if (!pel_http1_all(bytes, host.length, PEL_HTTP1_HOST_BYTE))
        return 0;
    if (*bytes == '[') {
        const char *close = memchr(bytes, ']', host.length);
        if (!close || !literal_valid(bytes + 1, close))
            return 0;
        port = close + 1;
    } else if (!(port = skip_name(bytes, end))) {
        return 0;
    }
    return port == end || (*port == ':' && port_valid(port + 1, end));
}

struct pel_slice pel_http1_host_name(struct pel_slice host)
{
    size_t length = host.length;

    while (length && host.bytes[length - 1] >= '0' && host.bytes[length - 1] <= '9')
        length--;
    if (length && host.bytes[length - 1] == ':')
        host.length = length - 1;
    if (host.length && host.bytes[host.length - 1] == '.')
        host.length--;
    return host;
}

/* ---- chunk extensions ----------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* Returns the end of the token that begins at `at`, or NULL if there is none. */
static const char *skip_token(const char *at, const char *end)
{
    const char *from = at;

    while (at < end && classes[(unsigned char)*at] & TOKEN)
        at++;
    return at > from ? at : NULL;
}

/* Returns the end of the quoted string whose opening quote precedes `at`, or NULL if it is malformed. */
static const char *skip_quoted(const char *at, const char *end)
{
    for (; at < end && classes[(unsigned char)*at] & VALUE; at++) {
        if (*at == '"')
            return at + 1;
        if (*at == '\\' && (++at == end || !(classes[(unsigned char)*at] & VALUE)))
            return NULL;
    }
    return NULL;
}

int pel_http1_chunk_extensions(const char *bytes, size_t length)
{
    const char *at = bytes, *end = bytes + length;

    while (at && at < end) {
        const char *next;
        at = skip_blanks(at, end);
        if (at == end || *at != ';' || !(at = skip_token(skip_blanks(at + 1, end), end)))
            return 0;
        next = skip_blanks(at, end); /* blanks belong to what follows them, and none may end the line */
        if (next == end || *next != '=')
            continue;
        at = skip_blanks(next + 1, end);
        at = at < end && *at == '"' ? skip_quoted(at + 1, end) : skip_token(at, end);
    }
    return at != NULL;
}
