#include "core/files/file_request.h"
#include "check.h"

static struct pel_http1_head head;
static uint64_t from, length;

#define TAG PEL_SLICE("\"a\"")
#define DATE PEL_SLICE("Mon, 01 Jan 2024 00:00:00 GMT")

static void begin(void)
{
    head.header_count = 0;
    from = length = 99;
}

static void add(const char *name, const char *value)
{
    head.headers[head.header_count++] = (struct pel_http1_header){{name, strlen(name)}, {value, strlen(value)}};
}

static unsigned codings(const char *value)
{
    begin();
    add("Accept-Encoding", value);
    return pel_file_codings(&head);
}

static int part(const char *range)
{
    begin();
    add("Range", range);
    return pel_file_part(&head, 10, TAG, DATE, &from, &length);
}

#define CHECK_RANGE(first, count, range)                                                                               \
    do {                                                                                                               \
        CHECK_INT(PEL_FILE_RANGE, part(range));                                                                        \
        CHECK_INT(first, from);                                                                                        \
        CHECK_INT(count, length);                                                                                      \
    } while (0)

TEST(codings_that_the_client_takes_are_found)
{
    CHECK_INT(PEL_FILE_GZIP | PEL_FILE_BROTLI | PEL_FILE_ZSTD, codings("gzip, deflate, br, zstd"));
    CHECK_INT(PEL_FILE_GZIP, codings("GZIP;q=0.5"));
    CHECK_INT(PEL_FILE_GZIP, codings("gzip ; q=0.001,"));
    CHECK_INT(0, codings("gzip;q=0"));
    CHECK_INT(PEL_FILE_BROTLI, codings("gzip;q=0.000, br;q=1.0"));
    CHECK_INT(0, codings("*"));
    CHECK_INT(0, codings(""));
    begin();
    CHECK_INT(0, pel_file_codings(&head));
}

TEST(codings_of_several_headers_are_added)
{
    begin();
    add("accept-encoding", "gzip");
    add("accept-encoding", "br");
    CHECK_INT(PEL_FILE_GZIP | PEL_FILE_BROTLI, pel_file_codings(&head));
}

TEST(one_range_is_a_part)
{
    CHECK_RANGE(0, 1, "bytes=0-0");
    CHECK_RANGE(2, 3, "BYTES=2-4");
    CHECK_RANGE(9, 1, "bytes=9-");
    CHECK_RANGE(7, 3, "bytes=-3");
    CHECK_RANGE(0, 10, "bytes=-11");
    CHECK_RANGE(5, 5, "bytes=5-99999999999999999999999");
}

TEST(a_range_beyond_the_end_is_none)
{
    CHECK_INT(PEL_FILE_BEYOND, part("bytes=10-"));
    CHECK_INT(PEL_FILE_BEYOND, part("bytes=99999999999999999999999-"));
    CHECK_INT(PEL_FILE_BEYOND, part("bytes=-0"));
}

TEST(an_empty_file_has_no_part)
{
    begin();
    add("Range", "bytes=-5");
    CHECK_INT(PEL_FILE_BEYOND, pel_file_part(&head, 0, TAG, DATE, &from, &length));
}

TEST(malformed_and_several_ranges_are_the_whole)
{
    CHECK_INT(PEL_FILE_WHOLE, part("bytes=0-1,3-4"));
    CHECK_INT(PEL_FILE_WHOLE, part("bytes=4-2"));
    CHECK_INT(PEL_FILE_WHOLE, part("bytes=-"));
    CHECK_INT(PEL_FILE_WHOLE, part("bytes="));
    CHECK_INT(PEL_FILE_WHOLE, part("bytes=a-"));
    CHECK_INT(PEL_FILE_WHOLE, part("bytes=1-b"));
    CHECK_INT(PEL_FILE_WHOLE, part("bytes=1"));
    CHECK_INT(PEL_FILE_WHOLE, part("lines=1-2"));
    begin();
    CHECK_INT(PEL_FILE_WHOLE, pel_file_part(&head, 10, TAG, DATE, &from, &length));
}

static int part_if(const char *condition, struct pel_slice tag)
{
    begin();
    add("Range", "bytes=1-2");
    add("If-Range", condition);
    return pel_file_part(&head, 10, tag, DATE, &from, &length);
}

TEST(if_range_wants_the_same_version)
{
    CHECK_INT(PEL_FILE_RANGE, part_if("\"a\"", TAG));
    CHECK_INT(PEL_FILE_WHOLE, part_if("\"b\"", TAG));
    CHECK_INT(PEL_FILE_RANGE, part_if("Mon, 01 Jan 2024 00:00:00 GMT", TAG));
    CHECK_INT(PEL_FILE_WHOLE, part_if("Mon, 01 Jan 2024 00:00:01 GMT", TAG));
    CHECK_INT(PEL_FILE_WHOLE, part_if("", TAG));
    /* A weak tag names no bytes. */
    CHECK_INT(PEL_FILE_WHOLE, part_if("W/\"a\"", PEL_SLICE("W/\"a\"")));
}
