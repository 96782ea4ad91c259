#include "check.h"
#include "memcached/transcript.h"
#include "memcached_server/recorded.h"

#define TOO_LONG "error: a documented limit was exceeded\n"
#define BROKEN "error: the peer broke the protocol\n"

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define TWO_THOUSAND                                                                                                   \
    HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED    \
        HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

/* Feeds the bytes in three pieces, split at `first` and `second`. */
static void expect_pieces(struct pel_slice bytes, size_t first, size_t second, enum transcript_values values,
                          const char *expected)
{
    static struct transcript transcript;
    size_t length;

    transcript_begin(&transcript, values, 1000);
    transcript_feed(&transcript, bytes.bytes, first);
    transcript_feed(&transcript, bytes.bytes + first, second - first);
    transcript_feed(&transcript, bytes.bytes + second, bytes.length - second);
    transcript_end(&transcript);
    length = pel_buffer_length(&transcript.text);
    if (length != strlen(expected) || (length > 0 && memcmp(expected, pel_buffer_head(&transcript.text), length)))
        fprintf(stderr, "split at %zu and %zu of %zu:\n", first, second, bytes.length);
    check_bytes(__FILE__, __LINE__, "the transcript", expected, pel_buffer_head(&transcript.text), length);
    pel_buffer_free(&transcript.text);
}

static void expect_byte_by_byte(struct pel_slice bytes, enum transcript_values values, const char *expected)
{
    static struct transcript transcript;

    transcript_begin(&transcript, values, 1000);
    for (size_t i = 0; i < bytes.length; i++)
        transcript_feed(&transcript, bytes.bytes + i, 1);
    transcript_end(&transcript);
    check_bytes(__FILE__, __LINE__, "the transcript of single bytes", expected, pel_buffer_head(&transcript.text),
                pel_buffer_length(&transcript.text));
    pel_buffer_free(&transcript.text);
}

/* Feeds the bytes whole, one by one, and in two and three pieces, split at every position. */
static void expect_bytes(struct pel_slice bytes, const char *expected)
{
    for (int values = VALUES_PARSED; values <= VALUES_SKIPPED; values++) {
        expect_pieces(bytes, bytes.length, bytes.length, values, expected);
        expect_byte_by_byte(bytes, values, expected);
        for (size_t first = 0; first <= bytes.length; first++) {
            expect_pieces(bytes, first, bytes.length, values, expected);
            for (size_t second = first; bytes.length <= 200 && second <= bytes.length; second++)
                expect_pieces(bytes, first, second, values, expected);
        }
    }
}

static void expect_each(const char *expected, const char *const *texts)
{
    for (; *texts; texts++)
        expect_bytes((struct pel_slice){*texts, strlen(*texts)}, expected);
}

#define EXPECT(bytes, expected) expect_bytes((struct pel_slice){bytes, sizeof(bytes) - 1}, expected)

/* Expects the same of each of these texts. */
#define EXPECT_EACH(expected, ...) expect_each(expected, (const char *const[]){__VA_ARGS__, NULL})

TEST(meta_replies_without_flags_are_parsed)
{
    EXPECT("HD\r\n", "HD\n");
    EXPECT("EN\r\n", "EN\n");
    EXPECT("NF\r\n", "NF\n");
    EXPECT("NS\r\n", "NS\n");
    EXPECT("EX\r\n", "EX\n");
    EXPECT("MN\r\n", "MN\n");
    EXPECT("HD\r\nHD\r\nEN\r\nMN\r\n", "HD\nHD\nEN\nMN\n");
}

TEST(values_are_parsed)
{
    EXPECT("VA 3\r\nabc\r\n", "VA 3 value(abc)\n");
    EXPECT("VA 3 f5\r\nabc\r\nHD\r\n", "VA 3 f=5 value(abc)\nHD\n");
    EXPECT("VA 0\r\n\r\nEN\r\n", "VA 0 value()\nEN\n");
    EXPECT("VA 0 f0\r\n\r\nVA 1 f0\r\nx\r\n", "VA 0 f=0 value()\nVA 1 f=0 value(x)\n");
    EXPECT("VA 12 f4294967295\r\nabcdefghijkl\r\n", "VA 12 f=4294967295 value(abcdefghijkl)\n");
    EXPECT("VA 2 c18446744073709551615 f7\r\nab\r\n", "VA 2 c=18446744073709551615 f=7 value(ab)\n");
}

