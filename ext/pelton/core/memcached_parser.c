#include <string.h>

#include "memcached_parser.h"

enum { AT_LINE, IN_VALUE, AT_VALUE_CR, AT_VALUE_LF, FAILED };

enum shape { META, META_VALUE, CLASSIC_VALUE, NAMED_TEXT, TEXT, BARE };

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
    case PEL_MEMCACHED_NUMBER:
        return "NUMBER";
    case PEL_MEMCACHED_VALUE_PART:
        return "VALUE_PART";
    case PEL_MEMCACHED_VALUE_END:
        return "VALUE_END";
    default:
        return (size_t)kind < REPLY_COUNT ? replies[kind].word : "?";
    }
}

void pel_memcached_parser_init(struct pel_memcached_parser *parser)
{
    parser->value_limit = PEL_MEMCACHED_DEFAULT_VALUE_LIMIT;
    parser->pending = 0;
    parser->state = AT_LINE;
    parser->error = 0;
    parser->line_length = 0;
}

int pel_memcached_parser_skip_value(struct pel_memcached_parser *parser, uint64_t length)
{
    if (length > parser->pending)
        return PEL_EARGUMENT;
    parser->pending -= length;
    if (parser->state == IN_VALUE && parser->pending == 0)
        parser->state = AT_VALUE_CR;
    return 0;
}

static int fail(struct pel_memcached_parser *parser, int error)
{
    parser->state = FAILED;
    parser->pending = 0;
    return parser->error = error;
}

/* The whole of `text` as a number up to `limit`; 0, or PEL_EPROTOCOL. */
static int parse_number(struct pel_slice text, uint64_t limit, uint64_t *number)
{
    uint64_t result = 0;

    if (text.length < 1 || text.length > 20)
        return PEL_EPROTOCOL;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned char)text.bytes[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(result, 10, &result) || __builtin_add_overflow(result, digit, &result))
            return PEL_EPROTOCOL;
    }
    *number = result;
    return result <= limit ? 0 : PEL_EPROTOCOL;
}

/* Cut the next word off `rest`, with the space before it; 0, or PEL_EPROTOCOL if there is none. */
static int next_word(struct pel_slice *rest, struct pel_slice *word)
{
    size_t end = 1;

    if (rest->length < 2 || rest->bytes[0] != ' ')
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

static int next_number(struct pel_slice *rest, uint64_t limit, uint64_t *number)
{
    struct pel_slice word;

    return next_word(rest, &word) < 0 ? PEL_EPROTOCOL : parse_number(word, limit, number);
}

static int parse_flag(struct pel_slice word, struct pel_memcached_reply *reply)
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
        error = parse_number(token, UINT32_MAX, &number);
        reply->client_flags = (uint32_t)number;
        return error;
    case 'c':
        return parse_number(token, UINT64_MAX, &reply->cas);
    case 't':
        if (token.length == 2 && memcmp(token.bytes, "-1", 2) == 0) {
            reply->ttl = -1;
            return 0;
        }
        error = parse_number(token, INT64_MAX, &number);
        reply->ttl = (int64_t)number;
        return error;
    case 'h':
        error = parse_number(token, 1, &number);
        reply->hit_before = (int)number;
        return error;
    case 'l':
        return parse_number(token, UINT64_MAX, &reply->idle);
    case 's':
        return parse_number(token, UINT64_MAX, &reply->size);
    case 'k':
        reply->key = token;
        return token.length > 0 ? 0 : PEL_EPROTOCOL;
    case 'O':
        reply->opaque = token;
        return 0;
    default:
        /* A later memcached may send letters of its own. */
        return 0;
    }
}

static int parse_flags(struct pel_slice rest, struct pel_memcached_reply *reply)
{
    struct pel_slice word;

    while (rest.length > 0) {
        if (next_word(&rest, &word) < 0 || parse_flag(word, reply) < 0)
            return PEL_EPROTOCOL;
    }
    return 0;
}

