#include "http1/messages.h"

PARSER_TEST(requests_without_a_body)
{
    REQUEST("GET / HTTP/1.1\r\n" H "\r\n", "GET / [Host: h] 0 .\n");
    REQUEST("G / HTTP/1.1\r\n" H "A: \t b c \t\r\nB:\r\n\r\n", "G / [Host: h] [A: b c] [B: ] 0 .\n");
    REQUEST("GET / HTTP/1.0\r\n\r\n", "GET / 0 last .\n");
    REQUEST("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / [Connection: keep-alive] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\n" H "connection: x, CLOSE\r\n\r\n", "GET / [Host: h] [connection: x, CLOSE] 0 last .\n");
    REQUEST("\r\nGET / HTTP/1.1\r\n" H "\r\n", "GET / [Host: h] 0 .\n");
    REQUEST("", "");
}

PARSER_TEST(pipelined_requests)
{
    REQUEST("GET /1 HTTP/1.1\r\n" H "\r\nGET /2 HTTP/1.1\r\n" H "\r\n", "GET /1 [Host: h] 0 .\nGET /2 [Host: h] 0 .\n");
    REQUEST("POST / HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc\r\nGET / HTTP/1.1\r\n" H "\r\n",
            "POST / [Host: h] [Content-Length: 3] 3 | abc .\nGET / [Host: h] 0 .\n");
}

PARSER_TEST(bodies_with_a_length)
{
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello", "P / [Host: h] [Content-Length: 5] 5 | hello .\n");
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n", "P / [Host: h] [Content-Length: 0] 0 .\n");
    REQUEST("P / HTTP/1.1\r\n" H "content-length: 3\r\n\r\nab",
            "P / [Host: h] [content-length: 3] 3 | ab" BAD(CUT_OFF));
}

PARSER_TEST(chunked_bodies)
{
    REQUEST(CHUNKED "0\r\n\r\n", CHUNKED_HEAD " .\n");
    REQUEST(CHUNKED "5\r\nhello\r\n0\r\n\r\n", CHUNKED_HEAD " | hello .\n");
    REQUEST(CHUNKED "1\r\na\r\n00B\r\n01234567890\r\n0\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n",
            CHUNKED_HEAD " | a01234567890 .\nGET / [Host: h] 0 .\n");
    REQUEST(CHUNKED "1;a=b;c\r\nx\r\n0;x\r\n\r\n", CHUNKED_HEAD " | x .\n");
    REQUEST(CHUNKED "1;a=\"b\\\";\t=\";c=\"\"\r\nx\r\n0\r\n\r\n", CHUNKED_HEAD " | x .\n");
    REQUEST(CHUNKED "1\r\nx\r\n0\r\nDigest: 5\r\nX: y\r\n\r\n", CHUNKED_HEAD " | x [Digest: 5] [X: y] .\n");
}

PARSER_TEST(upgrades)
{
    REQUEST("GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: x\r\n\r\n",
            "GET / [Host: h] [Connection: Upgrade] [Upgrade: x] 0 upgrade .\n");
    REQUEST("GET / HTTP/1.1\r\n" H "Upgrade: x\r\n\r\n", "GET / [Host: h] [Upgrade: x] 0 .\n");
    REQUEST("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
            "GET / [Connection: upgrade] [Upgrade: x] 0 last .\n");
}

PARSER_TEST(responses)
{
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n",
             "200 OK [Content-Length: 2] 2 | ok .\n404 Not Found [Content-Length: 0] 0 last .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n",
             "200 OK [Transfer-Encoding: chunked] chunked | ok [A: b] .\n");
    RESPONSE("HTTP/1.1 200 OK\r\n\r\nall of it", "200 OK close last | all of it .\n");
    RESPONSE("HTTP/1.1 200 OK\r\n\r\n", "200 OK close last .\n");
    RESPONSE("HTTP/1.1 204\r\n\r\nHTTP/1.1 304 \r\nContent-Length: 9\r\n\r\n",
             "204  0 .\n304  [Content-Length: 9] 0 .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
             "200 OK [Content-Length: 2] [Content-Length: 2] 2 | ok .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 2, 2 ,02\r\n\r\nok", "200 OK [Content-Length: 2, 2 ,02] 2 | ok .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "200 OK [Content-Length: 3] 3 | ok" BAD(CUT_OFF));
    RESPONSE("HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
             "101 S [Connection: upgrade] [Upgrade: x] 0 upgrade .\n");
}