TEST(flags_of_meta_replies_are_parsed)
{
    EXPECT("HD c12 t-1 s3 kkey O123\r\n", "HD O(123) c=12 k(key) s=3 t=-1\n");
    EXPECT("HD t0\r\n", "HD t=0\n");
    EXPECT("EN O1 kmissing\r\n", "EN O(1) k(missing)\n");
    EXPECT("VA 1 t2592000 h1 l17 W X\r\nx\r\n", "VA 1 W X h=1 l=17 t=2592000 value(x)\n");
    EXPECT("VA 0 Z\r\n\r\n", "VA 0 Z value()\n");
    EXPECT("NF O9 kYQ== b\r\n", "NF O(9) b k(YQ==)\n");
    EXPECT("HD k\x80\xff\xc3\xa9\r\n", "HD k(\x80\xff\xc3\xa9)\n");
}

TEST(a_meta_reply_may_end_with_a_space)
{
    EXPECT("HD \r\nNF \r\nEX \r\n", "HD\nNF\nEX\n");
    EXPECT("HD c1 \r\nVA 1 \r\nx\r\n", "HD c=1\nVA 1 value(x)\n");
}

TEST(unknown_flags_are_kept_as_letters)
{
    EXPECT("HD c1 yfuture Q z=1,2\r\n", "HD Q c=1 y z\n");
}

TEST(replies_to_commands_without_a_meta_form_are_parsed)
{
    EXPECT("OK\r\nRESET\r\n", "OK\nRESET\n");
    EXPECT("VERSION 1.6.18\r\n", "VERSION text(1.6.18)\n");
    EXPECT("STAT pid 12\r\nSTAT a b c\r\nSTAT empty \r\nSTAT none\r\nEND\r\n",
           "STAT k(pid) text(12)\nSTAT k(a) text(b c)\nSTAT k(empty) text()\nSTAT k(none) text()\nEND\n");
}

TEST(errors_of_the_server_are_replies)
{
    EXPECT("ERROR\r\nHD\r\n", "ERROR text()\nHD\n");
    EXPECT("CLIENT_ERROR bad data chunk\r\nERROR\r\n", "CLIENT_ERROR text(bad data chunk)\nERROR text()\n");
    EXPECT("SERVER_ERROR out of memory storing object\r\n", "SERVER_ERROR text(out of memory storing object)\n");
    EXPECT("SERVER_ERROR  two spaces\r\n", "SERVER_ERROR text( two spaces)\n");
    EXPECT("SERVER_ERROR \r\nSERVER_ERROR\r\n", "SERVER_ERROR text()\nSERVER_ERROR text()\n");
    EXPECT("VA 1\r\nx\r\nSERVER_ERROR out of memory writing get response\r\n",
           "VA 1 value(x)\nSERVER_ERROR text(out of memory writing get response)\n");
}

TEST(a_value_that_looks_like_the_protocol_is_a_value)
{
    EXPECT("VA 7\r\n\r\nEND\r\n\r\nHD\r\n", "VA 7 value(\r\nEND\r\n)\nHD\n");
    EXPECT("VA 11\r\nVA 2\r\nxy\r\nH\r\nEN\r\n", "VA 11 value(VA 2\r\nxy\r\nH)\nEN\n");
    EXPECT("VA 4\r\n\r\n\r\n\r\n", "VA 4 value(\r\n\r\n)\n");
}

TEST(an_incomplete_reply_needs_more_bytes)
{
    EXPECT_EACH("", "", "H", "HD\r");
    EXPECT("HD\r\nVA 3", "HD\n");
    EXPECT("VA 5 f1\r\nab", "VA 5 f=1\npending 3\n");
    EXPECT("VA 2 f1\r\nab", "VA 2 f=1");
    EXPECT("VA 2 f1\r\nab\r", "VA 2 f=1");
    EXPECT("VA 2\r\n", "VA 2\npending 2\n");
    EXPECT("SERVER_ERROR out of mem", "");
}

TEST(a_value_must_end_with_crlf)
{
    EXPECT("HD\r\nVA 3\r\nabcd\r\n", "HD\n" BROKEN);
    EXPECT_EACH(BROKEN, "VA 3\r\nab\r\nHD\r\n", "VA 3\r\nabc\n\n", "VA 3\r\nabc\rx", "VA 3\r\nabcHD\r\n",
                "VA 0\r\nHD\r\n", "VA 3\r\nabEND\r\n", "VA 9\r\nabc\r\nERROR\r\nHD\r\n");
}

