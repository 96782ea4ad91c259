#include "core/http1/http1_head.h"

#include <string.h>
#include "core/base/decimal.h"

const struct pel_http1_limits pel_http1_default_limits = {
    .target = 8192, .head = 65536, .headers = 100, .body = UINT64_MAX, .chunk_excess = 16384};

/* ---- faults --------------------------------------------------------------------------------------------------- */

const char *pel_http1_fault_text(enum pel_http1_fault fault)
{
    static const char *const texts[] = {
#define TEXT(name, status, text) text,
        PEL_HTTP1_FAULTS(TEXT)
#undef TEXT
    };
    return texts[fault];
}

unsigned pel_http1_fault_status(enum pel_http1_fault fault)
{
    static const unsigned short statuses[] = {
#define STATUS(name, status, text) status,
        PEL_HTTP1_FAULTS(STATUS)
#undef STATUS
    };
    return statuses[fault];
}

const struct pel_http1_header *pel_http1_find(const struct pel_http1_head *head, const char *name)
{
    for (unsigned i = 0; i < head->header_count; i++)
        if (pel_http1_equal(head->headers[i].name, name))
            return &head->headers[i];
    return NULL;
}

/* ---- the first line ------------------------------------------------------------------------------------------- */

/* A line is bytes[0 ... length], without its CRLF. The functions below return a fault; 0 is none. */

static enum pel_http1_fault parse_version(const char *bytes, struct pel_http1_head *head)
{
    if (memcmp(bytes, "HTTP/", 5) || bytes[5] < '0' || bytes[5] > '9' || bytes[6] != '.' || bytes[7] < '0' ||
        bytes[7] > '9')
        return PEL_HTTP1_FAULT_FIRST_LINE;
    if (bytes[5] != '1' || bytes[7] > '1')
        return PEL_HTTP1_FAULT_VERSION;
    head->minor = (unsigned)(bytes[7] - '0');
    return PEL_HTTP1_FAULT_NONE;
}

static void set_path(struct pel_http1_head *head, const char *from, const char *end)
{
    const char *mark = memchr(from, '?', (size_t)(end - from));

    head->path = (struct pel_slice){from, (size_t)((mark ? mark : end) - from)};
    head->query = mark ? (struct pel_slice){mark + 1, (size_t)(end - mark - 1)} : (struct pel_slice){end, 0};
}

/* scheme://authority/path?query */
static enum pel_http1_fault parse_absolute_target(struct pel_http1_head *head)
{
    const char *from = head->target.bytes, *end = from + head->target.length, *slash;
    size_t scheme = head->target.length > 7 && pel__http1_same(from, "http://", 7)    ? 7
                    : head->target.length > 8 && pel__http1_same(from, "https://", 8) ? 8
                                                                                      : 0;

    if (!scheme)
        return PEL_HTTP1_FAULT_TARGET;
    head->target_form = PEL_HTTP1_ABSOLUTE;
    for (slash = from + scheme; slash < end && *slash != '/' && *slash != '?'; slash++)
        ;
    head->authority = (struct pel_slice){from + scheme, (size_t)(slash - from) - scheme};
    set_path(head, slash, end);
    return head->authority.length && pel_http1_host_valid(head->authority) ? PEL_HTTP1_FAULT_NONE
                                                                           : PEL_HTTP1_FAULT_TARGET;
}

static enum pel_http1_fault parse_target(struct pel_http1_head *head)
{
    const char *bytes = head->target.bytes;
    size_t length = head->target.length;

    if (!length || !pel_http1_all(bytes, length, PEL_HTTP1_TARGET_BYTE))
        return PEL_HTTP1_FAULT_TARGET;
    if (head->method.length == 7 && !memcmp(head->method.bytes, "CONNECT", 7)) {
        head->target_form = PEL_HTTP1_AUTHORITY;
        head->authority = head->target;
        head->path = head->query = (struct pel_slice){bytes, 0};
        return memchr(bytes, ':', length) && pel_http1_host_valid(head->target) ? PEL_HTTP1_FAULT_NONE
                                                                                : PEL_HTTP1_FAULT_TARGET;
    }
    if (*bytes == '/') {
        set_path(head, bytes, bytes + length);
        return PEL_HTTP1_FAULT_NONE;
    }
    if (*bytes != '*')
        return parse_absolute_target(head);
    head->target_form = PEL_HTTP1_ASTERISK;
    set_path(head, bytes, bytes + length);
    return length == 1 && head->method.length == 7 && !memcmp(head->method.bytes, "OPTIONS", 7)
               ? PEL_HTTP1_FAULT_NONE
               : PEL_HTTP1_FAULT_TARGET;
}

