#include "memcached_binary_request.h"

#include "check.h"
#include "memcached_conversation.h"
#include "memcached_packet.h"

/* What a fresh server answers to packets, whole and cut at each place, written down: one line a reply. */

static char said[60000], written[60000];
static size_t said_length;

enum { GET, SET, ADD, REPLACE, DELETE, INCR, DECR, QUIT, FLUSH, GETQ, NOOP, VERSION, GETK, GETKQ, APPEND, PREPEND };
enum { STAT = 0x10, SETQ, ADDQ, REPLACEQ, DELETEQ, INCRQ, DECRQ, QUITQ, FLUSHQ, APPENDQ, PREPENDQ };
enum { TOUCH = 0x1c, GAT, GATQ, SASL = 0x21, GATK = 0x23, GATKQ };

static void say(const struct packet *packet)
{
    size_t length = packet_write(PEL_BINARY_MAGIC, packet);

    CHECK(said_length + length < sizeof said);
    memcpy(said + said_length, packet_bytes, length);
    said_length += length;
}

#define SAY(...) say(&(struct packet){__VA_ARGS__})
#define STORE(code, name, text, ...)                                                                                   \
    SAY(.opcode = code, .extras = "\0\0\0\x05\0\0\0\0", .extras_length = 8, .key = name, .value = text, __VA_ARGS__)
#define COUNT(code, name, extra, ...)                                                                                  \
    SAY(.opcode = code, .extras = extra, .extras_length = 20, .key = name, __VA_ARGS__)
#define BY_TWO_FROM_SEVEN "\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\7\0\0\0\0"
#define BY_TWO "\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\7\xff\xff\xff\xff"

static uint64_t number(const char *bytes, int size)
{
    uint64_t result = 0;

    for (int i = 0; i < size; i++)
        result = result << 8 | (unsigned char)bytes[i];
    return result;
}

/* opcode status cas [flags] key value; a value of eight bytes that begins with NUL is a number. */
static void write_down(const char *bytes, size_t length)
{
    size_t at = 0;
    char *out = written;

    *out = '\0';
    while (at < length) {
        const char *head = bytes + at;
        size_t key = number(head + 2, 2), extras = number(head + 4, 1), body = number(head + 8, 4);
        size_t value = body - key - extras;
        const char *text = head + 24 + extras + key;
        CHECK(length - at >= 24 && (unsigned char)head[0] == 0x81 && length - at >= 24 + body &&
              !memcmp(head + 12, "opaq", 4));
        out += sprintf(out, "%02x %02x c%llu", (unsigned char)head[1], (unsigned)number(head + 6, 2),
                       (unsigned long long)number(head + 16, 8));
        if (extras)
            out += sprintf(out, " f%llu", (unsigned long long)number(head + 24, 4));
        if (key)
            out += sprintf(out, " k(%.*s)", (int)key, head + 24 + extras);
        if (value == 8 && text[0] == '\0')
            out += sprintf(out, " %llu", (unsigned long long)number(text, 8));
        else if (value)
            out += sprintf(out, " (%.*s)", (int)value, text);
        out += sprintf(out, "\n");
        at += 24 + body;
    }
}

static void check_cut(const char *expected, size_t first, size_t piece, int direct, int closing)
{
    static struct conversation talk;
    size_t at = first < said_length ? first : said_length;

    conversation_begin(&talk, 8 << 20, 1 << 20);
    talk.direct = direct;
    conversation_say(&talk, said, at);
    for (size_t size; at < said_length; at += size) {
        size = said_length - at < piece ? said_length - at : piece;
        conversation_say(&talk, said + at, size);
    }
    write_down(pel_buffer_head(&talk.heard), pel_buffer_length(&talk.heard));
    CHECK_STRING(expected, written);
    CHECK_INT(closing, talk.session.closing);
    conversation_end(&talk);
}

