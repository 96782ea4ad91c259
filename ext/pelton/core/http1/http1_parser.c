#include "core/http1/http1_parser.h"

#include <string.h>

enum state { HEAD, BODY, BODY_UNTIL_CLOSE, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILERS, END, FAILED };

#define CHUNK_LINE 4096 /* the most bytes of a chunk's first line */
#define CHUNK_DIGITS 15 /* the most digits of a chunk's size, so that no sum overflows */

void pel_http1_parser_init(struct pel_http1_parser *parser, enum pel_http1_kind kind,
                           const struct pel_http1_limits *limits)
{
    memset(parser, 0, sizeof *parser);
    parser->limits = limits;
    parser->response = kind == PEL_HTTP1_RESPONSE;
}

static int refuse_message(struct pel_http1_parser *parser, enum pel_http1_fault fault)
{
    parser->state = FAILED;
    parser->fault = (unsigned char)fault;
    return fault >= PEL_HTTP1_FAULT_TARGET_LONG ? PEL_ELIMIT : PEL_EPROTOCOL;
}

/* ---- heads and trailers --------------------------------------------------------------------------------------- */

/* Whether parsing again can make progress: the new bytes complete a line, or make it too long. */
static int may_complete_line(struct pel_http1_parser *parser, const char *bytes, size_t length)
{
    if (!parser->searched)
        return 1;
    return length > parser->searched &&
           (memchr(bytes + parser->searched, '\n', length - parser->searched) ||
            (!parser->line && length >= pel_http1_first_line_limit(parser->limits)) || length >= parser->limits->head);
}

static ssize_t parse_lines(struct pel_http1_parser *parser, enum pel_http1_kind kind, const char *bytes, size_t length,
                           struct pel_http1_head *head)
{
    enum pel_http1_fault fault = PEL_HTTP1_FAULT_NONE;
    ssize_t used;

    if (!may_complete_line(parser, bytes, length)) {
        parser->searched = length;
        return 0;
    }
    used = pel_http1_parse_head(kind, parser->limits, bytes, length, head, &parser->line, &fault);
    parser->searched = used == 0 ? length : 0;
    if (used == 0 && kind == PEL_HTTP1_RESPONSE && bytes[length - 1] == '\n')
        parser->searched--; /* any byte after the line may complete it */
    return used < 0 ? refuse_message(parser, fault) : used;
}

static int begin_body(struct pel_http1_parser *parser, struct pel_http1_head *head)
{
    parser->informational = parser->response && head->status < 200;
    parser->total = parser->excess = parser->left = 0;
    if (parser->no_body)
        head->framing = PEL_HTTP1_NO_BODY;
    switch (head->framing) {
    case PEL_HTTP1_NO_BODY:
        parser->state = END;
        break;
    case PEL_HTTP1_LENGTH:
        if (head->length > parser->limits->body)
            return refuse_message(parser, PEL_HTTP1_FAULT_BODY_LONG);
        parser->left = head->length;
        parser->state = head->length ? BODY : END;
        break;
    case PEL_HTTP1_CHUNKED:
        parser->state = CHUNK_SIZE;
        break;
    case PEL_HTTP1_UNTIL_CLOSE:
        parser->state = BODY_UNTIL_CLOSE;
    }
    return PEL_HTTP1_HEAD;
}

/* Tolerates one empty line before a request, as RFC 9112 requires (2.2). */
static int next_head(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed,
                     struct pel_http1_head *head)
{
    ssize_t used;

    if (!parser->searched && !parser->response && !parser->blank_line && length && bytes[0] == '\r') {
        if (length == 1)
            return PEL_HTTP1_MORE;
        if (bytes[1] == '\n') {
            parser->blank_line = 1;
            *consumed = 2;
            bytes += 2;
            length -= 2;
        }
    }
    if (!length)
        return PEL_HTTP1_MORE;
    if (!parser->searched && !parser->response && *bytes != '\r' && *bytes != '\n' &&
        !pel_http1_all(bytes, 1, PEL_HTTP1_TOKEN))
        return refuse_message(parser, PEL_HTTP1_FAULT_METHOD); /* such as TLS, whose client would wait for a reply */
    used = parse_lines(parser, parser->response ? PEL_HTTP1_RESPONSE : PEL_HTTP1_REQUEST, bytes, length, head);
    if (used <= 0)
        return (int)used;
    *consumed += (size_t)used;
    parser->blank_line = 0;
    return begin_body(parser, head);
}

static int finish_message(struct pel_http1_parser *parser)
{
    parser->state = HEAD;
    if (!parser->informational)
        parser->no_body = 0;
    return PEL_HTTP1_END;
}

/* ---- bodies --------------------------------------------------------------------------------------------------- */

static int next_data(struct pel_http1_parser *parser, enum state next, const char *bytes, size_t length,
                     size_t *consumed, struct pel_slice *slice)
{
    size_t count = length < parser->left ? length : (size_t)parser->left;

    if (!count)
        return PEL_HTTP1_MORE;
    *slice = (struct pel_slice){bytes, count};
    *consumed = count;
    if (!(parser->left -= count))
        parser->state = next;
    return PEL_HTTP1_DATA;
}

