#include "check.h"
#include "core/http1/http1_head.h"

/* test_http1_parser.c and test_http1_parser_malformed.c test accepted and refused heads, split at every position. */

static ssize_t parse(enum pel_http1_kind kind, const char *bytes, struct pel_http1_head *head, size_t *line)
{
    enum pel_http1_fault fault = PEL_HTTP1_FAULT_NONE;

    return pel_http1_parse_head(kind, &pel_http1_default_limits, bytes, strlen(bytes), head, line, &fault);
}

TEST(an_incomplete_head_reports_the_offset_of_its_last_line)
{
    struct pel_http1_head head;
    size_t line;

    CHECK_INT(0, parse(PEL_HTTP1_REQUEST, "GET / HTTP/1.1", &head, &line));
    CHECK_INT(0, line);
    CHECK_INT(0, parse(PEL_HTTP1_REQUEST, "GET / HTTP/1.1\r\nHost: a", &head, &line));
    CHECK_INT(16, line);
    CHECK_INT(27, parse(PEL_HTTP1_REQUEST, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET", &head, &line));
}

TEST(headers_are_found_by_name)
{
    struct pel_http1_head head;
    size_t line;

    CHECK(parse(PEL_HTTP1_REQUEST, "GET / HTTP/1.0\r\nA-b: 1\r\na-B: 2\r\n\r\n", &head, &line) > 0);
    CHECK_BYTES("1", pel_http1_find(&head, "a-b")->value.bytes, pel_http1_find(&head, "a-b")->value.length);
    CHECK(pel_http1_find(&head, "a") == NULL);
}

TEST(a_target_with_a_scheme_has_an_authority_and_a_path)
{
    const char *const texts[] = {"GET http://h:1/p?q HTTP/1.0\r\n\r\n", "GET https://h:1/p?q HTTP/1.0\r\n\r\n"};
    struct pel_http1_head head;
    size_t line;

    for (int i = 0; i < 2; i++) {
        CHECK(parse(PEL_HTTP1_REQUEST, texts[i], &head, &line) > 0);
        CHECK_BYTES("h:1", head.authority.bytes, head.authority.length);
        CHECK_BYTES("/p", head.path.bytes, head.path.length);
        CHECK_BYTES("q", head.query.bytes, head.query.length);
    }
}

TEST(a_request_may_lack_host_if_the_limits_allow_it)
{
    struct pel_http1_limits limits = pel_http1_default_limits;
    const char *text = "GET / HTTP/1.1\r\n\r\n";
    enum pel_http1_fault fault;
    struct pel_http1_head head;
    size_t line;

    CHECK_INT(PEL_EPROTOCOL, parse(PEL_HTTP1_REQUEST, text, &head, &line));
    limits.host_optional = 1;
    CHECK_INT((int)strlen(text),
              pel_http1_parse_head(PEL_HTTP1_REQUEST, &limits, text, strlen(text), &head, &line, &fault));
}

TEST(another_major_version_is_told_from_nonsense)
{
    enum pel_http1_fault fault = PEL_HTTP1_FAULT_NONE;
    const char *const lines[] = {"GET / HTTP/2.0\r\n", "GET / HTTP/1.2\r\n"};
    struct pel_http1_head head;
    size_t line;

    for (int i = 0; i < 2; i++) {
        CHECK_INT(PEL_EPROTOCOL, pel_http1_parse_head(PEL_HTTP1_REQUEST, &pel_http1_default_limits, lines[i],
                                                      strlen(lines[i]), &head, &line, &fault));
        CHECK_INT(PEL_HTTP1_FAULT_VERSION, fault);
    }
    CHECK_INT(505, pel_http1_fault_status(fault));
}

TEST(every_fault_has_a_text_and_a_status)
{
    for (int fault = PEL_HTTP1_FAULT_NONE; fault <= PEL_HTTP1_FAULT_BODY_LONG; fault++)
        CHECK(strlen(pel_http1_fault_text((enum pel_http1_fault)fault)) > 5);
    CHECK_INT(400, pel_http1_fault_status(PEL_HTTP1_FAULT_HEADER));
    CHECK_INT(414, pel_http1_fault_status(PEL_HTTP1_FAULT_TARGET_LONG));
    CHECK_INT(413, pel_http1_fault_status(PEL_HTTP1_FAULT_BODY_LONG));
}

TEST(without_a_limit_a_target_may_have_any_length)
{
    struct pel_http1_limits limits = pel_http1_default_limits;
    char text[300];
    enum pel_http1_fault fault = PEL_HTTP1_FAULT_NONE;
    struct pel_http1_head head;
    size_t line, length = (size_t)snprintf(text, sizeof text, "GET /%0200d HTTP/1.1\r\nHost: a\r\n\r\n", 0);

    limits.target = SIZE_MAX;
    CHECK_INT(length, pel_http1_parse_head(PEL_HTTP1_REQUEST, &limits, text, length, &head, &line, &fault));
    CHECK_INT(201, head.target.length);
    /* The server's loop asks anew while the line is not complete. */
    CHECK_INT(0, pel_http1_parse_head(PEL_HTTP1_REQUEST, &limits, text, 150, &head, &line, &fault));
}
