#include "check.h"
#include "http1_transcript.h"

static struct pel_http1_limits limits;
static enum pel_http1_kind kind;
static int no_body;

static void expect_pieces(struct pel_slice bytes, size_t first, size_t second, int single, const char *expected)
{
    static struct transcript transcript;
    size_t length;

    transcript_begin(&transcript, kind, &limits);
    transcript.parser.no_body = (unsigned)no_body & 1;
    if (single) {
        for (size_t i = 0; i < bytes.length; i++)
            transcript_feed(&transcript, bytes.bytes + i, 1);
    } else {
        transcript_feed(&transcript, bytes.bytes, first);
        transcript_feed(&transcript, bytes.bytes + first, second - first);
        transcript_feed(&transcript, bytes.bytes + second, bytes.length - second);
    }
    transcript_end(&transcript);
    length = pel_buffer_length(&transcript.text);
    if (length != strlen(expected) || (length > 0 && memcmp(expected, pel_buffer_head(&transcript.text), length)))
        fprintf(stderr, "cut at %zu and %zu of %zu%s:\n", first, second, bytes.length, single ? ", single bytes" : "");
    check_bytes(__FILE__, __LINE__, "the transcript", expected, pel_buffer_head(&transcript.text), length);
    pel_buffer_free(&transcript.text);
}

/* Whole, byte by byte, and cut in two and three at every place. */
static void expect_bytes(struct pel_slice bytes, const char *expected)
{
    expect_pieces(bytes, bytes.length, bytes.length, 0, expected);
    expect_pieces(bytes, 0, 0, 1, expected);
    for (size_t first = 0; first <= bytes.length; first++) {
        expect_pieces(bytes, first, bytes.length, 0, expected);
        for (size_t second = first; bytes.length <= 120 && second <= bytes.length; second++)
            expect_pieces(bytes, first, second, 0, expected);
    }
}

static void defaults(void)
{
    limits = pel_http1_default_limits;
    no_body = 0;
}

#define REQUEST(bytes, expected)                                                                                       \
    do {                                                                                                               \
        kind = PEL_HTTP1_REQUEST;                                                                                      \
        expect_bytes((struct pel_slice){bytes, sizeof(bytes) - 1}, expected);                                          \
    } while (0)

#define RESPONSE(bytes, expected)                                                                                      \
    do {                                                                                                               \
        kind = PEL_HTTP1_RESPONSE;                                                                                     \
        expect_bytes((struct pel_slice){bytes, sizeof(bytes) - 1}, expected);                                          \
    } while (0)

#define H "Host: h\r\n"
#define BAD(fault) " error: " fault "\n"
#define LINE_END "a line does not end with CRLF"
#define FIRST_LINE "the first line is malformed"
#define METHOD "the method is malformed"
#define TARGET "the target is malformed"
#define VERSION "the version is neither HTTP/1.1 nor HTTP/1.0"
#define HEADER "a header is malformed"
#define HOST "Host is missing, malformed, or there twice"
#define LENGTH "Content-Length is malformed, or there twice"
#define CODING "Transfer-Encoding is not chunked alone, or not allowed here"
#define CHUNKS "a chunk is malformed"
#define TRAILER "a trailer is not allowed"
#define CUT_OFF "the connection ended within a message"

TEST(requests_without_a_body)
{
    defaults();
    REQUEST("GET / HTTP/1.1\r\n" H "\r\n", "GET / [Host: h] 0 .\n");
    REQUEST("G / HTTP/1.1\r\n" H "A: \t b c \t\r\nB:\r\n\r\n", "G / [Host: h] [A: b c] [B: ] 0 .\n");
    REQUEST("GET / HTTP/1.0\r\n\r\n", "GET / 0 last .\n");
    REQUEST("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / [Connection: keep-alive] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\n" H "connection: x, CLOSE\r\n\r\n", "GET / [Host: h] [connection: x, CLOSE] 0 last .\n");
    REQUEST("\r\nGET / HTTP/1.1\r\n" H "\r\n", "GET / [Host: h] 0 .\n");
    REQUEST("", "");
}