static void check_answers(const char *expected, int closing)
{
    check_cut(expected, said_length, said_length, 0, closing);
    check_cut(expected, said_length, said_length, 1, closing);
    check_cut(expected, 1, 1, 0, closing);
    check_cut(expected, 1, 1, 1, closing);
    for (size_t cut = 1; cut < said_length; cut++)
        check_cut(expected, cut, said_length, cut % 2, closing);
    said_length = 0;
}

TEST(set_and_get)
{
    SAY(.opcode = GET, .key = "a");
    STORE(SET, "a", "one", .cas = 0);
    SAY(.opcode = GET, .key = "a");
    SAY(.opcode = GETK, .key = "a");
    SAY(.opcode = GETK, .key = "b");
    STORE(SET, "a", NULL, .cas = 0);
    SAY(.opcode = GET, .key = "a");
    check_answers("00 01 c0 (Not found)\n01 00 c1\n00 00 c1 f5 (one)\n0c 00 c1 f5 k(a) (one)\n0c 01 c0 k(b)\n"
                  "01 00 c2\n00 00 c2 f5\n",
                  0);
}

TEST(quiet_commands_tell_what_was_not_expected)
{
    STORE(SETQ, "a", "1", .cas = 0);
    SAY(.opcode = GETQ, .key = "b");
    SAY(.opcode = GETKQ, .key = "b");
    SAY(.opcode = GETKQ, .key = "a");
    STORE(ADDQ, "a", "2", .cas = 0);
    STORE(REPLACEQ, "b", "2", .cas = 0);
    STORE(REPLACEQ, "a", "3", .cas = 0);
    SAY(.opcode = APPENDQ, .key = "a", .value = "4");
    SAY(.opcode = PREPENDQ, .key = "b", .value = "4");
    COUNT(INCRQ, "a", BY_TWO);
    COUNT(DECRQ, "b", BY_TWO);
    SAY(.opcode = DELETEQ, .key = "b");
    SAY(.opcode = GETQ, .key = "a");
    SAY(.opcode = DELETEQ, .key = "a");
    SAY(.opcode = FLUSHQ);
    SAY(.opcode = NOOP);
    check_answers("0d 00 c1 f5 k(a) (1)\n12 02 c0 (Data exists for key.)\n13 01 c0 (Not found)\n"
                  "1a 05 c0 (Not stored.)\n16 01 c0 (Not found)\n14 01 c0 (Not found)\n09 00 c4 f5 (36)\n0a 00 c0\n",
                  0);
}

TEST(cas)
{
    STORE(SET, "a", "1", .cas = 1);
    STORE(SET, "a", "1", .cas = 0);
    STORE(SET, "a", "2", .cas = 9);
    STORE(REPLACE, "a", "3", .cas = 1);
    STORE(ADD, "a", "4", .cas = 2);
    SAY(.opcode = APPEND, .key = "a", .value = "x", .cas = 9);
    SAY(.opcode = PREPEND, .key = "a", .value = "x", .cas = 3);
    SAY(.opcode = DELETE, .key = "a", .cas = 9);
    SAY(.opcode = GET, .key = "a");
    SAY(.opcode = DELETE, .key = "a", .cas = 4);
    SAY(.opcode = DELETE, .key = "a", .cas = 4);
    STORE(SET, "a", "2", .cas = 4);
    check_answers("01 01 c0 (Not found)\n01 00 c1\n01 02 c0 (Data exists for key.)\n03 00 c2\n02 00 c3\n"
                  "0e 02 c0 (Data exists for key.)\n0f 00 c4\n04 02 c0 (Data exists for key.)\n00 00 c4 f5 (x4)\n"
                  "04 00 c0\n04 01 c0 (Not found)\n01 01 c0 (Not found)\n",
                  0);
}