/* METHOD SP target SP HTTP/1.x */
static enum pel_http1_fault parse_request_line(const char *bytes, size_t length, const struct pel_http1_limits *limits,
                                               struct pel_http1_head *head)
{
    const char *end = bytes + length, *first = memchr(bytes, ' ', length), *second;
    enum pel_http1_fault fault;

    if (!first || first == bytes || !pel_http1_all(bytes, (size_t)(first - bytes), PEL_HTTP1_TOKEN))
        return PEL_HTTP1_FAULT_METHOD;
    head->method = (struct pel_slice){bytes, (size_t)(first++ - bytes)};
    if (!(second = memchr(first, ' ', (size_t)(end - first))) || end - second != 9)
        return PEL_HTTP1_FAULT_FIRST_LINE;
    head->target = (struct pel_slice){first, (size_t)(second - first)};
    if ((fault = parse_version(second + 1, head)))
        return fault;
    if (head->target.length > limits->target)
        return PEL_HTTP1_FAULT_TARGET_LONG;
    return parse_target(head);
}

/* HTTP/1.x SP 3DIGIT [SP reason] */
static enum pel_http1_fault parse_status_line(const char *bytes, size_t length, struct pel_http1_head *head)
{
    enum pel_http1_fault fault;

    if (length < 12)
        return PEL_HTTP1_FAULT_FIRST_LINE;
    if ((fault = parse_version(bytes, head)))
        return fault;
    head->status = 0;
    for (int i = 9; i < 12; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return PEL_HTTP1_FAULT_FIRST_LINE;
        head->status = head->status * 10 + (unsigned)(bytes[i] - '0');
    }
    if (bytes[8] != ' ' || head->status < 100 || (length > 12 && bytes[12] != ' '))
        return PEL_HTTP1_FAULT_FIRST_LINE;
    head->reason = length > 13 ? (struct pel_slice){bytes + 13, length - 13} : (struct pel_slice){bytes + length, 0};
    return pel_http1_all(head->reason.bytes, head->reason.length, PEL_HTTP1_VALUE) ? PEL_HTTP1_FAULT_NONE
                                                                                   : PEL_HTTP1_FAULT_FIRST_LINE;
}

/* ---- headers -------------------------------------------------------------------------------------------------- */

/* The framing headers seen so far. */
struct framing {
    unsigned host : 1, chunked : 1, close : 1, keep_alive : 1, upgrade : 1, upgrade_to : 1;
};

static enum pel_http1_fault parse_content_length(struct pel_slice value, enum pel_http1_kind kind,
                                                 struct pel_http1_head *head)
{
    uint64_t length;

    if (value.length > 18 || pel_decimal(value, UINT64_MAX, &length) < 0)
        return PEL_HTTP1_FAULT_LENGTH;
    /* Some servers repeat the same length; a client that does so is attacking. */
    if (head->has_length && (kind == PEL_HTTP1_REQUEST || head->length != length))
        return PEL_HTTP1_FAULT_LENGTH;
    head->has_length = 1;
    head->length = length;
    return PEL_HTTP1_FAULT_NONE;
}

/* A response may repeat its length in a list, as proxies make of repeated headers (RFC 9110, 8.6). */
static enum pel_http1_fault parse_content_lengths(struct pel_slice value, struct pel_http1_head *head)
{
    const char *end = value.bytes + value.length, *comma;

    for (const char *from = value.bytes;; from = comma + 1) {
        enum pel_http1_fault fault;
        comma = memchr(from, ',', (size_t)(end - from));
        fault = parse_content_length(pel_http1_trim(from, comma ? comma : end), PEL_HTTP1_RESPONSE, head);
        if (fault || !comma)
            return fault;
    }
}

