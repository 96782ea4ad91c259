#include "http1/messages.h"

static void refuse_chunks(const char *const *tails)
{
    kind = PEL_HTTP1_REQUEST;
    for (; *tails; tails++) {
        char bytes[200];
        size_t length = (size_t)snprintf(bytes, sizeof bytes, "%s%s", CHUNKED, *tails);
        expect_bytes((struct pel_slice){bytes, length}, CHUNKED_HEAD BAD(CHUNKS));
    }
}

#define REFUSE_CHUNKS(...) refuse_chunks((const char *const[]){__VA_ARGS__, NULL})

PARSER_TEST(malformed_chunks_are_refused)
{
    REFUSE_CHUNKS("-1\r\n", "+5\r\nhello\r\n", "0x5\r\nhello\r\n", "5_0\r\nhello\r\n", "\r\nhello\r\n",
                  "5 \r\nhello\r\n", " 5\r\nhello\r\n", "5\nhello\r\n", "5;a\nhello\r\n", "g\r\n",
                  "10000000000000005\r\n", "1234567812345678\r\n", "5;\x01\r\nhello\r\n", "5;a\rb\r\nhello\r\n",
                  "5\t\r\nhello\r\n", "5;a \r\nhello\r\n", "5 ;\r\nhello\r\n", "5; \r\nhello\r\n", "5;a= \r\nhello\r\n",
                  "5;a b\r\nhello\r\n", "5;\r\nhello\r\n", "5;;a\r\nhello\r\n", "5;a;\r\nhello\r\n",
                  "5;a=\r\nhello\r\n", "5;=b\r\nhello\r\n", "5;a=b=c\r\nhello\r\n", "5;a=\"b\r\nhello\r\n",
                  "5;a=\"b\\\r\nhello\r\n", "5;a=\"b\"c\r\nhello\r\n", "5;a=b\"c\"\r\nhello\r\n",
                  "5;a=\"\x7f\"\r\nhello\r\n", "5;a\xe4\r\nhello\r\n", "5,a\r\nhello\r\n");
    REQUEST_EACH(CHUNKED_HEAD " | hello" BAD(CHUNKS), CHUNKED "5\r\nhelloX0\r\n", CHUNKED "5\r\nhello\n0\r\n\r\n",
                 CHUNKED "5\r\nhello\r\r\n0\r\n", CHUNKED "5\r\nhello, world\r\n0\r\n");
    REQUEST(CHUNKED "0\r\nx", CHUNKED_HEAD BAD(CUT_OFF));
    REQUEST(CHUNKED "5\r\nhello\r\n", CHUNKED_HEAD " | hello" BAD(CUT_OFF));
}

PARSER_TEST(a_chunks_first_line_that_does_not_end_is_refused)
{
    char bytes[sizeof CHUNKED - 1 + 4096];

    memset(bytes, 'a', sizeof bytes);
    memcpy(bytes, CHUNKED "5;", sizeof CHUNKED + 1);
    kind = PEL_HTTP1_REQUEST;
    expect_bytes((struct pel_slice){bytes, sizeof bytes - 1}, CHUNKED_HEAD BAD(CUT_OFF));
    expect_bytes((struct pel_slice){bytes, sizeof bytes}, CHUNKED_HEAD BAD(CHUNKS));
}

PARSER_TEST(trailers_that_would_change_the_framing_are_refused)
{
    REQUEST_EACH(CHUNKED_HEAD BAD(TRAILER), CHUNKED "0\r\nContent-Length: 5\r\n\r\n",
                 CHUNKED "0\r\ntransfer-encoding: chunked\r\n\r\n", CHUNKED "0\r\nHOST: x\r\n\r\n");
    REQUEST(CHUNKED "0\r\nX: y\n\r\n", CHUNKED_HEAD BAD(LINE_END));
    REQUEST(CHUNKED "0\r\n x: y\r\n\r\n", CHUNKED_HEAD BAD(HEADER));
}

/* Expects a fault in the headers of a request. */
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

