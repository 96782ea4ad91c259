#include "http1_text.h"

#include <string.h>

#define TOKEN PEL_HTTP1_TOKEN
#define VALUE PEL_HTTP1_VALUE
#define TARGET PEL_HTTP1_TARGET_BYTE
#define HOST PEL_HTTP1_HOST_BYTE

#define ALNUM (TOKEN | VALUE | TARGET | HOST)
#define BOTH (VALUE | TARGET)
#define MARK (TOKEN | VALUE | TARGET | HOST)

static const unsigned char classes[256] = {
    ['\t'] = VALUE,        [' '] = VALUE,        ['!'] = MARK,         ['"'] = BOTH,
    ['#'] = TOKEN | VALUE, /* a fragment is never sent: in a target it is refused */
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

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte | 32) : byte;
}

int pel__http1_same(const char *bytes, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (lower(bytes[i]) != word[i])
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

/* Behind what begins there; NULL when it does not. */
static const char *skip_token(const char *at, const char *end)
{
    const char *from = at;

    while (at < end && classes[(unsigned char)*at] & TOKEN)
        at++;
    return at > from ? at : NULL;
}

/* The same, from behind the first quote. */
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
        if (*at != ';' || !(at = skip_token(at + 1, end)))
            return 0;
        if (at == end || *at != '=')
            continue;
        at++;
        at = at < end && *at == '"' ? skip_quoted(at + 1, end) : skip_token(at, end);
    }
    return at != NULL;
}