/* Whether a tab precedes or follows the value. Some proxies do not treat a tab as white space, so they would read the
 * header differently. */
static int surrounded_by_tab(const struct pel_http1_header *header)
{
    const char *before = header->name.bytes + header->name.length + 1,
               *after = header->value.bytes + header->value.length;

    while (*before == ' ')
        before++;
    while (*after == ' ')
        after++;
    return *before == '\t' || *after == '\t'; /* at least a CR follows the value */
}

/* Checks and records the headers that determine the framing, and Host and Expect. */
static enum pel_http1_fault apply_framing_header(const struct pel_http1_header *header, enum pel_http1_kind kind,
                                                 struct pel_http1_head *head, struct framing *framing)
{
    const char *name = header->name.bytes;

    switch (header->name.length) {
    case 4:
        if (!pel__http1_same(name, "host", 4) || kind == PEL_HTTP1_RESPONSE)
            break;
        if (kind == PEL_HTTP1_TRAILERS)
            return PEL_HTTP1_FAULT_TRAILER;
        if (framing->host || !pel_http1_host_valid(header->value))
            return PEL_HTTP1_FAULT_HOST;
        framing->host = 1;
        head->host = header->value;
        break;
    case 6:
        if (kind != PEL_HTTP1_REQUEST || !pel__http1_same(name, "expect", 6))
            break;
        if (!pel_http1_equal(header->value, "100-continue"))
            return PEL_HTTP1_FAULT_EXPECTATION;
        head->expects_continue = 1;
        break;
    case 7:
        framing->upgrade_to |= pel__http1_same(name, "upgrade", 7);
        break;
    case 10:
        if (!pel__http1_same(name, "connection", 10))
            break;
        framing->close |= pel_http1_has_token(header->value, "close");
        framing->keep_alive |= pel_http1_has_token(header->value, "keep-alive");
        framing->upgrade |= pel_http1_has_token(header->value, "upgrade");
        break;
    case 14:
        if (!pel__http1_same(name, "content-length", 14))
            break;
        if (kind == PEL_HTTP1_REQUEST && surrounded_by_tab(header))
            return PEL_HTTP1_FAULT_LENGTH;
        return kind == PEL_HTTP1_TRAILERS   ? PEL_HTTP1_FAULT_TRAILER
               : kind == PEL_HTTP1_RESPONSE ? parse_content_lengths(header->value, head)
                                            : parse_content_length(header->value, kind, head);
    case 17:
        if (!pel__http1_same(name, "transfer-encoding", 17))
            break;
        if (kind == PEL_HTTP1_TRAILERS)
            return PEL_HTTP1_FAULT_TRAILER;
        if (framing->chunked || !header->value.length || (kind == PEL_HTTP1_REQUEST && surrounded_by_tab(header)) ||
            pel_http1_has_inner_token(header->value, "chunked"))
            return PEL_HTTP1_FAULT_CODING;
        if (!pel_http1_equal(header->value, "chunked"))
            return PEL_HTTP1_FAULT_CODING_UNKNOWN;
        framing->chunked = 1;
        break;
    }
    return PEL_HTTP1_FAULT_NONE;
}

static enum pel_http1_fault parse_header_line(const char *bytes, size_t length, enum pel_http1_kind kind,
                                              const struct pel_http1_limits *limits, struct pel_http1_head *head,
                                              struct framing *framing)
{
    const char *end = bytes + length, *colon = memchr(bytes, ':', length);
    struct pel_http1_header *header = &head->headers[head->header_count];

    if (head->header_count >= limits->headers || head->header_count >= PEL_HTTP1_MOST_HEADERS)
        return PEL_HTTP1_FAULT_HEADERS_MANY;
    if (!colon || colon == bytes || !pel_http1_all(bytes, (size_t)(colon - bytes), PEL_HTTP1_TOKEN))
        return PEL_HTTP1_FAULT_HEADER;
    header->name = (struct pel_slice){bytes, (size_t)(colon - bytes)};
    header->value = pel_http1_trim(colon + 1, end);
    if (!pel_http1_all(header->value.bytes, header->value.length, PEL_HTTP1_VALUE))
        return PEL_HTTP1_FAULT_HEADER;
    head->header_count++;
    return apply_framing_header(header, kind, head, framing);
}

