#include "core/memcached_server/request_parser.h"

#include "memcached_server/request_transcript.h"

#define BAD_FORMAT "bad CLIENT_ERROR bad command line format"

static char long_key[252];

static void make_long_key(void)
{
    memset(long_key, 'k', 251);
}

TEST(storage_commands_are_parsed)
{
    check_requests("set a 1 2 3\r\n", "set key(a) flags=1 expiry=2 length=3\n");
    check_requests("add a 4294967295 -1 0\r\n", "add key(a) flags=4294967295 expiry=-1 length=0\n");
    check_requests("replace a 0 2147483647 2147483645\r\n",
                   "replace key(a) flags=0 expiry=2147483647 length=2147483645\n");
    check_requests("append a 0 0 1 noreply\r\n", "append key(a) flags=0 expiry=0 length=1 noreply\n");
    check_requests("prepend a 0 0 1 other\r\n", "prepend key(a) flags=0 expiry=0 length=1\n");
    check_requests("cas a 0 0 1 18446744073709551615\r\n",
                   "cas cas=18446744073709551615 key(a) flags=0 expiry=0 length=1\n");
    check_requests("cas a 0 0 1 5 noreply\r\n", "cas cas=5 key(a) flags=0 expiry=0 length=1 noreply\n");
}

TEST(storage_commands_with_too_few_or_many_words_are_refused)
{
    CHECK_REQUESTS("bad ERROR\n", "set\r\n", "set a 0 0\r\n", "set a 0 0 1 noreply more\r\n", "cas a 0 0 1\r\n",
                   "cas a 0 0 1 2 3 4\r\n");
}

TEST(huge_and_negative_lengths_are_refused)
{
    CHECK_REQUESTS(BAD_FORMAT "\n", "set a 0 0 4294967295\r\n", "set a 0 0 4294967297\r\n", "set a 0 0 2147483646\r\n",
                   "set a 0 0 99999999999999999999\r\n", "set a 0 0 -1\r\n");
}

TEST(malformed_numbers_are_refused)
{
    CHECK_REQUESTS(BAD_FORMAT "\n", "set a +1 0 1\r\n", "set a 0x1 0 1\r\n", "set a 1a 0 1\r\n", "set a -1 0 1\r\n",
                   "set a 4294967296 0 1\r\n", "set a 0 2147483648 1\r\n", "set a 0 -2147483649 1\r\n");
    check_requests("set a 0 -2147483648 1\r\n", "set key(a) flags=0 expiry=-2147483648 length=1\n");
    CHECK_REQUESTS(BAD_FORMAT "\n", "set a 0 - 1\r\n", "cas a 0 0 1 x\r\n", "cas a 0 0 1 18446744073709551616\r\n");
}

TEST(an_error_keeps_noreply)
{
    check_requests("set a x 0 1 noreply\r\n", BAD_FORMAT " noreply\n");
    check_requests("incr a x noreply\r\n", "bad CLIENT_ERROR invalid numeric delta argument noreply\n");
    check_requests("set noreply\r\n", "bad ERROR\n"); /* not where it belongs */
}

TEST(too_long_keys_are_refused)
{
    char line[300], expected[300];

    make_long_key();
    snprintf(line, sizeof line, "set %s 0 0 1\r\n", long_key + 1);
    snprintf(expected, sizeof expected, "set key(%s) flags=0 expiry=0 length=1\n", long_key + 1);
    check_requests(line, expected);
    snprintf(line, sizeof line, "set %s 0 0 1\r\n", long_key);
    check_requests(line, BAD_FORMAT "\n");
    snprintf(line, sizeof line, "delete %s\r\n", long_key);
    check_requests(line, BAD_FORMAT "\n");
    snprintf(line, sizeof line, "delete %s\r\n", long_key + 1);
    snprintf(expected, sizeof expected, "delete key(%s)\n", long_key + 1);
    check_requests(line, expected);
}