static void refuse_each(const char *fault, const char *const *headers)
{
    for (; *headers; headers++)
        expect_header_fault(*headers, strlen(*headers), fault);
}

#define REFUSE_EACH(fault, ...) refuse_each(fault, (const char *const[]){__VA_ARGS__, NULL})

PARSER_TEST(content_lengths_that_two_parsers_could_read_differently_are_refused)
{
    REFUSE_EACH(LENGTH, H "Content-Length:", H "Content-Length:  ", H "Content-Length: +5", H "Content-Length: -1",
                H "Content-Length: 0x10", H "Content-Length: 5,5", H "Content-Length: 5, 6", H "Content-Length: 1 2",
                H "Content-Length: 5\r\nContent-Length: 5", H "Content-Length: 5\r\ncontent-length: 6",
                H "Content-Length: 18446744073709551617", H "Content-Length: 0000000000000000005",
                H "Content-Length: 5_0", H "Content-Length:\t5", H "Content-Length: 5 \t");
    REQUEST("P / HTTP/1.1\r\n" H "Content-Length: 003\r\n\r\nabc", "P / [Host: h] [Content-Length: 003] 3 | abc .\n");
}

PARSER_TEST(transfer_encodings_that_two_parsers_could_read_differently_are_refused)
{
    REFUSE_EACH(CODING, H "Transfer-Encoding: chunked\r\nContent-Length: 5",
                H "Content-Length: 5\r\nTransfer-Encoding: chunked", H "Transfer-Encoding: chunked, identity",
                H "Transfer-Encoding: chunked, chunked",
                H "Transfer-Encoding:", H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                H "Transfer-Encoding:\tchunked", H "Transfer-Encoding: chunked\t");
    REFUSE_EACH(UNKNOWN, H "Transfer-Encoding: xchunked", H "Transfer-Encoding: chunkedx",
                H "Transfer-Encoding: gzip, chunked", H "Transfer-Encoding: identity",
                H "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", H "Transfer-Encoding: \"chunked\"");
    REFUSE_EACH(HEADER, H "Transfer-Encoding: \vchunked", H "Transfer-Encoding : chunked");
    REQUEST("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", BAD(CODING));
    RESPONSE("HTTP/1.1 200 OK\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
             "200 OK [Transfer-Encoding: chunked] chunked .\n");
}

PARSER_TEST(malformed_headers_are_refused)
{
    REFUSE(H "A: b\nC: d", LINE_END);
    REFUSE(H "A: b\rC: d", HEADER);
    REFUSE(H "A: b\0c", HEADER);
    REFUSE_EACH(HEADER, H "A: b\x7f", H "A: b\x01");
    REFUSE(H "A\0: b", HEADER);
    REFUSE_EACH(HEADER, H "A: b\r\n folded", H "A: b\r\n\tfolded", " " H "A: b", H "A : b", H ": b", H "A", H "A(: b",
                H "\xc3\xa4: b");
    REFUSE(H "Expect: 200-ok", "Expect is not 100-continue");
    REQUEST("GET / HTTP/1.1\r\n" H "A: \xc3\xa4\r\n\r\n", "GET / [Host: h] [A: \xc3\xa4] 0 .\n");
}

PARSER_TEST(a_missing_or_malformed_host_is_refused)
{
    REFUSE_EACH(HOST, "A: b", H H "A: b", "Host: a b", "Host: a/b", "Host: a@b", "Host: a:b", "Host: a:123456",
                "Host: a:0", "Host: a:65536", "Host: a%", "Host: a%2", "Host: a%2g", "Host: a%2:80", "Host: [zz]",
                "Host: [1.2.3.4]", "Host: [::1%25lo]", "Host: [v.a]", "Host: [v1.]", "Host: [::1", "Host: []",
                "Host: ::1", "Host: [::1]x");
    REQUEST("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET / [Host: [::1]:80] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: [v1F.a:b]\r\n\r\n", "GET / [Host: [v1F.a:b]] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: a%2Fb:65535\r\n\r\n", "GET / [Host: a%2Fb:65535] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: a:\r\n\r\n", "GET / [Host: a:] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / [Host: ] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: a.b-c_d:8080\r\n\r\n", "GET / [Host: a.b-c_d:8080] 0 .\n");
}

