#include "core/memcached_server/binary_request.h"

#include "check.h"
#include "memcached_server/conversation.h"
#include "memcached_server/packet.h"

/* Checks a transcript of a fresh server's replies to packets, sent whole and in pieces: one line for each reply. */

static char sent_bytes[60000], transcript[60000];
static size_t sent_length;

enum { GET, SET, ADD, REPLACE, DELETE, INCR, DECR, QUIT, FLUSH, GETQ, NOOP, VERSION, GETK, GETKQ, APPEND, PREPEND };
enum { STAT = 0x10, SETQ, ADDQ, REPLACEQ, DELETEQ, INCRQ, DECRQ, QUITQ, FLUSHQ, APPENDQ, PREPENDQ };
enum { TOUCH = 0x1c, GAT, GATQ, SASL = 0x21, GATK = 0x23, GATKQ };

static void send_packet(const struct packet *packet)
{
    size_t length = packet_write(PEL_BINARY_MAGIC, packet);

    CHECK(sent_length + length < sizeof sent_bytes);
    memcpy(sent_bytes + sent_length, packet_bytes, length);
    sent_length += length;
}

#define SEND(...) send_packet(&(struct packet){__VA_ARGS__})
#define STORE(code, name, text, ...)                                                                                   \
    SEND(.opcode = code, .extras = "\0\0\0\x05\0\0\0\0", .extras_length = 8, .key = name, .value = text, __VA_ARGS__)
