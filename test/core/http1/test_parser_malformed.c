#include "http1/messages.h"

PARSER_TEST(malformed_chunks_are_refused)
{
    static const char *const tails[] = {"-1\r\n",
                                        "+5\r\nhello\r\n",
                                        "0x5\r\nhello\r\n",
                                        "5_0\r\nhello\r\n",
                                        "\r\nhello\r\n",
                                        "5 \r\nhello\r\n",
                                        " 5\r\nhello\r\n",
                                        "5\nhello\r\n",
                                        "5;a\nhello\r\n",
                                        "g\r\n",
                                        "10000000000000005\r\n",
                                        "1234567812345678\r\n",
                                        "5;\x01\r\nhello\r\n",
                                        "5;a\rb\r\nhello\r\n",
                                        "5\t\r\nhello\r\n",
                                        "5;a \r\nhello\r\n",
                                        "5 ;\r\nhello\r\n",
                                        "5; \r\nhello\r\n",
                                        "5;a= \r\nhello\r\n",
                                        "5;a b\r\nhello\r\n",
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

PARSER_TEST(trailers_that_would_change_the_framing_are_refused)
{
    REQUEST(CHUNKED "0\r\nContent-Length: 5\r\n\r\n", CHUNKED_HEAD BAD(TRAILER));
    REQUEST(CHUNKED "0\r\ntransfer-encoding: chunked\r\n\r\n", CHUNKED_HEAD BAD(TRAILER));
    REQUEST(CHUNKED "0\r\nHOST: x\r\n\r\n", CHUNKED_HEAD BAD(TRAILER));
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

PARSER_TEST(content_lengths_that_two_parsers_could_read_differently_are_refused)
{
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

PARSER_TEST(transfer_encodings_that_two_parsers_could_read_differently_are_refused)
{
    REFUSE(H "Transfer-Encoding: chunked\r\nContent-Length: 5", CODING);
    REFUSE(H "Content-Length: 5\r\nTransfer-Encoding: chunked", CODING);
    REFUSE(H "Transfer-Encoding: xchunked", UNKNOWN);
    REFUSE(H "Transfer-Encoding: chunkedx", UNKNOWN);
    REFUSE(H "Transfer-Encoding: chunked, identity", CODING);
    REFUSE(H "Transfer-Encoding: gzip, chunked", UNKNOWN);
    REFUSE(H "Transfer-Encoding: identity", UNKNOWN);
    REFUSE(H "Transfer-Encoding: chunked, chunked", CODING);
    REFUSE(H "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", UNKNOWN);
    REFUSE(H "Transfer-Encoding:", CODING);
    REFUSE(H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", CODING);
    REFUSE(H "Transfer-Encoding: \"chunked\"", UNKNOWN);
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

PARSER_TEST(malformed_headers_are_refused)
{
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
    REFUSE(H "Expect: 200-ok", "Expect is not 100-continue");
    REQUEST("GET / HTTP/1.1\r\n" H "A: \xc3\xa4\r\n\r\n", "GET / [Host: h] [A: \xc3\xa4] 0 .\n");
}

PARSER_TEST(a_missing_or_malformed_host_is_refused)
{
    REFUSE("A: b", HOST);
    REFUSE(H H "A: b", HOST);
    REFUSE("Host: a b", HOST);
    REFUSE("Host: a/b", HOST);
    REFUSE("Host: a@b", HOST);
    REFUSE("Host: a:b", HOST);
    REFUSE("Host: a:123456", HOST);
    REFUSE("Host: a:0", HOST);
    REFUSE("Host: a:65536", HOST);
    REFUSE("Host: a%", HOST);
    REFUSE("Host: a%2", HOST);
    REFUSE("Host: a%2g", HOST);
    REFUSE("Host: a%2:80", HOST);
    REFUSE("Host: [zz]", HOST);
    REFUSE("Host: [1.2.3.4]", HOST);
    REFUSE("Host: [::1%25lo]", HOST);
    REFUSE("Host: [v.a]", HOST);
    REFUSE("Host: [v1.]", HOST);
    REFUSE("Host: [::1", HOST);
    REFUSE("Host: []", HOST);
    REFUSE("Host: ::1", HOST);
    REFUSE("Host: [::1]x", HOST);
    REQUEST("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET / [Host: [::1]:80] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: [v1F.a:b]\r\n\r\n", "GET / [Host: [v1F.a:b]] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: a%2Fb:65535\r\n\r\n", "GET / [Host: a%2Fb:65535] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: a:\r\n\r\n", "GET / [Host: a:] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / [Host: ] 0 .\n");
    REQUEST("GET / HTTP/1.1\r\nHost: a.b-c_d:8080\r\n\r\n", "GET / [Host: a.b-c_d:8080] 0 .\n");
}

PARSER_TEST(malformed_request_lines_are_refused)
{
    REQUEST("G(T / HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST(" GET / HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST("GET\t/ HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST("GET\r\n", BAD(METHOD));
    REQUEST("\x16\x03\x01\r\n", BAD(METHOD));
    REQUEST("\x16\x03\x01\x02", BAD(METHOD)); /* TLS is refused at once, before a line end */
    REQUEST("\r\n\x80", BAD(METHOD));
    REQUEST("\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n", BAD(METHOD));
    REQUEST("GET / HTTP/1.1\n" H "\r\n", BAD(LINE_END));
    REQUEST("\nGET / HTTP/1.1\r\n" H "\r\n", BAD(LINE_END));
    REQUEST("GET  / HTTP/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / x HTTP/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET /  HTTP/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/1.1 \r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/11\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/1.11\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/1.1\r" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET /\r\n", BAD(FIRST_LINE));
    REQUEST("GET / http/1.1\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/1.a\r\n" H "\r\n", BAD(FIRST_LINE));
    REQUEST("GET / HTTP/2.0\r\n" H "\r\n", BAD(VERSION));
    REQUEST("GET / HTTP/1.2\r\n" H "\r\n", BAD(VERSION));
    REQUEST("GET / HTTP/0.9\r\n" H "\r\n", BAD(VERSION));
}

PARSER_TEST(malformed_targets_are_refused)
{
    REQUEST("GET x HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET * HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("OPTIONS *x HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /a\tb HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /#a HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /\xc3\xa4 HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /\x7f HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET /\0 HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET h:80 HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET ftp://a/ HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET http:///a HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("GET http://a@b/ HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("CONNECT / HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("CONNECT a HTTP/1.1\r\n" H "\r\n", BAD(TARGET));
    REQUEST("CONNECT a:80 HTTP/1.1\r\n" H "\r\n", "CONNECT a:80 [Host: h] 0 .\n");
    REQUEST("OPTIONS * HTTP/1.1\r\n" H "\r\n", "OPTIONS * [Host: h] 0 .\n");
    REQUEST("GET HTTP://a:8/b?c=\"{|}\" HTTP/1.1\r\n" H "\r\n", "GET HTTP://a:8/b?c=\"{|}\" [Host: h] 0 .\n");
}

PARSER_TEST(malformed_responses_are_refused)
{
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
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n", BAD(LENGTH));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 1,\r\n\r\n", BAD(LENGTH));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: ,1\r\n\r\n", BAD(LENGTH));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", BAD(CODING));
    RESPONSE("HTTP/1.1 200 OK\r\nContent-Leng", BAD(CUT_OFF));
}