PARSER_TEST(folded_headers_of_responses_are_unfolded)
{
    RESPONSE("HTTP/1.1 204 No\r\nA: b\r\n c\r\n\t \td\r\nB:\r\n b\r\n\r\n", "204 No [A: b   c  \t \td] [B: b] 0 .\n");
    RESPONSE("HTTP/1.1 204 No\r\nA: b\r\n \r\n\r\n", "204 No [A: b] 0 .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok", "200 OK [Content-Length: 2] 2 | ok .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
             "200 OK [Transfer-Encoding: chunked] chunked | ok .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n", BAD(LENGTH));
    RESPONSE_EACH(BAD(HEADER), "HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nB\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nA b\r\nB: c");
    RESPONSE("HTTP/1.1 200 OK\r\nA: b\r\n c\n\r\n", BAD(LINE_END));
    RESPONSE("HTTP/1.1 200 OK\r\nA: b\r\n c", BAD(CUT_OFF));
    RESPONSE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n",
             "200 OK [Transfer-Encoding: chunked] chunked" BAD(HEADER));
}

PARSER_TEST(responses_to_a_head_request)
{
    no_body = 1;
    RESPONSE("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
             "103 Early Hints 0 .\n200 OK [Content-Length: 2] 0 .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
             "200 OK [Transfer-Encoding: chunked] 0 .\n200 OK [Content-Length: 1] 1 | x .\n");
}

PARSER_TEST(heads_beyond_the_limits_are_refused)
{
    char bytes[5000], name[32];
    struct pel_slice slice = {bytes, 0};

    limits.target = 20;
    limits.head = 200;
    limits.headers = 3;
    REQUEST("GET /4567890123456789 HTTP/1.1\r\n" H "\r\n", "GET /4567890123456789 [Host: h] 0 .\n");
    REQUEST("GET /45678901234567890123 HTTP/1.1\r\n" H "\r\n", BAD("the target is too long"));
    REQUEST("GET / HTTP/1.1\r\n" H "A: b\r\nC: d\r\n\r\n", "GET / [Host: h] [A: b] [C: d] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\n" H "A: b\r\nC: d\r\nE: f\r\n\r\n", BAD("there are too many headers"));
    /* Endless lines are refused before they are complete. */
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "GET /%0400d", 0);
    expect_bytes(slice, BAD("the target is too long"));
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nA: %0400d", 0);
    expect_bytes(slice, BAD("the headers are too long"));
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nA: %0100d\r\nB: %0100d\r\n\r\n", 0, 0);
    expect_bytes(slice, BAD("the headers are too long"));
    kind = PEL_HTTP1_RESPONSE;
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "HTTP/1.1 200 %0400d", 0);
    expect_bytes(slice, BAD("the status line is too long"));
    kind = PEL_HTTP1_REQUEST;
    /* The table's own limit. */
    limits = pel_http1_default_limits;
    limits.headers = 1000;
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < 257; i++) {
        size_t more = (size_t)snprintf(name, sizeof name, "N%d: v\r\n", i);
        memcpy(bytes + slice.length, name, more);
        slice.length += more;
    }
    kind = PEL_HTTP1_REQUEST;
    expect_pieces(slice, 0, slice.length, 0, BAD("there are too many headers"));
    expect_pieces(slice, 0, 0, 1, BAD("there are too many headers"));
}

PARSER_TEST(bodies_beyond_the_limits_are_refused)
{
    limits.body = 5;
    limits.chunk_excess = 6;
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello", "P / [Host: h] [Content-Length: 5] 5 | hello .\n");
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 6\r\n\r\nhello!", BAD("the body is too long"));
    REQUEST(CHUNKED "5\r\nhello\r\n0\r\n\r\n", CHUNKED_HEAD " | hello .\n");
    REQUEST(CHUNKED "6\r\nhello!\r\n0\r\n\r\n", CHUNKED_HEAD BAD("the body is too long"));
    REQUEST(CHUNKED "4\r\nhell\r\n2\r\no!\r\n0\r\n\r\n", CHUNKED_HEAD " | hell" BAD("the body is too long"));
    REQUEST(CHUNKED "1;abc\r\nx\r\n1;def\r\ny\r\n0\r\n\r\n", CHUNKED_HEAD " | x" BAD(CHUNKS));
    RESPONSE("HTTP/1.1 200 OK\r\n\r\nhello!", "200 OK close last | hello" BAD("the body is too long"));
}

