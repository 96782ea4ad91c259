#include "core/memcached_server/request_parser.h"

#include <string.h>

#include "core/base/decimal.h"
#include "core/memcached_server/request_line.h"

enum {
    LINE, /* at the beginning of a line */
    KEYS, /* after the verb of a retrieval command, or the expiry of a gat */
    SKIP  /* in a refused line, whose end causes an error reply */
};

#define BINARY 0x80        /* the first byte of a request of the binary protocol */
#define LEADING_SPACES 100 /* the most that may precede a retrieval command whose line is longer than the limit */

static size_t skip_spaces(const char *bytes, size_t at, size_t length)
{
    while (at < length && bytes[at] == ' ')
        at++;
    return at;
}

static size_t word_end(const char *bytes, size_t at, size_t length)
{
    while (at < length && pel__memcached_in_word(bytes[at]))
        at++;
    return at;
}

/* The end of an LF or a CRLF at `at`; 0 if there is none, or if it is incomplete at `length`. */
static size_t line_end(const char *bytes, size_t at, size_t length)
{
    if (at < length && bytes[at] == '\r')
        at++;
    return at < length && bytes[at] == '\n' ? at + 1 : 0;
}

static int skip_refused_line(struct pel_memcached_request_parser *parser, const char *bytes, size_t length,
                             size_t *consumed, struct pel_memcached_request *request)
{
    const char *end = memchr(bytes, '\n', length);

    *consumed = end ? (size_t)(end + 1 - bytes) : length;
    if (!end)
        return 0;
    parser->state = LINE;
    request->noreply = 0;
    request->swallow = 0;
    pel__memcached_request_bad(request, parser->error);
    return 1;
}

static int refuse_line(struct pel_memcached_request_parser *parser, const char *error, const char *bytes, size_t length,
                       size_t *consumed, struct pel_memcached_request *request)
{
    parser->state = SKIP;
    parser->error = error;
    return skip_refused_line(parser, bytes, length, consumed, request);
}

/* Parses the next key of a retrieval command. */
static int next_retrieval_key(struct pel_memcached_request_parser *parser, const char *bytes, size_t length,
                              size_t *consumed, struct pel_memcached_request *request)
{
    size_t start = skip_spaces(bytes, 0, length), end = word_end(bytes, start, length), after;

    request->verb = (enum pel_request_verb)parser->verb;
    request->expiry = parser->expiry;
    request->noreply = 0;
    request->flags = 0;
    if (end - start > PEL_STORE_KEY_LIMIT)
        return refuse_line(parser, PEL_BAD_FORMAT, bytes, length, consumed, request);
    *consumed = start;
    if (end == length || (bytes[end] == '\r' && end + 1 == length))
        return 0;
    if (bytes[end] != ' ' && !line_end(bytes, end, length))
        return refuse_line(parser, PEL_BAD_FORMAT, bytes, length, consumed, request);
    request->key = (struct pel_slice){bytes + start, end - start};
    after = line_end(bytes, skip_spaces(bytes, end, length), length);
    request->last = after > 0;
    if (after > 0)
        parser->state = LINE;
    *consumed = after > 0 ? after : end;
    return 1;
}

/* Whether all keys of a line are valid: memcached replies to a line with a bad key by one error and no values. The keys
 * of a line that is longer than the limit are checked one by one instead, as they arrive. */
static int keys_are_valid(const char *bytes, size_t at, size_t length)
{
    while (at < length) {
        size_t start = skip_spaces(bytes, at, length);
        at = word_end(bytes, start, length);
        if (at - start > PEL_STORE_KEY_LIMIT || (at < length && bytes[at] != ' '))
            return 0;
    }
    return 1;
}

/* Starts a retrieval command. `at` is the end of its verb; `line_length` is the length of the line without its end, or
 * 0 if the line is incomplete. */
static int begin_retrieval(struct pel_memcached_request_parser *parser, enum pel_request_verb verb, const char *bytes,
                           size_t at, size_t length, size_t line_length, size_t *consumed,
                           struct pel_memcached_request *request)
{
    int whole = line_length > 0;
    size_t limit = whole ? line_length : length, start;

    parser->verb = (uint8_t)verb;
    start = skip_spaces(bytes, at, limit);
    if (whole && start == limit) /* only a verb */
        return refuse_line(parser, "ERROR", bytes, length, consumed, request);
    if (verb == PEL_REQUEST_GAT || verb == PEL_REQUEST_GATS) {
        at = word_end(bytes, start, limit);
        if (pel_decimal_signed((struct pel_slice){bytes + start, at - start}, &parser->expiry) < 0)
            return refuse_line(parser, PEL_BAD_EXPTIME, bytes, length, consumed, request);
        start = at;
    }
    if (whole && !keys_are_valid(bytes, start, limit))
        return refuse_line(parser, PEL_BAD_FORMAT, bytes, length, consumed, request);
    parser->state = KEYS;
    if (next_retrieval_key(parser, bytes + start, length - start, consumed, request) == 0) {
        *consumed += start;
        return 0;
    }
    *consumed += start;
    return 1;
}

int pel_memcached_request_parse(struct pel_memcached_request_parser *parser, const char *bytes, size_t length,
                                size_t *consumed, struct pel_memcached_request *request)
{
    const char *end;
    size_t start, word, line;
    enum pel_request_verb verb;

    *consumed = 0;
    if (length == 0)
        return 0;
    if (parser->state == KEYS)
        return next_retrieval_key(parser, bytes, length, consumed, request);
    if (parser->state == SKIP)
        return skip_refused_line(parser, bytes, length, consumed, request);
    if ((unsigned char)bytes[0] == BINARY)
        return PEL_EPROTOCOL;

    end = memchr(bytes, '\n', length < PEL_MEMCACHED_REQUEST_LIMIT ? length : PEL_MEMCACHED_REQUEST_LIMIT);
    if (!end && length < PEL_MEMCACHED_REQUEST_LIMIT)
        return 0;
    line = end ? (size_t)(end - bytes) : 0;
    if (line > 0 && bytes[line - 1] == '\r')
        line--;
    start = skip_spaces(bytes, 0, end ? line : length);
    word = word_end(bytes, start, end ? line : length);
    verb = pel__memcached_request_verb((struct pel_slice){bytes + start, word - start});
    if (pel__memcached_retrieval(verb) && (end || start <= LEADING_SPACES))
        return begin_retrieval(parser, verb, bytes, word, length, line, consumed, request);
    if (!end)
        return PEL_ELIMIT;
    *consumed = (size_t)(end + 1 - bytes);
    pel__memcached_request_line((struct pel_slice){bytes, line}, request);
    return 1;
}