TEST(pipelined_requests)
{
    defaults();
    REQUEST("GET /1 HTTP/1.1\r\n" H "\r\nGET /2 HTTP/1.1\r\n" H "\r\n", "GET /1 [Host: h] 0 .\nGET /2 [Host: h] 0 .\n");
    REQUEST("POST / HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc\r\nGET / HTTP/1.1\r\n" H "\r\n",
            "POST / [Host: h] [Content-Length: 3] 3 | abc .\nGET / [Host: h] 0 .\n");
}

TEST(bodies_with_a_length)
{
    defaults();
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello", "P / [Host: h] [Content-Length: 5] 5 | hello .\n");
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n", "P / [Host: h] [Content-Length: 0] 0 .\n");
    REQUEST("P / HTTP/1.1\r\n" H "content-length: 3\r\n\r\nab",
            "P / [Host: h] [content-length: 3] 3 | ab" BAD(CUT_OFF));
}

#define CHUNKED "P / HTTP/1.1\r\n" H "Transfer-Encoding: Chunked\r\n\r\n"
#define CHUNKED_HEAD "P / [Host: h] [Transfer-Encoding: Chunked] chunked"

TEST(chunked_bodies)
{
    defaults();
    REQUEST(CHUNKED "0\r\n\r\n", CHUNKED_HEAD " .\n");
    REQUEST(CHUNKED "5\r\nhello\r\n0\r\n\r\n", CHUNKED_HEAD " | hello .\n");
    REQUEST(CHUNKED "1\r\na\r\n00B\r\n01234567890\r\n0\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n",
            CHUNKED_HEAD " | a01234567890 .\nGET / [Host: h] 0 .\n");
    REQUEST(CHUNKED "1;a=b;c\r\nx\r\n0;x\r\n\r\n", CHUNKED_HEAD " | x .\n");
    REQUEST(CHUNKED "1;a=\"b\\\";\t=\";c=\"\"\r\nx\r\n0\r\n\r\n", CHUNKED_HEAD " | x .\n");
    REQUEST(CHUNKED "1\r\nx\r\n0\r\nDigest: 5\r\nX: y\r\n\r\n", CHUNKED_HEAD " | x [Digest: 5] [X: y] .\n");
}

TEST(malformed_chunks)
{
    static const char *const tails[] = {"-1\r\n",
                                        "+5\r\nhello\r\n",
                                        "0x5\r\nhello\r\n",
                                        "5_0\r\nhello\r\n",
                                        "\r\nhello\r\n",
                                        "5 \r\nhello\r\n",
                                        "5 ;a\r\nhello\r\n",
                                        " 5\r\nhello\r\n",
                                        "5\nhello\r\n",
                                        "5;a\nhello\r\n",
                                        "g\r\n",
                                        "10000000000000005\r\n",
                                        "1234567812345678\r\n",
                                        "5;\x01\r\nhello\r\n",
                                        "5;a\rb\r\nhello\r\n",
                                        "5\t\r\nhello\r\n",
                                        "5; a\r\nhello\r\n",
                                        "5;a \r\nhello\r\n",
                                        "5;a =b\r\nhello\r\n",
                                        "5;a= b\r\nhello\r\n",
                                        "5;a=b ;c\r\nhello\r\n",
                                        "5;\r\nhello\r\n",
                                        "5;;a\r\nhello\r\n",
                                        "5;a;\r\nhello\r\n",
                                        "5;a=\r\nhello\r\n",
                                        "5;=b\r\nhello\r\n",
                                        "5;a=b=c\r\nhello\r\n",
                                        "5;a=\"b\r\nhello\r\n",
                                        "5;a=\"b\\\r\nhello\r\n",
                                        "5;a=\"b\"c\r\nhello\r\n",
                                        "5;a=b\"c\"\r\nhello\r\n",
                                        "5;a=\"\x7f\"\r\nhello\r\n",
                                        "5;a\xe4\r\nhello\r\n",
                                        "5,a\r\nhello\r\n"};

    defaults();
    kind = PEL_HTTP1_REQUEST;
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        char bytes[200];
        size_t length = (size_t)snprintf(bytes, sizeof bytes, "%s%s", CHUNKED, tails[i]);
        expect_bytes((struct pel_slice){bytes, length}, CHUNKED_HEAD BAD(CHUNKS));
    }
    REQUEST(CHUNKED "5\r\nhelloX0\r\n", CHUNKED_HEAD " | hello" BAD(CHUNKS));
    REQUEST(CHUNKED "5\r\nhello\n0\r\n\r\n", CHUNKED_HEAD " | hello" BAD(CHUNKS));
    REQUEST(CHUNKED "5\r\nhello\r\r\n0\r\n", CHUNKED_HEAD " | hello" BAD(CHUNKS));
    REQUEST(CHUNKED "5\r\nhello, world\r\n0\r\n", CHUNKED_HEAD " | hello" BAD(CHUNKS));
    REQUEST(CHUNKED "0\r\nx", CHUNKED_HEAD BAD(CUT_OFF));
    REQUEST(CHUNKED "5\r\nhello\r\n", CHUNKED_HEAD " | hello" BAD(CUT_OFF));
}

