#include "core/memcached/memcached_parser.h"

#include <string.h>

#include "core/base/decimal.h"
#include "core/base/error.h"

enum shape { META, META_VALUE, NAMED_TEXT, TEXT, BARE };

static const struct {
    const char *word;
    unsigned length;
    enum shape shape;
} replies[] = {
#define REPLY(name, word, shape) {word, sizeof(word) - 1, shape},
    PEL_MEMCACHED_REPLIES(REPLY)
#undef REPLY
};

#define REPLY_COUNT (sizeof(replies) / sizeof(replies[0]))

const char *pel_memcached_kind_name(enum pel_memcached_kind kind)
{
    switch (kind) {
    case PEL_MEMCACHED_VALUE_PART:
        return "VALUE_PART";
    case PEL_MEMCACHED_VALUE_END:
        return "VALUE_END";
    default:
        return (size_t)kind < REPLY_COUNT ? replies[kind].word : "?";
    }
}

/* A number as memcached writes it: without zeros in front of so many digits. Returns 0, or PEL_EPROTOCOL. */
static inline int parse_decimal(struct pel_slice text, uint64_t limit, uint64_t *number)
{
    return text.length > PEL_DECIMAL_DIGITS ? PEL_EPROTOCOL : pel_decimal(text, limit, number);
}

/* Removes the next word and the space before it from `rest`. Returns 0, or PEL_EPROTOCOL if there is none. */
static inline int next_reply_word(struct pel_slice *rest, struct pel_slice *word)
{
    size_t end = 1;

    if (rest->length == 0 || rest->bytes[0] != ' ')
        return PEL_EPROTOCOL;
    while (end < rest->length && (unsigned char)rest->bytes[end] > ' ' && rest->bytes[end] != 0x7f)
        end++;
    if (end == 1 || (end < rest->length && rest->bytes[end] != ' '))
        return PEL_EPROTOCOL;
    *word = (struct pel_slice){rest->bytes + 1, end - 1};
    rest->bytes += end;
    rest->length -= end;
    return 0;
}

static int next_reply_number(struct pel_slice *rest, uint64_t limit, uint64_t *number)
{
    struct pel_slice word;

    return next_reply_word(rest, &word) < 0 ? PEL_EPROTOCOL : parse_decimal(word, limit, number);
}

static inline int parse_reply_flag(struct pel_slice word, struct pel_memcached_reply *reply)
{
    char letter = word.bytes[0];
    struct pel_slice token = {word.bytes + 1, word.length - 1};
    uint64_t number = 0;
    int error = 0;

    if ((unsigned)((letter | 0x20) - 'a') > 25)
        return PEL_EPROTOCOL;
    reply->flags |= PEL_MEMCACHED_FLAG(letter);
    switch (letter) {
    case 'f':
        error = parse_decimal(token, UINT32_MAX, &number);
        reply->client_flags = (uint32_t)number;
        return error;
    case 'c':
        return parse_decimal(token, UINT64_MAX, &reply->cas);
    case 't':
        if (token.length == 2 && memcmp(token.bytes, "-1", 2) == 0) {
            reply->ttl = -1;
            return 0;
        }
        error = parse_decimal(token, INT64_MAX, &number);
        reply->ttl = (int64_t)number;
        return error;
    case 'h':
        error = parse_decimal(token, 1, &number);
        reply->hit_before = (int)number;
        return error;
    case 'l':
        return parse_decimal(token, UINT64_MAX, &reply->idle);
    case 's':
        return parse_decimal(token, UINT64_MAX, &reply->size);
    case 'k':
        reply->key = token;
        return token.length > 0 ? 0 : PEL_EPROTOCOL;
    case 'O':
        reply->opaque = token;
        return 0;
    default:
        /* A later version of memcached may send other letters. */
        return 0;
    }
}

/* One space may end the line: memcached 1.6.10 to 1.6.17 write it in some replies. */
static int parse_reply_flags(struct pel_slice rest, struct pel_memcached_reply *reply)
{
    struct pel_slice word;

    if (rest.length > 0 && rest.bytes[rest.length - 1] == ' ')
        rest.length--;
    while (rest.length > 0) {
        if (next_reply_word(&rest, &word) < 0 || parse_reply_flag(word, reply) < 0)
            return PEL_EPROTOCOL;
    }
    return 0;
}

static int parse_reply_text(struct pel_slice rest, struct pel_memcached_reply *reply)
{
    if (memchr(rest.bytes, '\0', rest.length) || memchr(rest.bytes, '\r', rest.length))
        return PEL_EPROTOCOL;
    reply->text = rest;
    if (rest.length > 0) {
        reply->text.bytes++;
        reply->text.length--;
    }
    return 0;
}

int pel__memcached_parse_line(struct pel_slice line, struct pel_memcached_reply *reply)
{
    size_t length = 0, kind;
    struct pel_slice rest;

    reply->flags = 0;
    while (length < line.length && line.bytes[length] != ' ')
        length++;
    for (kind = 0; kind < REPLY_COUNT; kind++) {
        if (replies[kind].length == length && memcmp(replies[kind].word, line.bytes, length) == 0)
            break;
    }
    if (kind == REPLY_COUNT)
        return PEL_EPROTOCOL;
    reply->kind = (enum pel_memcached_kind)kind;

    rest = (struct pel_slice){line.bytes + length, line.length - length};
    switch (replies[kind].shape) {
    case META_VALUE:
        if (next_reply_number(&rest, UINT64_MAX, &reply->value_length) < 0)
            return PEL_EPROTOCOL;
        return parse_reply_flags(rest, reply);
    case META:
        return parse_reply_flags(rest, reply);
    case NAMED_TEXT:
        return next_reply_word(&rest, &reply->key) < 0 ? PEL_EPROTOCOL : parse_reply_text(rest, reply);
    case TEXT:
        return parse_reply_text(rest, reply);
    case BARE:
        break;
    }
    return rest.length == 0 ? 0 : PEL_EPROTOCOL;
}