TEST(malformed_lengths_and_numbers_are_refused)
{
    EXPECT_EACH(BROKEN, "VA -1\r\n", "VA +1\r\nx\r\n", "VA 0x1\r\nx\r\n", "VA 1a\r\nx\r\n",
                "VA 99999999999999999999\r\n", "VA 18446744073709551616\r\n", "VA 000000000000000000001\r\nx\r\n");
    EXPECT_EACH(TOO_LONG, "VA 18446744073709551615\r\n", "VA 18446744073709551614\r\nx\r\n", "VA 1001\r\n");
    EXPECT_EACH(BROKEN, "VA 1 f4294967296\r\nx\r\n", "VA 1 f99999999999\r\nx\r\n", "VA 1 f\r\nx\r\n",
                "VA 1 f-1\r\nx\r\n", "HD c18446744073709551616\r\n", "HD c\r\n", "HD t-2\r\n", "HD t-\r\n",
                "HD t-12\r\n", "HD t9223372036854775808\r\n", "HD h2\r\n", "HD s-1\r\n", "HD k\r\n");
}

TEST(malformed_lines_are_refused)
{
    EXPECT_EACH(BROKEN, "HD\nHD\n", "HD\n", "HDX\n", "13\n", "VA 12\nx\r\n", "VERSION 1.6\n", "\n", "\r\n", " \r\n",
                "HD\r\r\n", "HD  \r\n", "HD  c1\r\n", "HD c1  \r\n", " HD\r\n", "hd\r\n", "HDX\r\n", "HD 1\r\n",
                "HD [\r\n", "HD\tc1\r\n", "HD k\x7f\r\n");
    EXPECT("HD ka\0b\r\n", BROKEN);
    EXPECT("HD ka\rb\r\n", BROKEN);
    EXPECT("H\0\r\n", BROKEN);
    EXPECT_EACH(BROKEN, "VA\r\n", "VA \r\n", "VA 1  \r\nx\r\n", "VA f0\r\n", "VA 1\nx\r\n", "VA 1  f0\r\nx\r\n",
                "STAT  x\r\n", "END x\r\n", "STAT\r\n");
    EXPECT_EACH(BROKEN, "VALUE k 0 1\r\nx\r\n", "STORED\r\n", "NOT_FOUND\r\n", "17\r\n");
    EXPECT("SERVER_ERROR a\0b\r\n", BROKEN);
    EXPECT_EACH(BROKEN, "SERVER_ERROR a\rb\r\n", "SERVER_ERRORS\r\n", "HTTP/1.1 400 Bad Request\r\n",
                "\x16\x03\x01\r\n");
}

TEST(nothing_is_parsed_after_an_error)
{
    EXPECT("HD\r\nbogus\r\nHD\r\nEN\r\n", "HD\n" BROKEN);
}

TEST(a_line_longer_than_the_limit_is_refused)
{
    /* 2048 bytes with "SERVER_ERROR " and CRLF; the second has one more. */
    EXPECT("SERVER_ERROR " TWO_THOUSAND TEN TEN TEN "xyz\r\nHD\r\n",
           "SERVER_ERROR text(" TWO_THOUSAND TEN TEN TEN "xyz)\nHD\n");
    EXPECT("HD\r\nSERVER_ERROR " TWO_THOUSAND TEN TEN TEN "xyz1\r\nHD\r\n", "HD\n" TOO_LONG);
}

TEST(a_line_without_end_is_refused_at_the_limit)
{
    EXPECT_EACH(TOO_LONG, TWO_THOUSAND HUNDRED, TWO_THOUSAND TEN TEN TEN TEN "12345678");
    EXPECT(TWO_THOUSAND TEN TEN TEN TEN "1234567", "");
}

TEST(recorded_replies_of_memcached_1_6_18_are_parsed)
{
    for (size_t i = 0; i < sizeof(memcached_recorded) / sizeof(memcached_recorded[0]); i++) {
        struct pel_slice reply = {memcached_recorded[i].reply, strlen(memcached_recorded[i].reply)};
        expect_bytes(reply, memcached_recorded[i].transcript);
    }
}

TEST(a_value_as_long_as_the_limit_is_parsed)
{
    static char bytes[1100];
    static char expected[1100];
    int head = snprintf(bytes, sizeof(bytes), "VA 1000\r\n");
    int start = snprintf(expected, sizeof(expected), "VA 1000 value(");

    memset(bytes + head, 'v', 1000);
    memset(expected + start, 'v', 1000);
    strcpy(bytes + head + 1000, "\r\nHD\r\n");
    strcpy(expected + start + 1000, ")\nHD\n");
    expect_bytes((struct pel_slice){bytes, strlen(bytes)}, expected);
}

