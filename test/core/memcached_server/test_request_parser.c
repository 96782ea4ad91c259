#include "core/memcached_server/request_parser.h"

#include "memcached_server/request_transcript.h"

static char *repeated(const char *text, int times, const char *end)
{
    size_t length = strlen(text);
    char *all = malloc(length * (size_t)times + strlen(end) + 1);

    for (int i = 0; i < times; i++)
        memcpy(all + (size_t)i * length, text, length);
    strcpy(all + length * (size_t)times, end);
    return all;
}

TEST(a_retrieval_is_one_request_for_each_key)
{
    check_requests("get a\r\n", "get key(a)\n");
    check_requests("get a bb ccc\r\n", "get key(a)\nget key(bb)\nget key(ccc)\n");
    check_requests("gets a\n", "gets key(a)\n");
    check_requests("gat 100 a b\r\n", "gat expiry=100 key(a)\ngat expiry=100 key(b)\n");
    check_requests("gats -1 a\r\n", "gats expiry=-1 key(a)\n");
}

TEST(additional_spaces_are_ignored)
{
    check_requests("  get   a  b  \r\n", "get key(a)\nget key(b)\n");
    check_requests("gat  5   \r\n", "gat expiry=5 key()\n");
}

TEST(the_last_key_is_marked)
{
    struct pel_memcached_request_parser parser = {0};
    struct pel_memcached_request request;
    size_t used;

    CHECK_INT(1, pel_memcached_request_parse(&parser, "get a b\r\n", 9, &used, &request));
    CHECK_INT(0, request.last);
    CHECK_INT(1, pel_memcached_request_parse(&parser, " b\r\n", 4, &used, &request));
    CHECK_INT(1, request.last);
    CHECK_INT(4, used);
}

TEST(a_retrieval_without_a_key_is_an_error)
{
    CHECK_REQUESTS("bad ERROR\n", "get\r\n", "gets  \r\n", "gat\r\n");
    check_requests("gat 10\r\n", "gat expiry=10 key()\n");
    CHECK_REQUESTS("bad CLIENT_ERROR invalid exptime argument\n", "gat x a\r\n", "gat 2147483648 a\r\n");
}

TEST(one_bad_key_invalidates_its_line_and_not_the_next)
{
    char *key = repeated("k", 250, ""), line[1000];

    snprintf(line, sizeof line, "get a %s\r\n", key);
    CHECK(strlen(line) > 250);
    snprintf(line, sizeof line, "get %sx\r\nget b\r\n", key);
    check_requests(line, "bad CLIENT_ERROR bad command line format\nget key(b)\n");
    snprintf(line, sizeof line, "get a %sx b\r\nget b\r\n", key);
    CHECK_REQUESTS("bad CLIENT_ERROR bad command line format\nget key(b)\n", line, "get a \rb\r\nget b\r\n");
    free(key);
}

/* A retrieval of so many keys, and what follows them. */
static void check_many_keys(size_t count, const char *rest, const char *requests_of_rest)
{
    char *keys = repeated(" somekey", count, rest), *line = malloc(strlen(keys) + 4);
    char *expected = repeated("get key(somekey)\n", count, requests_of_rest);

    strcpy(line, "get");
    strcat(line, keys);
    check_requests(line, expected);
    free(keys);
    free(line);
    free(expected);
}

TEST(a_retrieval_may_have_any_number_of_keys)
{
    check_many_keys(10000, "\r\nget b\r\n", "get key(b)\n");
}

TEST(in_a_line_beyond_the_limit_keys_are_yielded_up_to_a_bad_one)
{
    check_many_keys(300, " a\rb c\r\nget b\r\n", "bad CLIENT_ERROR bad command line format\nget key(b)\n");
}

TEST(a_line_without_end_is_refused)
{
    char *line = repeated("x", 2048, ""), *set = repeated(" x", 3000, ""), *spaces = repeated(" ", 2048, "get a\r\n");

    check_transcript("", transcribe(line, 2047, 2047, 1), 2047);
    check_transcript("(limit)\n", transcribe(line, 2048, 2048, 1), 2048);
    memcpy(set, "set", 3);
    CHECK_REQUESTS("(limit)\n", set, spaces);
    free(line);
    free(set);
    free(spaces);
}

TEST(the_limit_is_the_same_for_a_line_that_arrives_whole)
{
    char *line = repeated("x", 2046, "\n"), *longer = repeated("x", 2048, "\nget a\r\n");

    check_requests(line, "bad ERROR\n");
    check_requests(longer, "(limit)\n");
    free(line);
    free(longer);
}

TEST(a_key_without_end_is_refused)
{
    char *key = repeated("k", 5000, ""), *line = malloc(6000);

    sprintf(line, "get %s\r\nget b\r\n", key);
    check_requests(line, "bad CLIENT_ERROR bad command line format\nget key(b)\n");
    free(key);
    free(line);
}

TEST(the_binary_protocol_is_recognized)
{
    check_requests("\x80\x01", "(protocol)\n");
    check_requests("get a\r\n\x80", "get key(a)\n(protocol)\n");
}

TEST(lines_of_all_kinds_may_follow_each_other)
{
    check_requests("version\r\nget a b\r\nmn\r\nnonsense\r\n\r\nquit\r\n",
                   "version\nget key(a)\nget key(b)\nmn\nbad ERROR\nbad ERROR\nquit\n");
}