static int parse_classic_value(struct pel_slice rest, struct pel_memcached_reply *reply)
{
    uint64_t client_flags;

    reply->flags = PEL_MEMCACHED_FLAG('k') | PEL_MEMCACHED_FLAG('f');
    if (next_word(&rest, &reply->key) < 0 || next_number(&rest, UINT32_MAX, &client_flags) < 0 ||
        next_number(&rest, UINT64_MAX, &reply->value_length) < 0)
        return PEL_EPROTOCOL;
    reply->client_flags = (uint32_t)client_flags;
    if (rest.length == 0)
        return 0;
    reply->flags |= PEL_MEMCACHED_FLAG('c');
    if (next_number(&rest, UINT64_MAX, &reply->cas) < 0 || rest.length > 0)
        return PEL_EPROTOCOL;
    return 0;
}

static int parse_text(struct pel_slice rest, struct pel_memcached_reply *reply)
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

/* `line` is without its CRLF. Sets the reply but for the value's bytes; 0, or PEL_EPROTOCOL. */
static int parse_line(struct pel_slice line, struct pel_memcached_reply *reply)
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
    reply->kind = (enum pel_memcached_kind)kind;
    if (kind == REPLY_COUNT) {
        reply->kind = PEL_MEMCACHED_NUMBER;
        return parse_number(line, UINT64_MAX, &reply->number);
    }

    rest = (struct pel_slice){line.bytes + length, line.length - length};
    switch (replies[kind].shape) {
    case META_VALUE:
        if (next_number(&rest, UINT64_MAX, &reply->value_length) < 0)
            return PEL_EPROTOCOL;
        return parse_flags(rest, reply);
    case META:
        return parse_flags(rest, reply);
    case CLASSIC_VALUE:
        return parse_classic_value(rest, reply);
    case NAMED_TEXT:
        return next_word(&rest, &reply->key) < 0 ? PEL_EPROTOCOL : parse_text(rest, reply);
    case TEXT:
        return parse_text(rest, reply);
    case BARE:
        break;
    }
    return rest.length == 0 ? 0 : PEL_EPROTOCOL;
}

/* The head is parsed, `bytes` come after it. Returns how many of them belong to the reply, or a negative error. */
static int64_t begin_value(struct pel_memcached_parser *parser, const char *bytes, size_t length,
                           struct pel_memcached_reply *reply)
{
    uint64_t wanted = reply->value_length;

    if (wanted > parser->value_limit)
        return PEL_ELIMIT;
    reply->value.bytes = bytes;
    if (length >= 2 && length - 2 >= wanted) {
        if (bytes[wanted] != '\r' || bytes[wanted + 1] != '\n')
            return PEL_EPROTOCOL;
        reply->value.length = wanted;
        reply->value_whole = 1;
        reply->value_pending = 0;
        return (int64_t)(wanted + 2);
    }
    reply->value.length = length < wanted ? length : wanted;
    reply->value_whole = 0;
    reply->value_pending = wanted - reply->value.length;
    parser->pending = reply->value_pending;
    parser->state = parser->pending > 0 ? IN_VALUE : AT_VALUE_CR;
    return (int64_t)reply->value.length;
}

/*
 * The usual heads, "VA 12\r\n" and "VA 12 f0\r\n". Returns the head's length, or 0 if it is not wholly there or
 * anything else: then parse_line judges it.
 */
static size_t parse_plain_value_head(const char *bytes, size_t length, struct pel_memcached_reply *reply)
{
    const char *at = bytes + 3, *end = bytes + length;
    uint64_t value_length = 0, client_flags = 0;
    unsigned digit;

    if (end - at > 24)
        end = at + 24;
    for (; at < end && (digit = (unsigned char)*at - '0') <= 9; at++)
        value_length = value_length * 10 + digit;
    if (at == bytes + 3 || at - bytes > 12)
        return 0;
    reply->flags = 0;
    if (end - at >= 3 && at[0] == ' ' && at[1] == 'f') {
        const char *start = at += 2;
        for (; at < end && (digit = (unsigned char)*at - '0') <= 9; at++)
            client_flags = client_flags * 10 + digit;
        if (at == start || at - start > 9)
            return 0;
        reply->flags = PEL_MEMCACHED_FLAG('f');
        reply->client_flags = (uint32_t)client_flags;
    }
    if (end - at < 2 || at[0] != '\r' || at[1] != '\n')
        return 0;
    reply->kind = PEL_MEMCACHED_VA;
    reply->value_length = value_length;
    return (size_t)(at + 2 - bytes);
}