static struct pel_http1_head parsed(const char *bytes)
{
    static struct pel_http1_head head;
    struct pel_http1_parser parser;
    struct pel_slice data;
    size_t consumed;

    pel_http1_parser_init(&parser, PEL_HTTP1_REQUEST, &limits);
    CHECK_INT(PEL_HTTP1_HEAD, pel_http1_parse(&parser, bytes, strlen(bytes), &consumed, &head, &data));
    CHECK_INT(strlen(bytes), consumed);
    return head;
}

#define CHECK_SLICE(expected, slice) CHECK_BYTES(expected, (slice).bytes, (slice).length)

PARSER_TEST(a_target_is_split_into_its_parts)
{
    struct pel_http1_head head;

    head = parsed("GET /a/b?c=d?e HTTP/1.1\r\nHost: h:1\r\nExpect: 100-Continue\r\n\r\n");
    CHECK_INT(PEL_HTTP1_ORIGIN, head.target_form);
    CHECK_SLICE("/a/b", head.path);
    CHECK_SLICE("c=d?e", head.query);
    CHECK_SLICE("h:1", head.host);
    CHECK(head.expects_continue && head.keep_alive && !head.upgrade);
    head = parsed("GET https://x.y:8?q HTTP/1.1\r\n" H "\r\n");
    CHECK_INT(PEL_HTTP1_ABSOLUTE, head.target_form);
    CHECK_SLICE("x.y:8", head.authority);
    CHECK_SLICE("", head.path);
    CHECK_SLICE("q", head.query);
    head = parsed("GET /? HTTP/1.1\r\n" H "\r\n");
    CHECK_SLICE("/", head.path);
    CHECK_SLICE("", head.query);
}

static struct pel_http1_parser parser;

static int parse(const char *bytes, size_t length)
{
    struct pel_http1_head head;
    struct pel_slice data;
    size_t consumed;

    return pel_http1_parse(&parser, bytes, length, &consumed, &head, &data);
}

PARSER_TEST(a_body_may_be_received_without_the_parser)
{
    static const char bytes[] = "P / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n";

    pel_http1_parser_init(&parser, PEL_HTTP1_REQUEST, &limits);
    CHECK_INT(0, pel_http1_parser_left(&parser));
    CHECK_INT(0, pel_http1_parser_within(&parser));
    CHECK_INT(PEL_HTTP1_HEAD, parse(bytes, sizeof bytes - 1));
    CHECK_INT(5, pel_http1_parser_left(&parser));
    CHECK_INT(PEL_EARGUMENT, pel_http1_parser_skip(&parser, 6));
    CHECK_INT(0, pel_http1_parser_skip(&parser, 2));
    CHECK_INT(PEL_HTTP1_MORE, parse("", 0));
    CHECK_INT(0, pel_http1_parser_skip(&parser, 3));
    CHECK_INT(0, pel_http1_parser_left(&parser));
    CHECK_INT(PEL_HTTP1_END, parse("", 0));
    CHECK_INT(0, pel_http1_parser_within(&parser));
}

/* A buffer that was never used has no memory. */
PARSER_TEST(null_is_accepted_for_no_bytes)
{
    static const char bytes[] = "P / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n";

    pel_http1_parser_init(&parser, PEL_HTTP1_REQUEST, &limits);
    CHECK_INT(PEL_HTTP1_MORE, parse(NULL, 0));
    CHECK_INT(PEL_HTTP1_HEAD, parse(bytes, sizeof bytes - 1));
    CHECK_INT(PEL_HTTP1_MORE, parse(NULL, 0));
    CHECK_INT(PEL_HTTP1_DATA, parse("1\r\nx", 4));
    CHECK_INT(PEL_HTTP1_MORE, parse(NULL, 0));
    CHECK_INT(PEL_HTTP1_MORE, parse("\r\n0\r\n", 5));
    CHECK_INT(PEL_HTTP1_MORE, parse(NULL, 0));
    CHECK_INT(PEL_HTTP1_END, parse("\r\n", 2));
}