TEST(trailers_that_change_the_framing)
{
    defaults();
    REQUEST(CHUNKED "0\r\nContent-Length: 5\r\n\r\n", CHUNKED_HEAD BAD(TRAILER));
    REQUEST(CHUNKED "0\r\ntransfer-encoding: chunked\r\n\r\n", CHUNKED_HEAD BAD(TRAILER));
    REQUEST(CHUNKED "0\r\nHOST: x\r\n\r\n", CHUNKED_HEAD BAD(TRAILER));
    REQUEST(CHUNKED "0\r\nX: y\n\r\n", CHUNKED_HEAD BAD(LINE_END));
    REQUEST(CHUNKED "0\r\n x: y\r\n\r\n", CHUNKED_HEAD BAD(HEADER));
}

/* Everything that stands between the request line and the empty line. */
static void expect_header_fault(const char *headers, size_t length, const char *fault)
{
    char bytes[400], expected[200];
    size_t size = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\n");

    memcpy(bytes + size, headers, length);
    memcpy(bytes + size + length, "\r\n\r\n", 4);
    snprintf(expected, sizeof expected, BAD("%s"), fault);
    kind = PEL_HTTP1_REQUEST;
    expect_bytes((struct pel_slice){bytes, size + length + 4}, expected);
}

#define REFUSE(headers, fault) expect_header_fault(headers, sizeof(headers) - 1, fault)

TEST(content_lengths_that_two_parsers_could_read_differently)
{
    defaults();
    REFUSE(H "Content-Length:", LENGTH);
    REFUSE(H "Content-Length:  ", LENGTH);
    REFUSE(H "Content-Length: +5", LENGTH);
    REFUSE(H "Content-Length: -1", LENGTH);
    REFUSE(H "Content-Length: 0x10", LENGTH);
    REFUSE(H "Content-Length: 5,5", LENGTH);
    REFUSE(H "Content-Length: 5, 6", LENGTH);
    REFUSE(H "Content-Length: 1 2", LENGTH);
    REFUSE(H "Content-Length: 5\r\nContent-Length: 5", LENGTH);
    REFUSE(H "Content-Length: 5\r\ncontent-length: 6", LENGTH);
    REFUSE(H "Content-Length: 18446744073709551617", LENGTH);
    REFUSE(H "Content-Length: 0000000000000000005", LENGTH);
    REFUSE(H "Content-Length: 5_0", LENGTH);
    REFUSE(H "Content-Length:\t5", LENGTH);
    REFUSE(H "Content-Length: 5 \t", LENGTH);
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 003\r\n\r\nabc", "P / [Host: h] [Content-Length: 003] 3 | abc .\n");
}

