#include "check.h"
#include "core/base/error.h"
#include "core/memcached/memcached_parser.h"

/* test_memcached_parser.c tests the grammar's corner cases, with each line split at every position. */

#define F(letter) PEL_MEMCACHED_FLAG(letter)

static struct pel_memcached_reply reply;

static int parse(const char *line)
{
    memset(&reply, 0xa5, sizeof(reply));
    return pel__memcached_parse_line((struct pel_slice){line, strlen(line)}, &reply);
}

TEST(every_word_has_its_kind)
{
    static const struct {
        const char *line;
        enum pel_memcached_kind kind;
    } lines[] = {
        {"VA 1", PEL_MEMCACHED_VA},
        {"HD", PEL_MEMCACHED_HD},
        {"EN", PEL_MEMCACHED_EN},
        {"NF", PEL_MEMCACHED_NF},
        {"NS", PEL_MEMCACHED_NS},
        {"EX", PEL_MEMCACHED_EX},
        {"MN", PEL_MEMCACHED_MN},
        {"ME key exp=-1", PEL_MEMCACHED_ME},
        {"END", PEL_MEMCACHED_END},
        {"STAT name 1", PEL_MEMCACHED_STAT},
        {"OK", PEL_MEMCACHED_OK},
        {"RESET", PEL_MEMCACHED_RESET},
        {"VERSION 1.6.18", PEL_MEMCACHED_VERSION},
        {"ERROR", PEL_MEMCACHED_ERROR},
        {"CLIENT_ERROR bad", PEL_MEMCACHED_CLIENT_ERROR},
        {"SERVER_ERROR bad", PEL_MEMCACHED_SERVER_ERROR},
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        CHECK_INT(0, parse(lines[i].line));
        CHECK_STRING(pel_memcached_kind_name(lines[i].kind), pel_memcached_kind_name(reply.kind));
    }
}

TEST(a_meta_value_sets_its_fields)
{
    const char *line = "VA 12 f7 c99 t-1 h1 l30 s12 kkey O42 W";

    CHECK_INT(0, parse(line));
    CHECK_INT(12, reply.value_length);
    CHECK(reply.flags == (F('f') | F('c') | F('t') | F('h') | F('l') | F('s') | F('k') | F('O') | F('W')));
    CHECK_INT(7, reply.client_flags);
    CHECK_INT(99, reply.cas);
    CHECK_INT(-1, reply.ttl);
    CHECK_INT(1, reply.hit_before);
    CHECK_INT(30, reply.idle);
    CHECK_INT(12, reply.size);
    CHECK_BYTES("key", reply.key.bytes, reply.key.length);
    CHECK_POINTER(line + 29, reply.key.bytes);
    CHECK_BYTES("42", reply.opaque.bytes, reply.opaque.length);
}

TEST(a_line_without_flags_has_none)
{
    CHECK_INT(0, parse("HD"));
    CHECK(reply.flags == 0);
    CHECK_INT(0, parse("VA 0"));
    CHECK(reply.flags == 0);
    CHECK_INT(0, reply.value_length);
}

TEST(the_rest_of_a_line_is_its_text)
{
    CHECK_INT(0, parse("STAT name a b"));
    CHECK_BYTES("name", reply.key.bytes, reply.key.length);
    CHECK_BYTES("a b", reply.text.bytes, reply.text.length);
    CHECK_INT(0, parse("SERVER_ERROR out of memory"));
    CHECK_BYTES("out of memory", reply.text.bytes, reply.text.length);
    CHECK_INT(0, parse("ERROR"));
    CHECK_INT(0, reply.text.length);
}

TEST(malformed_lines_are_refused)
{
    static const char *const lines[] = {
        "",          " ",       "HELLO",     "hd",     "HD  ",           "HD  W",
        "VA",        "VA x",    "VA -1",     "END 1",  "VALUE k 0 1",    "STORED",
        "NOT_FOUND", "17",      "HD c",      "HD t-2", "HD h2",          "STAT",
        "STAT ",     "STAT  1", "STAT \x7f", "ME ",    "HD f4294967296", "VA 99999999999999999999"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (parse(lines[i]) != PEL_EPROTOCOL)
            CHECK_FAIL("accepted: \"%s\"", lines[i]);
    }
}
