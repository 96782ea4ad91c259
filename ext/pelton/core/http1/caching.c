#include "core/http1/caching.h"

#define YEAR (365 * 24 * 60 * 60)

/* Takes the next element off a list; commas within quotes belong to it. 0 at the list's end. */
static int next_element(struct pel_slice *list, struct pel_slice *element)
{
    size_t end = 0;
    int quoted = 0;

    if (!list->length)
        return 0;
    for (; end < list->length && (quoted || list->bytes[end] != ','); end++) {
        if (list->bytes[end] == '"')
            quoted = !quoted;
        else if (quoted && list->bytes[end] == '\\' && end + 1 < list->length)
            end++;
    }
    *element = pel_http1_trim(list->bytes, list->bytes + end);
    end += end < list->length;
    *list = (struct pel_slice){list->bytes + end, list->length - end};
    return 1;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* What is asked for, in which form: part of the key, so an answer is given only to those who ask for the same. */
static const struct pel_slice keyed[] = {
    PEL_SLICE("accept"),
    PEL_SLICE("accept-encoding"),
    PEL_SLICE("accept-language"),
    PEL_SLICE("sec-fetch-site"),
    PEL_SLICE("sec-fetch-mode"),
    PEL_SLICE("sec-fetch-dest"),
    PEL_SLICE("sec-fetch-user"),
    PEL_SLICE("x-forwarded-proto"),
    PEL_SLICE("x-forwarded-host"),
    PEL_SLICE("x-forwarded-port"),
    PEL_SLICE("x-forwarded-scheme"),
    PEL_SLICE("x-forwarded-ssl"),
    PEL_SLICE("cf-visitor"),
    PEL_SLICE("x-forwarded-prefix"),
    PEL_SLICE("x-requested-with"),
    PEL_SLICE("save-data"),
    PEL_SLICE("dnt"),
    PEL_SLICE("sec-gpc"),
    PEL_SLICE("upgrade-insecure-requests"),
};

/* Who asks, when, and by which way: hidden from the application when its response may be given to others. */
static const struct pel_slice hidden[] = {
    PEL_SLICE("user-agent"),
    PEL_SLICE("sec-ch-ua"),
    PEL_SLICE("sec-ch-ua-mobile"),
    PEL_SLICE("sec-ch-ua-platform"),
    PEL_SLICE("referer"),
    PEL_SLICE("if-none-match"),
    PEL_SLICE("if-modified-since"),
    PEL_SLICE("priority"),
    PEL_SLICE("purpose"),
    PEL_SLICE("sec-purpose"),
    PEL_SLICE("keep-alive"),
    PEL_SLICE("te"),
    PEL_SLICE("via"),
    PEL_SLICE("x-forwarded-for"),
    PEL_SLICE("x-forwarded-server"),
    PEL_SLICE("x-real-ip"),
    PEL_SLICE("x-client-ip"),
    PEL_SLICE("true-client-ip"),
    PEL_SLICE("cf-connecting-ip"),
    PEL_SLICE("cf-ipcountry"),
    PEL_SLICE("cf-ray"),
    PEL_SLICE("cdn-loop"),
    PEL_SLICE("x-amz-cf-id"),
    PEL_SLICE("x-request-id"),
    PEL_SLICE("x-correlation-id"),
    PEL_SLICE("x-request-start"),
    PEL_SLICE("x-queue-start"),
    PEL_SLICE("traceparent"),
    PEL_SLICE("tracestate"),
    PEL_SLICE("baggage"),
    PEL_SLICE("x-amzn-trace-id"),
    PEL_SLICE("x-cloud-trace-context"),
};

#define COUNT(names) (sizeof(names) / sizeof *(names))

/* The place of a name in a list; -1: it is not there. */
static int place_of(struct pel_slice name, const struct pel_slice *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].length == name.length && pel__http1_same(name.bytes, names[i].bytes, name.length))
            return (int)i;
    return -1;
}

int pel_http1_cache_hides(struct pel_slice name)
{
    return place_of(name, hidden, COUNT(hidden)) >= 0;
}

/* Connection may name headers that concern this connection alone. */
static int plain_connection_p(struct pel_slice list)
{
    struct pel_slice element;

    while (next_element(&list, &element))
        if (element.length && !pel_http1_equal(element, "keep-alive") && !pel_http1_equal(element, "close") &&
            !pel_http1_equal(element, "te"))
            return 0;
    return 1;
}

static void append(char *key, size_t *length, const char *bytes, size_t count)
{
    if (*length + count > PEL_HTTP1_CACHE_KEY) {
        *length = PEL_HTTP1_CACHE_KEY + 1;
        return;
    }
    if (count)
        memcpy(key + *length, bytes, count);
    *length += count;
}