PARSER_TEST(malformed_request_lines_are_refused)
{
    REQUEST_EACH(BAD(METHOD), "G(T / HTTP/1.1\r\n" H "\r\n", " GET / HTTP/1.1\r\n" H "\r\n",
                 "GET\t/ HTTP/1.1\r\n" H "\r\n", "GET\r\n", "\x16\x03\x01\r\n");
    REQUEST("\x16\x03\x01\x02", BAD(METHOD)); /* TLS is refused at once, before a line end */
    REQUEST_EACH(BAD(METHOD), "\r\n\x80", "\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n");
    REQUEST_EACH(BAD(LINE_END), "GET / HTTP/1.1\n" H "\r\n", "\nGET / HTTP/1.1\r\n" H "\r\n");
    REQUEST_EACH(BAD(FIRST_LINE), "GET  / HTTP/1.1\r\n" H "\r\n", "GET / x HTTP/1.1\r\n" H "\r\n",
                 "GET /  HTTP/1.1\r\n" H "\r\n", "GET / HTTP/1.1 \r\n" H "\r\n", "GET / HTTP/11\r\n" H "\r\n",
                 "GET / HTTP/1.11\r\n" H "\r\n", "GET / HTTP/1.1\r" H "\r\n", "GET /\r\n",
                 "GET / http/1.1\r\n" H "\r\n", "GET / HTTP/1.a\r\n" H "\r\n");
    REQUEST_EACH(BAD(VERSION), "GET / HTTP/2.0\r\n" H "\r\n", "GET / HTTP/1.2\r\n" H "\r\n",
                 "GET / HTTP/0.9\r\n" H "\r\n");
}

PARSER_TEST(malformed_targets_are_refused)
{
    REQUEST_EACH(BAD(TARGET), "GET x HTTP/1.1\r\n" H "\r\n", "GET * HTTP/1.1\r\n" H "\r\n",
                 "OPTIONS *x HTTP/1.1\r\n" H "\r\n", "GET /a\tb HTTP/1.1\r\n" H "\r\n", "GET /#a HTTP/1.1\r\n" H "\r\n",
                 "GET /\xc3\xa4 HTTP/1.1\r\n" H "\r\n", "GET /\x7f HTTP/1.1\r\n" H "\r\n");
    REQUEST("GET /\0 HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST_EACH(BAD(TARGET), "GET h:80 HTTP/1.1\r\n" H "\r\n", "GET ftp://a/ HTTP/1.1\r\n" H "\r\n",
                 "GET http:///a HTTP/1.1\r\n" H "\r\n", "GET http://a@b/ HTTP/1.1\r\n" H "\r\n",
                 "CONNECT / HTTP/1.1\r\n" H "\r\n", "CONNECT a HTTP/1.1\r\n" H "\r\n");
    REQUEST("CONNECT a:80 HTTP/1.1\r\n" H "\r\n", "CONNECT a:80 [Host: h] 0 .\n");
    REQUEST("OPTIONS * HTTP/1.1\r\n" H "\r\n", "OPTIONS * [Host: h] 0 .\n");
    REQUEST("GET HTTP://a:8/b?c=\"{|}\" HTTP/1.1\r\n" H "\r\n", "GET HTTP://a:8/b?c=\"{|}\" [Host: h] 0 .\n");
}

PARSER_TEST(malformed_responses_are_refused)
{
    RESPONSE_EACH(BAD(FIRST_LINE), "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
                  "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n", "ICY 200 OK\r\n\r\n",
                  "HTTP/2 200 OK\r\n\r\n");
    RESPONSE("HTTP/2.0 200 OK\r\n\r\n", BAD(VERSION));
    RESPONSE("HTTP/1.1 200 OK\n\r\n", BAD(LINE_END));
    RESPONSE_EACH(BAD(LENGTH), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1,\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Length: ,1\r\n\r\n");
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", BAD(CODING));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Leng", BAD(CUT_OFF));
}
