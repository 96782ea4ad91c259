#include "core/files/file_request.h"

#include "core/base/decimal.h"

/* ---- Accept-Encoding --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned coding;
} codings[] = {{"br", PEL_FILE_BROTLI}, {"zstd", PEL_FILE_ZSTD}, {"gzip", PEL_FILE_GZIP}};

/* Whether parameters (";q=0.000") say that the coding is not wanted. */
static int unwanted_p(struct pel_slice parameters)
{
    const char *end = parameters.bytes + parameters.length;
    const char *at = memchr(parameters.bytes, '=', parameters.length);

    if (!at)
        return 0;
    while (++at < end && (*at == ' ' || *at == '\t' || *at == '0' || *at == '.'))
        ;
    return at == end || *at < '1' || *at > '9';
}

static unsigned coding_of(struct pel_slice element)
{
    const char *end = element.bytes + element.length, *semicolon = memchr(element.bytes, ';', element.length);
    const char *name_end = semicolon ? semicolon : end;
    struct pel_slice name = pel_http1_trim(element.bytes, name_end);

    if (semicolon && unwanted_p((struct pel_slice){semicolon, (size_t)(end - semicolon)}))
        return 0;
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        if (pel_http1_equal(name, codings[i].name))
            return codings[i].coding;
    return 0;
}

static unsigned codings_of(struct pel_slice list)
{
    const char *at = list.bytes, *end = at + list.length;
    unsigned found = 0;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *next = comma ? comma : end;
        found |= coding_of((struct pel_slice){at, (size_t)(next - at)});
        at = next + 1;
    }
    return found;
}

unsigned pel_file_codings(const struct pel_http1_head *request)
{
    unsigned found = 0;

    for (unsigned i = 0; i < request->header_count; i++)
        if (pel_http1_equal(request->headers[i].name, "accept-encoding"))
            found |= codings_of(request->headers[i].value);
    return found;
}

/* ---- Range ------------------------------------------------------------------------------------------------------- */

/* If-Range names this version: by a strong tag, or the very date. */
static int same_version_p(struct pel_slice given, struct pel_slice tag, struct pel_slice date)
{
    struct pel_slice mine = given.length && given.bytes[0] == '"' ? tag : date;

    return given.length && given.length == mine.length && !memcmp(given.bytes, mine.bytes, given.length);
}

/* A position that has too many digits lies beyond every file. 0: it is no number. */
static int position(struct pel_slice text, uint64_t *number)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return 0;
    if (text.length && pel_decimal(text, INT64_MAX, number) < 0)
        *number = INT64_MAX;
    return text.length > 0;
}

/* first-last, first- or -count. */
static enum pel_file_part parse_range(struct pel_slice spec, uint64_t size, uint64_t *from, uint64_t *length)
{
    const char *dash = memchr(spec.bytes, '-', spec.length), *end = spec.bytes + spec.length;
    struct pel_slice first, last;
    uint64_t start, stop;
    int has_last;

    if (!dash)
        return PEL_FILE_WHOLE;
    first = pel_http1_trim(spec.bytes, dash);
    last = pel_http1_trim(dash + 1, end);
    has_last = position(last, &stop);
    if (!has_last && last.length)
        return PEL_FILE_WHOLE;
    if (!first.length) {
        if (!has_last)
            return PEL_FILE_WHOLE;
        if (!stop || !size)
            return PEL_FILE_BEYOND;
        *length = stop < size ? stop : size;
        *from = size - *length;
        return PEL_FILE_RANGE;
    }
    if (!position(first, &start) || (has_last && stop < start))
        return PEL_FILE_WHOLE;
    if (start >= size)
        return PEL_FILE_BEYOND;
    if (!has_last || stop >= size)
        stop = size - 1;
    *from = start;
    *length = stop - start + 1;
    return PEL_FILE_RANGE;
}

enum pel_file_part pel_file_part(const struct pel_http1_head *request, uint64_t size, struct pel_slice tag,
                                 struct pel_slice date, uint64_t *from, uint64_t *length)
{
    const struct pel_http1_header *range = pel_http1_find(request, "range"),
                                  *condition = pel_http1_find(request, "if-range");
    static const char unit[] = "bytes=";
    const size_t unit_length = sizeof unit - 1;

    if (!range || range->value.length <= unit_length || memchr(range->value.bytes, ',', range->value.length) ||
        !pel_http1_equal((struct pel_slice){range->value.bytes, unit_length}, unit))
        return PEL_FILE_WHOLE;
    if (condition && !same_version_p(condition->value, tag, date))
        return PEL_FILE_WHOLE;
    return parse_range((struct pel_slice){range->value.bytes + unit_length, range->value.length - unit_length}, size,
                       from, length);
}