/* A part, if it is there, after a mark; and a line end, which no part contains. */
static void append_part(char *key, size_t *length, struct pel_slice part)
{
    if (part.bytes) {
        append(key, length, "=", 1);
        append(key, length, part.bytes, part.length);
    }
    append(key, length, "\n", 1);
}

size_t pel_http1_cache_key(const struct pel_http1_head *request, int secure, char *key, int *hides)
{
    struct pel_slice values[COUNT(keyed)] = {{NULL, 0}};
    size_t length = 0;

    *hides = 0;
    if (request->minor != 1 || request->target_form != PEL_HTTP1_ORIGIN || request->upgrade ||
        (request->framing != PEL_HTTP1_NO_BODY) ||
        !(pel_slice_equals(request->method, "GET") || pel_slice_equals(request->method, "HEAD")))
        return 0;
    for (unsigned i = 0; i < request->header_count; i++) {
        struct pel_slice name = request->headers[i].name, value = request->headers[i].value;
        int place = place_of(name, keyed, COUNT(keyed));
        if (place >= 0 && !values[place].bytes)
            values[place] = value;
        else if (place >= 0) /* sent twice */
            return 0;
        else if (pel_http1_cache_hides(name))
            *hides = 1;
        else if (!pel_http1_equal(name, "host") && !(pel_http1_equal(name, "connection") && plain_connection_p(value)))
            return 0;
    }
    append_part(key, &length, (struct pel_slice){secure ? "s" : NULL, secure ? 1 : 0});
    append_part(key, &length, request->host);
    append_part(key, &length, request->target);
    for (size_t i = 0; i < COUNT(keyed) && length <= PEL_HTTP1_CACHE_KEY; i++)
        append_part(key, &length, values[i]);
    return length > PEL_HTTP1_CACHE_KEY ? 0 : length;
}

/* The target is the third part. */
static struct pel_slice target_of(struct pel_slice key)
{
    const char *at = key.bytes, *end = key.bytes + key.length, *line_end;

    for (int part = 0; part < 2; part++)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    line_end = memchr(at, '\n', (size_t)(end - at));
    return (struct pel_slice){at + 1, (size_t)(line_end - at - 1)};
}

int pel_http1_cache_key_matches(struct pel_slice key, struct pel_slice pattern)
{
    struct pel_slice target = target_of(key);
    size_t length = pattern.length;
    int prefix = length && pattern.bytes[length - 1] == '*';

    length -= (size_t)prefix;
    if (target.length < length || (length && memcmp(target.bytes, pattern.bytes, length)))
        return 0;
    return prefix || target.length == length || target.bytes[length] == '?';
}

/* ---- responses --------------------------------------------------------------------------------------------------- */

/* Cache-Control, of all lines. */
struct cache_control {
    unsigned is_public : 1, forbidden : 1;
    unsigned has_max_age : 1, has_s_maxage : 1, has_stale : 1, has_stale_if_error : 1;
    unsigned must_revalidate : 1;
    uint32_t max_age, s_maxage;
    struct pel_http1_stale stale;
};

/* Seconds, perhaps in quotes. A malformed or repeated number forbids caching. */
static void note_seconds(struct cache_control *control, struct pel_slice text, uint32_t *seconds, unsigned known)
{
    uint64_t number = 0;

    if (text.length >= 2 && text.bytes[0] == '"' && text.bytes[text.length - 1] == '"')
        text = (struct pel_slice){text.bytes + 1, text.length - 2};
    if (!text.length || known)
        control->forbidden = 1;
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') {
            control->forbidden = 1;
            return;
        }
        number = number * 10 + (uint64_t)(text.bytes[i] - '0');
        if (number > YEAR)
            number = YEAR;
    }
    *seconds = (uint32_t)number;
}