/* ---- the head ------------------------------------------------------------------------------------------------- */

static enum pel_http1_fault determine_framing(enum pel_http1_kind kind, const struct pel_http1_limits *limits,
                                              const struct framing *framing, struct pel_http1_head *head)
{
    if (kind == PEL_HTTP1_TRAILERS)
        return PEL_HTTP1_FAULT_NONE;
    if (framing->chunked && (head->minor == 0 || head->has_length))
        return PEL_HTTP1_FAULT_CODING;
    if (kind == PEL_HTTP1_REQUEST && !framing->host && head->minor == 1 && !limits->host_optional)
        return PEL_HTTP1_FAULT_HOST;
    head->upgrade = framing->upgrade && framing->upgrade_to && head->minor == 1;
    head->keep_alive = !framing->close && (head->minor == 1 || framing->keep_alive);
    if (kind == PEL_HTTP1_RESPONSE && (head->status < 200 || head->status == 204 || head->status == 304))
        head->framing = PEL_HTTP1_NO_BODY;
    else if (framing->chunked)
        head->framing = PEL_HTTP1_CHUNKED;
    else if (head->has_length)
        head->framing = PEL_HTTP1_LENGTH;
    else
        head->framing = kind == PEL_HTTP1_REQUEST ? PEL_HTTP1_NO_BODY : PEL_HTTP1_UNTIL_CLOSE;
    if (head->framing == PEL_HTTP1_UNTIL_CLOSE)
        head->keep_alive = 0;
    return PEL_HTTP1_FAULT_NONE;
}

/* Whether the line, which is complete, goes on in the next one (obs-fold), whose first byte is `next`: then blanks
 * replace its end, as RFC 9112 (5.2) wants it of a client. */
static int unfold(char *cr, char next)
{
    if (next != ' ' && next != '\t')
        return 0;
    cr[0] = cr[1] = ' ';
    return 1;
}

ssize_t pel_http1_parse_head(enum pel_http1_kind kind, const struct pel_http1_limits *limits, const char *bytes,
                             size_t length, struct pel_http1_head *head, size_t *line, enum pel_http1_fault *fault)
{
    struct framing framing = {0};
    size_t at = 0, from = 0; /* the line begins at `at`, and its end is not before `from` */

    memset(head, 0, offsetof(struct pel_http1_head, headers));
    for (int first = kind != PEL_HTTP1_TRAILERS;; first = 0) {
        size_t most = limits->head - from, left = length - from, size;
        const char *start = bytes + at, *end;
        int long_target = first && pel_http1_first_line_limit(limits) < most;
        if (long_target)
            most = pel_http1_first_line_limit(limits);
        end = memchr(bytes + from, '\n', left < most ? left : most);
        if (!end && left >= most) {
            *fault = !long_target                ? PEL_HTTP1_FAULT_HEAD_LONG
                     : kind == PEL_HTTP1_REQUEST ? PEL_HTTP1_FAULT_TARGET_LONG
                                                 : PEL_HTTP1_FAULT_STATUS_LONG;
            return PEL_ELIMIT;
        }
        *line = at;
        if (!end)
            return 0;
        size = (size_t)(end - start);
        from = at + size + 1;
        if (kind == PEL_HTTP1_RESPONSE && !first && size > 1 && end[-1] == '\r') {
            if (from == length)
                return 0;
            if (unfold((char *)end - 1, bytes[from]))
                continue;
        }
        at = from;
        if (size == 0 || start[--size] != '\r')
            *fault = PEL_HTTP1_FAULT_LINE_END;
        else if (first)
            *fault = kind == PEL_HTTP1_REQUEST ? parse_request_line(start, size, limits, head)
                                               : parse_status_line(start, size, head);
        else if (size == 0)
            break;
        else
            *fault = parse_header_line(start, size, kind, limits, head, &framing);
        if (*fault)
            return *fault >= PEL_HTTP1_FAULT_TARGET_LONG ? PEL_ELIMIT : PEL_EPROTOCOL;
    }
    *fault = determine_framing(kind, limits, &framing, head);
    return *fault ? PEL_EPROTOCOL : (ssize_t)at;
}