#define COUNT(code, name, extra, ...)                                                                                  \
    SEND(.opcode = code, .extras = extra, .extras_length = 20, .key = name, __VA_ARGS__)
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
static void transcribe(const char *bytes, size_t length)
{
    size_t at = 0;
    char *out = transcript;

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

static void check_pieces(const char *expected, size_t first, size_t piece, int direct, int closing)
{
    static struct conversation talk;
    size_t at = first < sent_length ? first : sent_length;

    conversation_begin(&talk, 8 << 20, 1 << 20);
    talk.direct = direct;
    conversation_send(&talk, sent_bytes, at);
    for (size_t size; at < sent_length; at += size) {
        size = sent_length - at < piece ? sent_length - at : piece;
        conversation_send(&talk, sent_bytes + at, size);
    }
    transcribe(pel_buffer_head(&talk.received), pel_buffer_length(&talk.received));
    CHECK_STRING(expected, transcript);
    CHECK_INT(closing, talk.session.closing);
    conversation_end(&talk);
}

static void check_replies(const char *expected, int closing)
{
    check_pieces(expected, sent_length, sent_length, 0, closing);
    check_pieces(expected, sent_length, sent_length, 1, closing);
    check_pieces(expected, 1, 1, 0, closing);
    check_pieces(expected, 1, 1, 1, closing);
    for (size_t split = 1; split < sent_length; split++)
        check_pieces(expected, split, sent_length, split % 2, closing);
    sent_length = 0;
}

TEST(set_and_get_store_and_return_a_value)
{
    SEND(.opcode = GET, .key = "a");
    STORE(SET, "a", "one", .cas = 0);
    SEND(.opcode = GET, .key = "a");
    SEND(.opcode = GETK, .key = "a");
    SEND(.opcode = GETK, .key = "b");
    STORE(SET, "a", NULL, .cas = 0);
    SEND(.opcode = GET, .key = "a");
    check_replies("00 01 c0 (Not found)\n01 00 c1\n00 00 c1 f5 (one)\n0c 00 c1 f5 k(a) (one)\n0c 01 c0 k(b)\n"
                  "01 00 c2\n00 00 c2 f5\n",
                  0);
}

TEST(quiet_commands_get_replies_only_in_the_unexpected_case)
{
    STORE(SETQ, "a", "1", .cas = 0);
    SEND(.opcode = GETQ, .key = "b");
    SEND(.opcode = GETKQ, .key = "b");
    SEND(.opcode = GETKQ, .key = "a");
    STORE(ADDQ, "a", "2", .cas = 0);
    STORE(REPLACEQ, "b", "2", .cas = 0);
    STORE(REPLACEQ, "a", "3", .cas = 0);
    SEND(.opcode = APPENDQ, .key = "a", .value = "4");
    SEND(.opcode = PREPENDQ, .key = "b", .value = "4");
    COUNT(INCRQ, "a", BY_TWO);
    COUNT(DECRQ, "b", BY_TWO);
    SEND(.opcode = DELETEQ, .key = "b");
    SEND(.opcode = GETQ, .key = "a");
    SEND(.opcode = DELETEQ, .key = "a");
    SEND(.opcode = FLUSHQ);
    SEND(.opcode = NOOP);
    check_replies("0d 00 c1 f5 k(a) (1)\n12 02 c0 (Data exists for key.)\n13 01 c0 (Not found)\n"
                  "1a 05 c0 (Not stored.)\n16 01 c0 (Not found)\n14 01 c0 (Not found)\n09 00 c4 f5 (36)\n0a 00 c0\n",
                  0);
}

TEST(cas_compares_the_number)
{
    STORE(SET, "a", "1", .cas = 1);
    STORE(SET, "a", "1", .cas = 0);
    STORE(SET, "a", "2", .cas = 9);
    STORE(REPLACE, "a", "3", .cas = 1);
    STORE(ADD, "a", "4", .cas = 2);
    SEND(.opcode = APPEND, .key = "a", .value = "x", .cas = 9);
    SEND(.opcode = PREPEND, .key = "a", .value = "x", .cas = 3);
    SEND(.opcode = DELETE, .key = "a", .cas = 9);
    SEND(.opcode = GET, .key = "a");
    SEND(.opcode = DELETE, .key = "a", .cas = 4);
    SEND(.opcode = DELETE, .key = "a", .cas = 4);
    STORE(SET, "a", "2", .cas = 4);
    check_replies("01 01 c0 (Not found)\n01 00 c1\n01 02 c0 (Data exists for key.)\n03 00 c2\n02 00 c3\n"
                  "0e 02 c0 (Data exists for key.)\n0f 00 c4\n04 02 c0 (Data exists for key.)\n00 00 c4 f5 (x4)\n"
                  "04 00 c0\n04 01 c0 (Not found)\n01 01 c0 (Not found)\n",
                  0);
}

TEST(numbers_are_incremented_and_decremented)
{
    COUNT(INCR, "n", BY_TWO);
    COUNT(INCR, "n", BY_TWO_FROM_SEVEN);
    COUNT(INCR, "n", BY_TWO_FROM_SEVEN);
    COUNT(DECR, "n", BY_TWO, .cas = 1);
    COUNT(DECR, "n", BY_TWO, .cas = 2);
    SEND(.opcode = GET, .key = "n");
    COUNT(DECR, "n", "\0\0\0\0\0\0\0\xff\0\0\0\0\0\0\0\0\0\0\0\0");
    STORE(SET, "x", "no number", .cas = 0);
    COUNT(INCR, "x", BY_TWO);
    check_replies("05 01 c0 (Not found)\n05 00 c1 7\n05 00 c2 9\n06 02 c0 (Data exists for key.)\n06 00 c3 7\n"
                  "00 00 c3 f0 (7)\n06 00 c4 0\n01 00 c5\n"
                  "05 06 c0 (Non-numeric server-side value for incr or decr)\n",
                  0);
}

TEST(touch_and_gat_set_the_expiry)
{
    SEND(.opcode = TOUCH, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    SEND(.opcode = GATQ, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    STORE(SET, "a", "1", .cas = 0);
    SEND(.opcode = TOUCH, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    SEND(.opcode = GAT, .key = "a", .extras = "\0\0\0\x0a", .extras_length = 4);
    SEND(.opcode = GATK, .key = "a", .extras = "\0\0\0\0", .extras_length = 4);
    SEND(.opcode = GATKQ, .key = "b", .extras = "\0\0\0\0", .extras_length = 4);
    check_replies("1c 01 c0 (Not found)\n01 00 c1\n1c 00 c1 f5\n1d 00 c1 f5 (1)\n23 00 c1 f5 k(a) (1)\n", 0);
}

TEST(items_expire)
{
    struct pel_item *item;
    static struct conversation talk;

    SEND(.opcode = SET, .extras = "\0\0\0\0\0\0\0\x0a", .extras_length = 8, .key = "a", .value = "1");
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_send(&talk, sent_bytes, sent_length);
    item = pel_store_find(&talk.service.store, (struct pel_slice){"a", 1});
    CHECK_INT(10, pel_store_ttl(&talk.service.store, item));
    sent_length = 0;
    SEND(.opcode = GAT, .extras = "\0\0\0\x64", .extras_length = 4, .key = "a");
    conversation_send(&talk, sent_bytes, sent_length);
    CHECK_INT(100, pel_store_ttl(&talk.service.store, item));
    sent_length = 0;
    conversation_end(&talk);
}

TEST(a_flush_may_be_delayed)
{
    static struct conversation talk;

    STORE(SET, "a", "1", .cas = 0);
    SEND(.opcode = FLUSH, .extras = "\0\0\0\x0a", .extras_length = 4);
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_send(&talk, sent_bytes, sent_length);
    CHECK(pel_store_find(&talk.service.store, (struct pel_slice){"a", 1}));
    pel_store_set_time(&talk.service.store, 10, 1800000010);
    CHECK(!pel_store_find(&talk.service.store, (struct pel_slice){"a", 1}));
    sent_length = 0;
    conversation_end(&talk);
}

TEST(version_noop_and_quit_get_replies)
{
    SEND(.opcode = VERSION);
    SEND(.opcode = NOOP);
    SEND(.opcode = QUIT);
    SEND(.opcode = NOOP);
    check_replies("0b 00 c0 (1.6.18)\n0a 00 c0\n07 00 c0\n", 1);
    SEND(.opcode = QUITQ);
    check_replies("", 1);
}

TEST(stats_send_one_reply_per_line)
{
    static struct conversation talk;

    SEND(.opcode = STAT, .key = "settings");
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_send(&talk, sent_bytes, sent_length);
    transcribe(pel_buffer_head(&talk.received), pel_buffer_length(&talk.received));
    CHECK(strstr(transcript, "10 00 c0 k(item_size_max) (1048576)\n"));
    CHECK_STRING("10 00 c0\n", strstr(transcript, "10 00 c0\n"));
    sent_length = 0;
    conversation_end(&talk);
    SEND(.opcode = STAT, .key = "items");
    SEND(.opcode = STAT, .key = "reset");
    SEND(.opcode = STAT, .key = "detail on");
    SEND(.opcode = STAT, .key = "detail");
    SEND(.opcode = STAT, .key = "nonsense");
    check_replies("10 00 c0\n10 00 c0\n10 00 c0\n10 01 c0 (Not found)\n10 01 c0 (Not found)\n", 0);
}

TEST(unknown_commands_are_refused)
{
    SEND(.opcode = SASL, .key = "PLAIN", .value = "a b c d");
    SEND(.opcode = 0x55, .key = "key", .value = "value");
    SEND(.opcode = NOOP);
    check_replies("21 81 c0 (Unknown command)\n55 81 c0 (Unknown command)\n0a 00 c0\n", 0);
}

TEST(a_malformed_command_ends_the_session)
{
    SEND(.opcode = GET);
    SEND(.opcode = NOOP);
    check_replies("00 04 c0 (Invalid arguments)\n", 1);
    SEND(.opcode = NOOP);
    sent_bytes[sent_length++] = 'x';
    check_replies("0a 00 c0\n", 1);
}

TEST(a_key_that_text_cannot_represent_is_base64_in_text)
{
    static struct conversation talk;

    STORE(SET, "a b", "1", .cas = 0);
    COUNT(INCR, "\r\n", BY_TWO_FROM_SEVEN);
    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_send(&talk, sent_bytes, sent_length);
    pel_buffer_consume(&talk.received, pel_buffer_length(&talk.received));
    pel_memcached_session_init(&talk.session, &talk.service);
    conversation_send_text(&talk, "mg YSBi b k v\r\nmg DQo= b k\r\n");
    CHECK_BYTES("VA 1 kYSBi b\r\n1\r\nHD kDQo= b\r\n", pel_buffer_head(&talk.received),
                pel_buffer_length(&talk.received));
    sent_length = 0;
    conversation_end(&talk);
}

TEST(large_values_are_transferred_without_an_end_of_line)
{
    static struct conversation talk;
    static char value[300000], *received;

    for (int direct = 0; direct < 2; direct++) {
        memset(value, 'v', sizeof value);
        conversation_begin(&talk, 8 << 20, 1 << 20);
        talk.direct = direct;
        STORE(SET, "a", "", .cas = 0);
        sent_bytes[9] = 4, sent_bytes[10] = (char)0x93,
        sent_bytes[11] = (char)(0xe0 + 9); /* 300,000 and key and extras */
        conversation_send(&talk, sent_bytes, sent_length);
        for (size_t at = 0; at < sizeof value; at += 7000)
            conversation_send(&talk, value + at, sizeof value - at < 7000 ? sizeof value - at : 7000);
        sent_length = 0;
        SEND(.opcode = GET, .key = "a");
        SEND(.opcode = NOOP);
        conversation_send(&talk, sent_bytes, sent_length);
        CHECK_INT(24 + 28 + 300000 + 24, (long)pel_buffer_length(&talk.received));
        received = pel_buffer_head(&talk.received) + 24 + 28;
        CHECK(!memcmp(received, value, sizeof value));
        CHECK_INT(NOOP, received[300001]);
        sent_length = 0;
        conversation_end(&talk);
    }
}

TEST(a_too_large_value_is_discarded_and_the_old_one_removed)
{
    static struct conversation talk;
    static char value[2000000];

    conversation_begin(&talk, 8 << 20, 1 << 20);
    STORE(SET, "a", "old", .cas = 0);
    conversation_send(&talk, sent_bytes, sent_length);
    sent_length = 0;
    STORE(SET, "a", "", .cas = 0);
    sent_bytes[9] = 0x1e, sent_bytes[10] = (char)0x84, sent_bytes[11] = (char)(0x80 + 9);
    conversation_send(&talk, sent_bytes, sent_length);
    conversation_send(&talk, value, sizeof value);
    sent_length = 0;
    SEND(.opcode = GET, .key = "a");
    conversation_send(&talk, sent_bytes, sent_length);
    transcribe(pel_buffer_head(&talk.received), pel_buffer_length(&talk.received));
    CHECK_STRING("01 00 c1\n01 03 c0 (Too large.)\n00 01 c0 (Not found)\n", transcript);
    sent_length = 0;
    conversation_end(&talk);
}