static void note_directive(struct cache_control *control, struct pel_slice element)
{
    const char *equals = element.length ? memchr(element.bytes, '=', element.length) : NULL;
    const char *end = element.bytes + element.length;
    struct pel_slice name = pel_http1_trim(element.bytes, equals ? equals : end), value = {NULL, 0};

    if (equals)
        value = pel_http1_trim(equals + 1, end);
    if (pel_http1_equal(name, "public")) {
        control->is_public = 1;
    } else if (pel_http1_equal(name, "private") || pel_http1_equal(name, "no-store") ||
               pel_http1_equal(name, "no-cache")) {
        control->forbidden = 1; /* also where it names headers */
    } else if (pel_http1_equal(name, "max-age")) {
        note_seconds(control, value, &control->max_age, control->has_max_age);
        control->has_max_age = 1;
    } else if (pel_http1_equal(name, "s-maxage")) {
        note_seconds(control, value, &control->s_maxage, control->has_s_maxage);
        control->has_s_maxage = 1;
    } else if (pel_http1_equal(name, "stale-while-revalidate")) {
        note_seconds(control, value, &control->stale.while_revalidate, control->has_stale);
        control->has_stale = 1;
    } else if (pel_http1_equal(name, "stale-if-error")) {
        note_seconds(control, value, &control->stale.if_error, control->has_stale_if_error);
        control->has_stale_if_error = 1;
    } else if (pel_http1_equal(name, "must-revalidate") || pel_http1_equal(name, "proxy-revalidate")) {
        control->must_revalidate = 1;
    }
}

/* Headers of one client, of one connection, or of a response that comes from another cache. */
static const struct pel_slice personal[] = {
    PEL_SLICE("set-cookie"),        PEL_SLICE("set-cookie2"),         PEL_SLICE("age"),     PEL_SLICE("connection"),
    PEL_SLICE("transfer-encoding"), PEL_SLICE("content-range"),       PEL_SLICE("trailer"), PEL_SLICE("upgrade"),
    PEL_SLICE("www-authenticate"),  PEL_SLICE("authentication-info"), PEL_SLICE("pragma"),  PEL_SLICE("warning"),
    PEL_SLICE("clear-site-data"),
};

/* Headers that say something about one request, as Connection: close does about its connection. */
static const struct pel_slice transient[] = {
    PEL_SLICE("x-request-id"), PEL_SLICE("x-correlation-id"), PEL_SLICE("x-trace-id"),    PEL_SLICE("x-amzn-trace-id"),
    PEL_SLICE("x-runtime"),    PEL_SLICE("server-timing"),    PEL_SLICE("traceresponse"),
};

int pel_http1_cache_drops(struct pel_slice name, struct pel_slice value)
{
    return place_of(name, transient, COUNT(transient)) >= 0 ||
           (pel_http1_equal(name, "connection") && plain_connection_p(value));
}

/* Whether the response depends on something that is not in the key. */
static int varies_p(struct pel_slice list)
{
    struct pel_slice element;

    while (next_element(&list, &element))
        if (element.length && place_of(element, keyed, COUNT(keyed)) < 0)
            return 1;
    return 0;
}

uint32_t pel_http1_cache_lifetime(const struct pel_http1_head *response, struct pel_http1_stale *stale)
{
    struct cache_control control = {.max_age = 0};

    if (response->status != 200 || response->framing != PEL_HTTP1_LENGTH)
        return 0;
    for (unsigned i = 0; i < response->header_count; i++) {
        struct pel_slice name = response->headers[i].name, value = response->headers[i].value, element;
        if (place_of(name, personal, COUNT(personal)) >= 0 || (pel_http1_equal(name, "vary") && varies_p(value)))
            return 0;
        if (pel_http1_equal(name, "cache-control"))
            while (next_element(&value, &element))
                note_directive(&control, element);
    }
    if (control.forbidden || !control.is_public)
        return 0;
    *stale = control.must_revalidate ? (struct pel_http1_stale){0} : control.stale;
    return control.has_s_maxage ? control.s_maxage : control.max_age;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* A tag without the mark of a weak one. */
static struct pel_slice opaque(struct pel_slice tag)
{
    if (tag.length > 2 && tag.bytes[0] == 'W' && tag.bytes[1] == '/')
        return (struct pel_slice){tag.bytes + 2, tag.length - 2};
    return tag;
}

static int same(struct pel_slice one, struct pel_slice other)
{
    return one.length && one.length == other.length && !memcmp(one.bytes, other.bytes, one.length);
}

int pel_http1_not_modified(const struct pel_http1_head *request, struct pel_slice tag, struct pel_slice date)
{
    struct pel_slice element;
    int asked = 0;

    for (unsigned i = 0; i < request->header_count; i++) {
        struct pel_slice list = request->headers[i].value;
        if (!pel_http1_equal(request->headers[i].name, "if-none-match"))
            continue;
        asked = 1;
        while (next_element(&list, &element))
            if (pel_slice_equals(element, "*") || same(opaque(element), opaque(tag)))
                return 1;
    }
    if (!asked)
        for (unsigned i = 0; i < request->header_count; i++)
            if (pel_http1_equal(request->headers[i].name, "if-modified-since") && same(request->headers[i].value, date))
                return 1;
    return 0;
}