TEST(arithmetic_and_touch_are_parsed)
{
    check_requests("incr a 18446744073709551615\r\n", "incr key(a) delta=18446744073709551615\n");
    check_requests("decr a 1 noreply\r\n", "decr key(a) delta=1 noreply\n");
    CHECK_REQUESTS("bad CLIENT_ERROR invalid numeric delta argument\n", "incr a 18446744073709551616\r\n",
                   "incr a -1\r\n");
    check_requests("incr a\r\n", "bad ERROR\n");
    check_requests("touch a 10 noreply\r\n", "touch key(a) expiry=10 noreply\n");
    CHECK_REQUESTS("bad CLIENT_ERROR invalid exptime argument\n", "touch a ten\r\n", "touch a 9999999999\r\n");
    check_requests("touch a\r\n", "bad ERROR\n");
}

TEST(delete_may_have_a_zero)
{
    static const char usage[] = "bad CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\n";

    CHECK_REQUESTS("delete key(a)\n", "delete a\r\n", "delete a 0\r\n");
    CHECK_REQUESTS("delete key(a) noreply\n", "delete a noreply\r\n", "delete a 0 noreply\r\n");
    CHECK_REQUESTS(usage, "delete a 1\r\n", "delete a 0 0\r\n");
    check_requests("delete a 1 noreply\r\n",
                   "bad CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply] noreply\n");
    CHECK_REQUESTS("bad ERROR\n", "delete\r\n", "delete a 0 noreply more\r\n");
}

TEST(flush_all_may_have_a_delay)
{
    check_requests("flush_all\r\n", "flush_all expiry=0\n");
    check_requests("flush_all 10\r\n", "flush_all expiry=10\n");
    check_requests("flush_all noreply\r\n", "flush_all expiry=0 noreply\n");
    check_requests("flush_all 10 noreply\r\n", "flush_all expiry=10 noreply\n");
    check_requests("flush_all x\r\n", "bad CLIENT_ERROR invalid exptime argument\n");
    check_requests("flush_all 1 2 3\r\n", "bad ERROR\n");
}

TEST(commands_about_the_server_are_parsed)
{
    check_requests("version\r\n", "version\n");
    check_requests("stats\r\n", "stats\n");
    check_requests("stats cachedump 1 100\r\n", "stats word(cachedump) word(1) word(100)\n");
    check_requests("verbosity 1\r\n", "verbosity 1\n");
    check_requests("verbosity 1 noreply\r\n", "verbosity 1 noreply\n");
    check_requests("verbosity\r\n", "bad ERROR\n");
    check_requests("verbosity x\r\n", BAD_FORMAT "\n");
    check_requests("cache_memlimit 64\r\n", "cache_memlimit 64\n");
    check_requests("cache_memlimit x\r\n", "bad ERROR\n");
    check_requests("shutdown\r\nquit\r\n", "shutdown\nquit\n");
}

TEST(unknown_commands_are_refused)
{
    CHECK_REQUESTS("bad ERROR\n", "\r\n", "\n", "   \r\n", "x\r\n", "SET a 0 0 1\r\n", "getx a\r\n",
                   "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25\r\n");
    check_requests("GET / HTTP/1.1\r\n", "bad (close)\n");
}

TEST(keys_may_contain_most_control_characters)
{
    check_requests("delete a\x10\x7f\r\n", "delete key(a\x10\x7f)\n");
    check_requests("delete a\tb\r\n", "delete key(a\tb)\n");
    check_requests("get a\tb \x01\r\n", "get key(a\tb)\nget key(\x01)\n");
    check_requests("delete a\rb\r\n", BAD_FORMAT "\n");
}

TEST(a_nul_is_refused)
{
    char *text = transcribe("set a\0b 0 0 1\r\n", 15, 15, 1);

    check_transcript(BAD_FORMAT "\n", text, 0);
}