#define PAIR(a, b) ((unsigned)(a) << 8 | (unsigned)(b))

/* The kind of a bare two-letter reply, or -1. */
static int bare_kind(const char *bytes)
{
    switch (PAIR((unsigned char)bytes[0], (unsigned char)bytes[1])) {
    case PAIR('H', 'D'):
        return PEL_MEMCACHED_HD;
    case PAIR('E', 'N'):
        return PEL_MEMCACHED_EN;
    case PAIR('N', 'F'):
        return PEL_MEMCACHED_NF;
    case PAIR('N', 'S'):
        return PEL_MEMCACHED_NS;
    case PAIR('E', 'X'):
        return PEL_MEMCACHED_EX;
    case PAIR('M', 'N'):
        return PEL_MEMCACHED_MN;
    default:
        return -1;
    }
}

/* At the start of a line. */
static int parse_head(struct pel_memcached_parser *parser, const char *bytes, size_t length, size_t *consumed,
                      struct pel_memcached_reply *reply)
{
    size_t head = 0, room, taken;
    struct pel_slice line;
    const char *end;
    int64_t value;

    if (parser->line_length == 0 && length >= 4) {
        int kind;
        if (bytes[2] == '\r' && bytes[3] == '\n' && (kind = bare_kind(bytes)) >= 0) {
            reply->kind = (enum pel_memcached_kind)kind;
            reply->flags = 0;
            *consumed = 4;
            return 1;
        }
        if (bytes[0] == 'V' && bytes[1] == 'A' && bytes[2] == ' ')
            head = parse_plain_value_head(bytes, length, reply);
    }

    if (head == 0) {
        room = PEL_MEMCACHED_LINE_LIMIT - parser->line_length;
        end = memchr(bytes, '\n', length < room ? length : room);
        if (!end && length >= room)
            return fail(parser, PEL_ELIMIT);
        taken = end ? (size_t)(end + 1 - bytes) : length;
        line = (struct pel_slice){bytes, taken};
        if (!end || parser->line_length > 0) {
            memcpy(parser->line + parser->line_length, bytes, taken);
            parser->line_length += (unsigned)taken;
            line = (struct pel_slice){parser->line, parser->line_length};
        }
        if (!end) {
            *consumed = length;
            return 0;
        }
        parser->line_length = 0;
        if (line.length < 2 || line.bytes[line.length - 2] != '\r')
            return fail(parser, PEL_EPROTOCOL);
        line.length -= 2;
        if (parse_line(line, reply) < 0)
            return fail(parser, PEL_EPROTOCOL);
        head = taken;
    }

    if (reply->kind == PEL_MEMCACHED_VA || reply->kind == PEL_MEMCACHED_VALUE) {
        value = begin_value(parser, bytes + head, length - head, reply);
        if (value < 0)
            return fail(parser, (int)value);
        head += (size_t)value;
    }
    *consumed = head;
    return 1;
}

int pel_memcached_parse(struct pel_memcached_parser *parser, const char *bytes, size_t length, size_t *consumed,
                        struct pel_memcached_reply *reply)
{
    size_t taken = 0;

    *consumed = 0;
    if (length == 0)
        return parser->error;
    switch (parser->state) {
    case AT_LINE:
        return parse_head(parser, bytes, length, consumed, reply);
    case IN_VALUE:
        taken = length < parser->pending ? length : parser->pending;
        pel_memcached_parser_skip_value(parser, taken);
        reply->kind = PEL_MEMCACHED_VALUE_PART;
        reply->value = (struct pel_slice){bytes, taken};
        reply->value_pending = parser->pending;
        *consumed = taken;
        return 1;
    case AT_VALUE_CR:
        if (bytes[taken++] != '\r')
            return fail(parser, PEL_EPROTOCOL);
        parser->state = AT_VALUE_LF;
        /* fall through */
    case AT_VALUE_LF:
        if (taken == length) {
            *consumed = taken;
            return 0;
        }
        if (bytes[taken++] != '\n')
            return fail(parser, PEL_EPROTOCOL);
        parser->state = AT_LINE;
        reply->kind = PEL_MEMCACHED_VALUE_END;
        *consumed = taken;
        return 1;
    default:
        return parser->error;
    }
}