TEST(a_whole_value_is_a_slice_of_the_callers_bytes)
{
    static const char bytes[] = "VA 5 f0\r\nhello\r\nHD\r\n";
    static struct pel_memcached_parser parser;
    struct pel_memcached_reply reply;
    size_t consumed;

    pel_memcached_parser_init(&parser);
    CHECK_INT(1, pel_memcached_parse(&parser, bytes, sizeof(bytes) - 1, &consumed, &reply));
    CHECK_POINTER(bytes + 9, reply.value.bytes);
    CHECK_INT(5, reply.value.length);
    CHECK(reply.value_whole);
    CHECK_INT(16, consumed);
}

TEST(a_large_value_may_be_received_without_the_parser)
{
    static struct pel_memcached_parser parser;
    struct pel_memcached_reply reply;
    size_t consumed;

    pel_memcached_parser_init(&parser);
    CHECK_INT(1, pel_memcached_parse(&parser, "VA 1000000000 f1\r\nab", 20, &consumed, &reply));
    CHECK_INT(20, consumed);
    CHECK(!reply.value_whole);
    CHECK_INT(1000000000, reply.value_length);
    CHECK_INT(2, reply.value.length);
    CHECK_INT(999999998, reply.value_pending);

    CHECK_INT(0, pel_memcached_parser_skip_value(&parser, 999999990));
    CHECK_INT(8, pel_memcached_parser_pending(&parser));
    CHECK_INT(PEL_EARGUMENT, pel_memcached_parser_skip_value(&parser, 9));
    CHECK_INT(8, pel_memcached_parser_pending(&parser));

    CHECK_INT(1, pel_memcached_parse(&parser, "cdefghij\r\nHD\r\n", 14, &consumed, &reply));
    CHECK_INT(PEL_MEMCACHED_VALUE_PART, reply.kind);
    CHECK_BYTES("cdefghij", reply.value.bytes, reply.value.length);
    CHECK_INT(8, consumed);
    CHECK_INT(1, pel_memcached_parse(&parser, "\r\nHD\r\n", 6, &consumed, &reply));
    CHECK_INT(PEL_MEMCACHED_VALUE_END, reply.kind);
    CHECK_INT(2, consumed);
    CHECK_INT(PEL_EARGUMENT, pel_memcached_parser_skip_value(&parser, 1));
}

TEST(a_reply_that_has_begun_is_seen)
{
    static const char reply[] = "VA 2\r\nxy\r\nHD\r\n";
    struct pel_memcached_parser parser;
    struct pel_memcached_reply parsed;
    size_t consumed;

    pel_memcached_parser_init(&parser);
    for (size_t i = 0; reply[i]; i++) {
        CHECK(pel_memcached_parser_inside(&parser) == (i != 0 && i != 10));
        CHECK(pel_memcached_parse(&parser, reply + i, 1, &consumed, &parsed) >= 0);
    }
    CHECK_INT(0, pel_memcached_parser_inside(&parser));
}

TEST(the_default_limit_of_a_value_is_a_gigabyte)
{
    static struct pel_memcached_parser parser;
    struct pel_memcached_reply reply;
    size_t consumed;

    pel_memcached_parser_init(&parser);
    CHECK_INT(PEL_ELIMIT, pel_memcached_parse(&parser, "VA 1073741825\r\n", 15, &consumed, &reply));
    pel_memcached_parser_init(&parser);
    CHECK_INT(1, pel_memcached_parse(&parser, "VA 1073741824\r\n", 15, &consumed, &reply));
}

TEST(every_kind_has_a_name)
{
    for (int kind = 0; kind <= PEL_MEMCACHED_VALUE_END; kind++) {
        for (int other = 0; other < kind; other++)
            CHECK(strcmp(pel_memcached_kind_name(kind), pel_memcached_kind_name(other)));
        CHECK(strcmp("?", pel_memcached_kind_name(kind)));
    }
    CHECK_STRING("HD", pel_memcached_kind_name(PEL_MEMCACHED_HD));
    CHECK_STRING("SERVER_ERROR", pel_memcached_kind_name(PEL_MEMCACHED_SERVER_ERROR));
    CHECK_STRING("?", pel_memcached_kind_name(1000));
}