TEST(transfer_encodings_that_two_parsers_could_read_differently)
{
    defaults();
    REFUSE(H "Transfer-Encoding: chunked\r\nContent-Length: 5", CODING);
    REFUSE(H "Content-Length: 5\r\nTransfer-Encoding: chunked", CODING);
    REFUSE(H "Transfer-Encoding: xchunked", CODING);
    REFUSE(H "Transfer-Encoding: chunkedx", CODING);
    REFUSE(H "Transfer-Encoding: chunked, identity", CODING);
    REFUSE(H "Transfer-Encoding: gzip, chunked", CODING);
    REFUSE(H "Transfer-Encoding: identity", CODING);
    REFUSE(H "Transfer-Encoding:", CODING);
    REFUSE(H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", CODING);
    REFUSE(H "Transfer-Encoding: \"chunked\"", CODING);
    REFUSE(H "Transfer-Encoding: \x0b"
             "chunked",
           HEADER);
    REFUSE(H "Transfer-Encoding : chunked", HEADER);
    REQUEST("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", BAD(CODING));
    REFUSE(H "Transfer-Encoding:\tchunked", CODING);
    REFUSE(H "Transfer-Encoding: chunked\t", CODING);
    RESPONSE("HTTP/1.1 200 OK\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
             "200 OK [Transfer-Encoding: chunked] chunked .\n");
}

TEST(malformed_headers)
{
    defaults();
    REFUSE(H "A: b\nC: d", LINE_END);
    REFUSE(H "A: b\rC: d", HEADER);
    REFUSE(H "A: b\0c", HEADER);
    REFUSE(H "A: b\x7f", HEADER);
    REFUSE(H "A: b\x01", HEADER);
    REFUSE(H "A\0: b", HEADER);
    REFUSE(H "A: b\r\n folded", HEADER);
    REFUSE(H "A: b\r\n\tfolded", HEADER);
    REFUSE(" " H "A: b", HEADER);
    REFUSE(H "A : b", HEADER);
    REFUSE(H ": b", HEADER);
    REFUSE(H "A", HEADER);
    REFUSE(H "A(: b", HEADER);
    REFUSE(H "\xc3\xa4: b", HEADER);
    REFUSE(H "Expect: 200-ok", "only 100-continue can be expected");
    REQUEST("GET / HTTP/1.1\r\n" H "A: \xc3\xa4\r\n\r\n", "GET / [Host: h] [A: \xc3\xa4] 0 .\n");
}

TEST(hosts)
{
    defaults();
    REFUSE("A: b", HOST);
    REFUSE(H H "A: b", HOST);
    REFUSE("Host: a b", HOST);
    REFUSE("Host: a/b", HOST);
    REFUSE("Host: a@b", HOST);
    REFUSE("Host: a:b", HOST);
    REFUSE("Host: a:123456", HOST);
    REFUSE("Host: [::1", HOST);
    REFUSE("Host: []", HOST);
    REFUSE("Host: ::1", HOST);
    REFUSE("Host: [::1]x", HOST);
    REQUEST("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET / [Host: [::1]:80] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / [Host: ] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: a.b-c_d:8080\r\n\r\n", "GET / [Host: a.b-c_d:8080] 0 .\n");
}

TEST(malformed_request_lines)
{
    defaults();
    REQUEST("G(T / HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST(" GET / HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST("GET\t/ HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST("GET\r\n", BAD(METHOD));
    REQUEST("\x16\x03\x01\r\n", BAD(METHOD));
    REQUEST("\x16\x03\x01\x02", BAD(METHOD)); /* TLS is told at once, not when a line is over */
    REQUEST("\r\n\x80", BAD(METHOD));
    REQUEST("\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST("GET / HTTP/1.1\n" H "\r\n", BAD(LINE_END));
    REQUEST("\nGET / HTTP/1.1\r\n" H "\r\n", BAD(LINE_END));
    REQUEST("GET  / HTTP/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / x HTTP/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET /  HTTP/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/1.1 \r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/11\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET /\r\n", BAD(FIRST_LINE));
    REQUEST("GET / http/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/1.a\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/2.0\r\n" H "\r\n", BAD(VERSION));
    REQUEST("GET / HTTP/1.2\r\n" H "\r\n", BAD(VERSION));
    REQUEST("GET / HTTP/0.9\r\n" H "\r\n", BAD(VERSION));
}

TEST(targets)
{
    defaults();
    REQUEST("GET x HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET * HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("OPTIONS *x HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /a\tb HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /#a HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /\xc3\xa4 HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /\x7f HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET ftp://a/ HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET http:///a HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET http://a@b/ HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("CONNECT / HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("CONNECT a HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("CONNECT a:80 HTTP/1.1\r\n" H "\r\n", "CONNECT a:80 [Host: h] 0 .\n");
    REQUEST("OPTIONS * HTTP/1.1\r\n" H "\r\n", "OPTIONS * [Host: h] 0 .\n");
    REQUEST("GET HTTP://a:8/b?c=\"{|}\" HTTP/1.1\r\n" H "\r\n", "GET HTTP://a:8/b?c=\"{|}\" [Host: h] 0 .\n");
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

TEST(the_parts_of_a_target)
{
    struct pel_http1_head head;

    defaults();
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

TEST(upgrades)
{
    defaults();
    REQUEST("GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: x\r\n\r\n",
            "GET / [Host: h] [Connection: Upgrade] [Upgrade: x] 0 upgrade .\n");
    REQUEST("GET / HTTP/1.1\r\n" H "Upgrade: x\r\n\r\n", "GET / [Host: h] [Upgrade: x] 0 .\n");
    REQUEST("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
            "GET / [Connection: upgrade] [Upgrade: x] 0 last .\n");
}

TEST(limits_of_a_head)
{
    char bytes[5000], name[32];
    struct pel_slice slice = {bytes, 0};

    defaults();
    limits.target = 20;
    limits.head = 200;
    limits.headers = 3;
    REQUEST("GET /4567890123456789 HTTP/1.1\r\n" H "\r\n", "GET /4567890123456789 [Host: h] 0 .\n");
    REQUEST("GET /45678901234567890123 HTTP/1.1\r\n" H "\r\n", BAD("the target is too long"));
    REQUEST("GET / HTTP/1.1\r\n" H "A: b\r\nC: d\r\n\r\n", "GET / [Host: h] [A: b] [C: d] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\n" H "A: b\r\nC: d\r\nE: f\r\n\r\n", BAD("there are too many headers"));
    /* Endless lines: refused although they are not complete. */
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "GET /%0400d", 0);
    expect_bytes(slice, BAD("the target is too long"));
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nA: %0400d", 0);
    expect_bytes(slice, BAD("the headers are too long"));
    slice.length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nA: %0100d\r\nB: %0100d\r\n\r\n", 0, 0);
    expect_bytes(slice, BAD("the headers are too long"));
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

TEST(limits_of_a_body)
{
    defaults();
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

TEST(responses)
{
    defaults();
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
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "200 OK [Content-Length: 3] 3 | ok" BAD(CUT_OFF));
    RESPONSE("HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
             "101 S [Connection: upgrade] [Upgrade: x] 0 upgrade .\n");
}

TEST(responses_to_a_head_request)
{
    defaults();
    no_body = 1;
    RESPONSE("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
             "103 Early Hints 0 .\n200 OK [Content-Length: 2] 0 .\n");
    RESPONSE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
             "200 OK [Transfer-Encoding: chunked] 0 .\n200 OK [Content-Length: 1] 1 | x .\n");
}

TEST(malformed_responses)
{
    defaults();
    RESPONSE("HTTP/1.1 20 OK\r\n\r\n", BAD(FIRST_LINE));
    RESPONSE("HTTP/1.1 099 OK\r\n\r\n", BAD(FIRST_LINE));
    RESPONSE("HTTP/1.1  200 OK\r\n\r\n", BAD(FIRST_LINE));
    RESPONSE("HTTP/1.1 2000 OK\r\n\r\n", BAD(FIRST_LINE));
    RESPONSE("HTTP/1.1 200 O\x01K\r\n\r\n", BAD(FIRST_LINE));
    RESPONSE("ICY 200 OK\r\n\r\n", BAD(FIRST_LINE));
    RESPONSE("HTTP/2 200 OK\r\n\r\n", BAD(FIRST_LINE));
    RESPONSE("HTTP/2.0 200 OK\r\n\r\n", BAD(VERSION));
    RESPONSE("HTTP/1.1 200 OK\n\r\n", BAD(LINE_END));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", BAD(LENGTH));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", BAD(CODING));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Leng", BAD(CUT_OFF));
}

TEST(bytes_received_past_the_parser)
{
    static const char bytes[] = "P / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\n";
    struct pel_http1_parser parser;
    struct pel_http1_head head;
    struct pel_slice data;
    size_t consumed;

    defaults();
    pel_http1_parser_init(&parser, PEL_HTTP1_REQUEST, &limits);
    CHECK_INT(0, pel_http1_parser_left(&parser));
    CHECK_INT(0, pel_http1_parser_within(&parser));
    CHECK_INT(PEL_HTTP1_HEAD, pel_http1_parse(&parser, bytes, sizeof bytes - 1, &consumed, &head, &data));
    CHECK_INT(5, pel_http1_parser_left(&parser));
    CHECK_INT(PEL_EARGUMENT, pel_http1_parser_skip(&parser, 6));
    CHECK_INT(0, pel_http1_parser_skip(&parser, 2));
    CHECK_INT(PEL_HTTP1_MORE, pel_http1_parse(&parser, "", 0, &consumed, &head, &data));
    CHECK_INT(0, pel_http1_parser_skip(&parser, 3));
    CHECK_INT(0, pel_http1_parser_left(&parser));
    CHECK_INT(PEL_HTTP1_END, pel_http1_parse(&parser, "", 0, &consumed, &head, &data));
    CHECK_INT(0, pel_http1_parser_within(&parser));
}

/* A buffer that never held anything has no bytes to point at. */
TEST(nothing_received_yet)
{
    static const char bytes[] = "P / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n";
    struct pel_http1_parser parser;
    struct pel_http1_head head;
    struct pel_slice data;
    size_t consumed;

    defaults();
    pel_http1_parser_init(&parser, PEL_HTTP1_REQUEST, &limits);
    CHECK_INT(PEL_HTTP1_MORE, pel_http1_parse(&parser, NULL, 0, &consumed, &head, &data));
    CHECK_INT(PEL_HTTP1_HEAD, pel_http1_parse(&parser, bytes, sizeof bytes - 1, &consumed, &head, &data));
    CHECK_INT(PEL_HTTP1_MORE, pel_http1_parse(&parser, NULL, 0, &consumed, &head, &data));
    CHECK_INT(PEL_HTTP1_DATA, pel_http1_parse(&parser, "1\r\nx", 4, &consumed, &head, &data));
    CHECK_INT(PEL_HTTP1_MORE, pel_http1_parse(&parser, NULL, 0, &consumed, &head, &data));
    CHECK_INT(PEL_HTTP1_MORE, pel_http1_parse(&parser, "\r\n0\r\n", 5, &consumed, &head, &data));
    CHECK_INT(PEL_HTTP1_MORE, pel_http1_parse(&parser, NULL, 0, &consumed, &head, &data));
    CHECK_INT(PEL_HTTP1_END, pel_http1_parse(&parser, "\r\n", 2, &consumed, &head, &data));
}
