#include "check.h"
#include "core/http1/http1_writer.h"

static struct pel_slice slice(const char *text)
{
    return (struct pel_slice){text, strlen(text)};
}

static void expect(struct pel_buffer *buffer, const char *expected)
{
    CHECK_BYTES(expected, pel_buffer_head(buffer), pel_buffer_length(buffer));
    pel_buffer_free(buffer);
}

TEST(a_response_is_written)
{
    struct pel_buffer buffer = {0};

    CHECK_INT(0, pel_http1_write_status_line(&buffer, 200));
    CHECK_INT(0, pel_http1_write_header(&buffer, slice("a"), slice("b c")));
    CHECK_INT(0, pel_http1_write_number(&buffer, slice("content-length"), UINT64_MAX));
    CHECK_INT(0, pel_http1_write_number(&buffer, slice("age"), 0));
    CHECK_INT(0, pel_http1_write_end(&buffer));
    expect(&buffer, "HTTP/1.1 200 OK\r\na: b c\r\ncontent-length: 18446744073709551615\r\nage: 0\r\n\r\n");
}

TEST(values_that_could_inject_a_header_are_refused)
{
    static const char *const values[] = {"a\r\nb: c", "a\n", "\r", "\x7f", "\x1b[2J"};
    struct pel_buffer buffer = {0};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        CHECK_INT(PEL_EARGUMENT, pel_http1_write_header(&buffer, slice("a"), slice(values[i])));
    CHECK_INT(PEL_EARGUMENT, pel_http1_write_header(&buffer, slice("a"), (struct pel_slice){"a\0b", 3}));
    CHECK_INT(PEL_EARGUMENT, pel_http1_write_header(&buffer, slice("a:"), slice("b")));
    CHECK_INT(PEL_EARGUMENT, pel_http1_write_header(&buffer, slice(""), slice("b")));
    CHECK_INT(PEL_EARGUMENT, pel_http1_write_number(&buffer, slice("a b"), 1));
    CHECK_INT(PEL_EARGUMENT, pel_http1_write_status_line(&buffer, 99));
    CHECK_INT(PEL_EARGUMENT, pel_http1_write_status_line(&buffer, 1000));
    expect(&buffer, "");
}

TEST(chunk_sizes_are_hexadecimal)
{
    struct pel_buffer buffer = {0};

    CHECK_INT(0, pel_http1_write_chunk(&buffer, 0x1a0));
    CHECK_INT(0, pel_http1_write_chunk(&buffer, UINT64_MAX));
    CHECK_INT(0, pel_http1_write_chunk(&buffer, 0));
    expect(&buffer, "1a0\r\nffffffffffffffff\r\n0\r\n");
}

TEST(an_unknown_status_has_an_empty_reason)
{
    struct pel_buffer buffer = {0};

    CHECK_INT(0, pel_http1_write_status_line(&buffer, 299));
    expect(&buffer, "HTTP/1.1 299 \r\n");
    CHECK_STRING("Not Found", pel_http1_reason(404));
}

TEST(every_registered_status_has_a_reason)
{
    static const struct {
        unsigned first, last;
    } ranges[] = {{100, 103}, {200, 208}, {226, 226}, {300, 305}, {307, 308}, {400, 418},
                  {421, 426}, {428, 429}, {431, 431}, {451, 451}, {500, 508}, {511, 511}};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (unsigned status = ranges[i].first; status <= ranges[i].last; status++)
            if (!*pel_http1_reason(status))
                CHECK_FAIL("%u has none", status);
}

TEST(dates_have_the_format_of_headers)
{
    char date[PEL_HTTP1_DATE];

    pel_http1_date(date, 784111777);
    CHECK_BYTES("Sun, 06 Nov 1994 08:49:37 GMT", date, sizeof date);
    pel_http1_date(date, 1709164800);
    CHECK_BYTES("Thu, 29 Feb 2024 00:00:00 GMT", date, sizeof date);
}
