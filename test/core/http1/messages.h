#pragma once

/* Shared by the parser's tests: a message, and the transcript that it must yield in whatever pieces it arrives. */
#include "check.h"
#include "http1/transcript.h"

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
        fprintf(stderr, "split at %zu and %zu of %zu%s:\n", first, second, bytes.length,
                single ? ", single bytes" : "");
    check_bytes(__FILE__, __LINE__, "the transcript", expected, pel_buffer_head(&transcript.text), length);
    pel_buffer_free(&transcript.text);
}

/* Feeds the bytes whole, one by one, and in two and three pieces, split at every position. */
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

#define PARSER_TEST(title) TEST_BETWEEN(defaults(), title, (void)0)

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

__attribute__((unused)) static void expect_each(enum pel_http1_kind of, const char *expected, const char *const *texts)
{
    kind = of;
    for (; *texts; texts++)
        expect_bytes((struct pel_slice){*texts, strlen(*texts)}, expected);
}

/* Expect the same of each of these texts. */
#define REQUEST_EACH(expected, ...) expect_each(PEL_HTTP1_REQUEST, expected, (const char *const[]){__VA_ARGS__, NULL})
#define RESPONSE_EACH(expected, ...) expect_each(PEL_HTTP1_RESPONSE, expected, (const char *const[]){__VA_ARGS__, NULL})

#define H "Host: h\r\n"
#define BAD(fault) " error: " fault "\n"
#define LINE_END "a line does not end with CRLF"
#define FIRST_LINE "the first line is malformed"
#define METHOD "the method is malformed"
#define TARGET "the target is malformed"
#define VERSION "the version is neither HTTP/1.1 nor HTTP/1.0"
#define HEADER "a header is malformed"
#define HOST "Host is missing, malformed or repeated"
#define LENGTH "Content-Length is malformed or repeated"
#define CODING "Transfer-Encoding is not just chunked, or not allowed here"
#define UNKNOWN "Transfer-Encoding has a coding other than chunked"
#define CHUNKS "a chunk is malformed"
#define TRAILER "a trailer is not allowed"
#define CUT_OFF "the connection ended within a message"

#define CHUNKED "P / HTTP/1.1\r\n" H "Transfer-Encoding: Chunked\r\n\r\n"
#define CHUNKED_HEAD "P / [Host: h] [Transfer-Encoding: Chunked] chunked"
