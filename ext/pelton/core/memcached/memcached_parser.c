#include "core/memcached/memcached_parser.h"

#include <string.h>

enum { AT_LINE, IN_VALUE, AT_VALUE_CR, AT_VALUE_LF, FAILED };

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

int pel_memcached_parser_inside(const struct pel_memcached_parser *parser)
{
    return parser->line_length > 0 || (parser->state != AT_LINE && parser->state != FAILED);
}

static int fail_reply_parser(struct pel_memcached_parser *parser, int error)
{
    parser->state = FAILED;
    parser->pending = 0;
    return parser->error = error;
}

/* Starts a value: `bytes` follow the head. Returns how many of them belong to the reply, or a negative error. */
static int64_t begin_reply_value(struct pel_memcached_parser *parser, const char *bytes, size_t length,
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
 * Parses the usual heads, "VA 12\r\n" and "VA 12 f0\r\n". Returns the length of the head, or 0 if it is incomplete or
 * another line: then pel__memcached_parse_line parses it.
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
static int bare_reply_kind(const char *bytes)
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

/* Parses a line, and begins its value if it has one. */
static int parse_reply_head(struct pel_memcached_parser *parser, const char *bytes, size_t length, size_t *consumed,
                            struct pel_memcached_reply *reply)
{
    size_t head = 0, space, taken;
    struct pel_slice line;
    const char *end;
    int64_t value;

    if (parser->line_length == 0 && length >= 4) {
        int kind;
        if (bytes[2] == '\r' && bytes[3] == '\n' && (kind = bare_reply_kind(bytes)) >= 0) {
            reply->kind = (enum pel_memcached_kind)kind;
            reply->flags = 0;
            *consumed = 4;
            return 1;
        }
        if (bytes[0] == 'V' && bytes[1] == 'A' && bytes[2] == ' ')
            head = parse_plain_value_head(bytes, length, reply);
    }

    if (head == 0) {
        space = PEL_MEMCACHED_LINE_LIMIT - parser->line_length;
        end = memchr(bytes, '\n', length < space ? length : space);
        if (!end && length >= space)
            return fail_reply_parser(parser, PEL_ELIMIT);
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
            return fail_reply_parser(parser, PEL_EPROTOCOL);
        line.length -= 2;
        if (pel__memcached_parse_line(line, reply) < 0)
            return fail_reply_parser(parser, PEL_EPROTOCOL);
        head = taken;
    }

    if (reply->kind == PEL_MEMCACHED_VA) {
        value = begin_reply_value(parser, bytes + head, length - head, reply);
        if (value < 0)
            return fail_reply_parser(parser, (int)value);
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
        return parse_reply_head(parser, bytes, length, consumed, reply);
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
            return fail_reply_parser(parser, PEL_EPROTOCOL);
        parser->state = AT_VALUE_LF;
        /* fall through */
    case AT_VALUE_LF:
        if (taken == length) {
            *consumed = taken;
            return 0;
        }
        if (bytes[taken++] != '\n')
            return fail_reply_parser(parser, PEL_EPROTOCOL);
        parser->state = AT_LINE;
        reply->kind = PEL_MEMCACHED_VALUE_END;
        *consumed = taken;
        return 1;
    default:
        return parser->error;
    }
}