TEST(numbers)
{
    COUNT(INCR, "n", BY_TWO);
    COUNT(INCR, "n", BY_TWO_FROM_SEVEN);
    COUNT(INCR, "n", BY_TWO_FROM_SEVEN);
    COUNT(DECR, "n", BY_TWO, .cas = 1);
    COUNT(DECR, "n", BY_TWO, .cas = 2);
    SAY(.opcode = GET, .key = "n");
    COUNT(DECR, "n", "\0\0\0\0\0\0\0\xff\0\0\0\0\0\0\0\0\0\0\0\0");
    STORE(SET, "x", "no number", .cas = 0);
    COUNT(INCR, "x", BY_TWO);
    check_answers("05 01 c0 (Not found)\n05 00 c1 7\n05 00 c2 9\n06 02 c0 (Data exists for key.)\n06 00 c3 7\n"
                  "00 00 c3 f0 (7)\n06 00 c4 0\n01 00 c5\n"
                  "05 06 c0 (Non-numeric server-side value for incr or decr)\n",
                  0);
}

TEST(touch_and_gat)
{
    SAY(.opcode = TOUCH, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    SAY(.opcode = GATQ, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    STORE(SET, "a", "1", .cas = 0);
    SAY(.opcode = TOUCH, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    SAY(.opcode = GAT, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    SAY(.opcode = GATK, .key = "a", .extras = "\0\0\0\0", .extras_length = 4);
    SAY(.opcode = GATKQ, .key = "b", .extras = "\0\0\0\0", .extras_length = 4);
    check_answers("1c 01 c0 (Not found)\n01 00 c1\n1c 00 c1 f5\n1d 00 c1 f5 (1)\n23 00 c1 f5 k(a) (1)\n", 0);
}

TEST(expiry)
{
    struct pel_item *item;
    static struct conversation talk;

    SAY(.opcode = SET, .extras = "\0\0\0\0\0\0\0\x0a", .extras_length = 8, .key = "a", .value = "1");
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_say(&talk, said, said_length);
    item = pel_store_find(&talk.service.store, (struct pel_slice){"a", 1});
    CHECK_INT(10, pel_store_ttl(&talk.service.store, item));
    said_length = 0;
    SAY(.opcode = GAT, .extras = "\0\0\0\x64", .extras_length = 4, .key = "a");
    conversation_say(&talk, said, said_length);
    CHECK_INT(100, pel_store_ttl(&talk.service.store, item));
    said_length = 0;
    conversation_end(&talk);
}

TEST(flush_with_a_delay)
{
    static struct conversation talk;

    STORE(SET, "a", "1", .cas = 0);
    SAY(.opcode = FLUSH, .extras = "\0\0\0\x0a", .extras_length = 4);
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_say(&talk, said, said_length);
    CHECK(pel_store_find(&talk.service.store, (struct pel_slice){"a", 1}));
    pel_store_set_time(&talk.service.store, 10, 1800000010);
    CHECK(!pel_store_find(&talk.service.store, (struct pel_slice){"a", 1}));
    said_length = 0;
    conversation_end(&talk);
}

TEST(version_noop_and_quit)
{
    SAY(.opcode = VERSION);
    SAY(.opcode = NOOP);
    SAY(.opcode = QUIT);
    SAY(.opcode = NOOP);
    check_answers("0b 00 c0 (1.6.18)\n0a 00 c0\n07 00 c0\n", 1);
    SAY(.opcode = QUITQ);
    check_answers("", 1);
}

TEST(stats)
{
    static struct conversation talk;

    SAY(.opcode = STAT, .key = "settings");
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_say(&talk, said, said_length);
    write_down(pel_buffer_head(&talk.heard), pel_buffer_length(&talk.heard));
    CHECK(strstr(written, "10 00 c0 k(item_size_max) (1048576)\n"));
    CHECK_STRING("10 00 c0\n", strstr(written, "10 00 c0\n"));
    said_length = 0;
    conversation_end(&talk);
    SAY(.opcode = STAT, .key = "items");
    SAY(.opcode = STAT, .key = "reset");
    SAY(.opcode = STAT, .key = "detail on");
    SAY(.opcode = STAT, .key = "detail");
    SAY(.opcode = STAT, .key = "nonsense");
    check_answers("10 00 c0\n10 00 c0\n10 00 c0\n10 01 c0 (Not found)\n10 01 c0 (Not found)\n", 0);
}

TEST(what_is_unknown)
{
    SAY(.opcode = SASL, .key = "PLAIN", .value = "a b c d");
    SAY(.opcode = 0x55, .key = "key", .value = "value");
    SAY(.opcode = NOOP);
    check_answers("21 81 c0 (Unknown command)\n55 81 c0 (Unknown command)\n0a 00 c0\n", 0);
}

TEST(what_is_wrong_ends_the_conversation)
{
    SAY(.opcode = GET);
    SAY(.opcode = NOOP);
    check_answers("00 04 c0 (Invalid arguments)\n", 1);
    SAY(.opcode = NOOP);
    said[said_length++] = 'x';
    check_answers("0a 00 c0\n", 1);
}

TEST(a_key_that_text_cannot_say_is_known_there_by_its_base64)
{
    static struct conversation talk;

    STORE(SET, "a b", "1", .cas = 0);
    COUNT(INCR, "\r\n", BY_TWO_FROM_SEVEN);
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_say(&talk, said, said_length);
    pel_buffer_consume(&talk.heard, pel_buffer_length(&talk.heard));
    pel_memcached_session_init(&talk.session, &talk.service);
    conversation_text(&talk, "mg YSBi b k v\r\nmg DQo= b k\r\n");
    CHECK_BYTES("VA 1 kYSBi b\r\n1\r\nHD kDQo= b\r\n", pel_buffer_head(&talk.heard), pel_buffer_length(&talk.heard));
    said_length = 0;
    conversation_end(&talk);
}

TEST(large_values_come_and_go_without_an_end_of_line)
{
    static struct conversation talk;
    static char value[300000], *heard;

    for (int direct = 0; direct < 2; direct++) {
        memset(value, 'v', sizeof value);
        conversation_begin(&talk, 8 << 20, 1 << 20);
        talk.direct = direct;
        STORE(SET, "a", "", .cas = 0);
        said[9] = 4, said[10] = (char)0x93, said[11] = (char)(0xe0 + 9); /* 300,000 and key and extras */
        conversation_say(&talk, said, said_length);
        for (size_t at = 0; at < sizeof value; at += 7000)
            conversation_say(&talk, value + at, sizeof value - at < 7000 ? sizeof value - at : 7000);
        said_length = 0;
        SAY(.opcode = GET, .key = "a");
        SAY(.opcode = NOOP);
        conversation_say(&talk, said, said_length);
        CHECK_INT(24 + 28 + 300000 + 24, (long)pel_buffer_length(&talk.heard));
        heard = pel_buffer_head(&talk.heard) + 24 + 28;
        CHECK(!memcmp(heard, value, sizeof value));
        CHECK_INT(NOOP, heard[300001]);
        said_length = 0;
        conversation_end(&talk);
    }
}

TEST(a_value_that_is_too_large_is_thrown_away_and_so_is_the_old_one)
{
    static struct conversation talk;
    static char value[2000000];

    conversation_begin(&talk, 8 << 20, 1 << 20);
    STORE(SET, "a", "old", .cas = 0);
    conversation_say(&talk, said, said_length);
    said_length = 0;
    STORE(SET, "a", "", .cas = 0);
    said[9] = 0x1e, said[10] = (char)0x84, said[11] = (char)(0x80 + 9);
    conversation_say(&talk, said, said_length);
    conversation_say(&talk, value, sizeof value);
    said_length = 0;
    SAY(.opcode = GET, .key = "a");
    conversation_say(&talk, said, said_length);
    write_down(pel_buffer_head(&talk.heard), pel_buffer_length(&talk.heard));
    CHECK_STRING("01 00 c1\n01 03 c0 (Too large.)\n00 01 c0 (Not found)\n", written);
    said_length = 0;
    conversation_end(&talk);
}