static int hex_value(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

static int accept_extensions(struct pel_http1_parser *parser, const char *bytes, size_t length)
{
    parser->excess += length;
    return parser->excess <= parser->limits->chunk_excess && pel_http1_chunk_extensions(bytes, length);
}

/* Parses 1*HEXDIG extensions CRLF. Returns 1, 0 when more bytes are needed, or a code. */
static int parse_chunk_size(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed)
{
    const char *end = memchr(bytes, '\n', length < CHUNK_LINE ? length : CHUNK_LINE);
    size_t line, digits = 0;

    if (!end)
        return length < CHUNK_LINE ? 0 : refuse_message(parser, PEL_HTTP1_FAULT_CHUNK);
    line = (size_t)(end - bytes);
    *consumed = line + 1;
    parser->left = 0;
    while (digits < line && digits < CHUNK_DIGITS && hex_value(bytes[digits]) >= 0)
        parser->left = parser->left * 16 + (uint64_t)hex_value(bytes[digits++]);
    if (!digits || bytes[--line] != '\r' ||
        (line > digits && !accept_extensions(parser, bytes + digits, line - digits)))
        return refuse_message(parser, PEL_HTTP1_FAULT_CHUNK);
    if (parser->left > parser->limits->body || parser->total > parser->limits->body - parser->left)
        return refuse_message(parser, PEL_HTTP1_FAULT_BODY_LONG);
    parser->total += parser->left;
    parser->state = parser->left ? CHUNK : TRAILERS;
    return 1;
}

static int parse_chunk_end(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed)
{
    if (length && bytes[0] != '\r')
        return refuse_message(parser, PEL_HTTP1_FAULT_CHUNK);
    if (length < 2)
        return 0;
    if (bytes[1] != '\n')
        return refuse_message(parser, PEL_HTTP1_FAULT_CHUNK);
    *consumed += 2;
    parser->state = CHUNK_SIZE;
    return 1;
}

/* The next event of a chunked body: parses the framing of chunks up to their data. */
static int next_chunked(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed,
                        struct pel_http1_head *head, struct pel_slice *slice)
{
    for (;;) {
        size_t used = 0;
        int code = parser->state == CHUNK_SIZE  ? parse_chunk_size(parser, bytes, length, &used)
                   : parser->state == CHUNK_END ? parse_chunk_end(parser, bytes, length, &used)
                                                : 1;
        if (code <= 0)
            return code;
        *consumed += used;
        bytes += used;
        length -= used;
        if (parser->state == CHUNK) {
            code = next_data(parser, CHUNK_END, bytes, length, &used, slice);
            if (code == PEL_HTTP1_DATA)
                *consumed += used;
            return code;
        }
        if (parser->state == TRAILERS) {
            ssize_t count = parse_lines(parser, PEL_HTTP1_TRAILERS, bytes, length, head);
            if (count <= 0)
                return (int)count;
            *consumed += (size_t)count;
            return finish_message(parser);
        }
    }
}

static int next_until_close(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed,
                            struct pel_slice *slice)
{
    uint64_t most = parser->limits->body - parser->total;

    if (!length)
        return PEL_HTTP1_MORE;
    if (!most)
        return refuse_message(parser, PEL_HTTP1_FAULT_BODY_LONG);
    *consumed = length < most ? length : (size_t)most;
    parser->total += *consumed;
    *slice = (struct pel_slice){bytes, *consumed};
    return PEL_HTTP1_DATA;
}

int pel_http1_parse(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed,
                    struct pel_http1_head *head, struct pel_slice *slice)
{
    *consumed = 0;
    if (!length)
        bytes = ""; /* not NULL: memchr and pointer arithmetic on it would be undefined */
    switch ((enum state)parser->state) {
    case HEAD:
        return next_head(parser, bytes, length, consumed, head);
    case BODY:
        return next_data(parser, END, bytes, length, consumed, slice);
    case BODY_UNTIL_CLOSE:
        return next_until_close(parser, bytes, length, consumed, slice);
    case CHUNK_SIZE:
    case CHUNK:
    case CHUNK_END:
    case TRAILERS:
        return next_chunked(parser, bytes, length, consumed, head, slice);
    case END:
        head->header_count = 0;
        return finish_message(parser);
    case FAILED:
        break;
    }
    return refuse_message(parser, pel_http1_parser_fault(parser));
}

int pel_http1_parse_end(struct pel_http1_parser *parser, struct pel_http1_head *head)
{
    head->header_count = 0;
    if (parser->state == BODY_UNTIL_CLOSE || parser->state == END)
        return finish_message(parser);
    if (parser->state == FAILED)
        return refuse_message(parser, pel_http1_parser_fault(parser));
    return pel_http1_parser_within(parser) ? refuse_message(parser, PEL_HTTP1_FAULT_CUT_OFF) : PEL_HTTP1_MORE;
}

int pel_http1_parser_within(const struct pel_http1_parser *parser)
{
    return parser->state != HEAD || parser->searched || (parser->response && parser->no_body);
}

uint64_t pel_http1_parser_left(const struct pel_http1_parser *parser)
{
    return parser->state == BODY || parser->state == CHUNK ? parser->left : 0;
}

int pel_http1_parser_skip(struct pel_http1_parser *parser, uint64_t length)
{
    if (length > pel_http1_parser_left(parser))
        return PEL_EARGUMENT;
    if (length && !(parser->left -= length))
        parser->state = parser->state == BODY ? END : CHUNK_END;
    return 0;
}
