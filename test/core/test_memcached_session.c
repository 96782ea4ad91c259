#include "memcached_session.h"

#include "check.h"
#include "memcached_conversation.h"

static struct conversation talk;

static void begin(int direct)
{
    conversation_begin(&talk, 64 << 20, 4 << 20);
    talk.direct = direct;
}

/* What was heard since the last call. */
#define CHECK_HEARD(expected)                                                                                          \
    do {                                                                                                               \
        CHECK_BYTES(expected, pel_buffer_head(&talk.heard), pel_buffer_length(&talk.heard));                           \
        pel_buffer_consume(&talk.heard, pel_buffer_length(&talk.heard));                                               \
    } while (0)

static void say_value(char byte, size_t length)
{
    char *value = malloc(length + 2);

    memset(value, byte, length);
    memcpy(value + length, "\r\n", 2);
    for (size_t at = 0; at < length + 2; at += 30001)
        conversation_say(&talk, value + at, length + 2 - at < 30001 ? length + 2 - at : 30001);
    free(value);
}

static void set(const char *key, char byte, size_t length)
{
    char line[300];

    snprintf(line, sizeof line, "set %s 0 0 %zu\r\n", key, length);
    conversation_text(&talk, line);
    say_value(byte, length);
}

/* A reply of VALUE and END whose value is so many bytes. */
static void check_heard_value(const char *head, char byte, size_t length, const char *tail)
{
    char *bytes = pel_buffer_head(&talk.heard);
    size_t head_length = strlen(head);

    CHECK_INT(head_length + length + strlen(tail), pel_buffer_length(&talk.heard));
    CHECK(!memcmp(head, bytes, head_length));
    for (size_t i = 0; i < length; i++)
        CHECK(bytes[head_length + i] == byte);
    CHECK(!memcmp(tail, bytes + head_length + length, strlen(tail)));
    pel_buffer_consume(&talk.heard, pel_buffer_length(&talk.heard));
}

TEST(large_values_come_and_go_in_both_ways)
{
    static const size_t lengths[] = {16381, 16382, 16383, 16384, 65536, 1000000};

    for (int direct = 0; direct < 2; direct++) {
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            char head[100];
            begin(direct);
            set("a", 'x', lengths[i]);
            CHECK_HEARD("STORED\r\n");
            conversation_text(&talk, "get a b\r\nmg a v k\r\nmn\r\n");
            snprintf(head, sizeof head, "VALUE a 0 %zu\r\n", lengths[i]);
            CHECK(pel_buffer_length(&talk.heard) > 2 * lengths[i]);
            talk.heard.end = talk.heard.start + strlen(head) + lengths[i] + 7;
            check_heard_value(head, 'x', lengths[i], "\r\nEND\r\n");
            conversation_end(&talk);
        }
    }
}

TEST(a_large_value_in_the_middle_of_a_line_keeps_its_place)
{
    begin(1);
    set("a", 'a', 3);
    set("big", 'b', 20000);
    CHECK_HEARD("STORED\r\nSTORED\r\n");
    conversation_text(&talk, "get a big\r\n");
    check_heard_value("VALUE a 0 3\r\naaa\r\nVALUE big 0 20000\r\n", 'b', 20000, "\r\nEND\r\n");
    conversation_text(&talk, "get big a\r\nmn\r\n");
    check_heard_value("VALUE big 0 20000\r\n", 'b', 20000, "\r\nVALUE a 0 3\r\naaa\r\nEND\r\nMN\r\n");
    conversation_end(&talk);
}

TEST(who_does_not_read_is_not_read)
{
    char line[] = "get a\r\n", output[100];
    size_t used = 0, given = 0;

    begin(0);
    set("a", 'x', 1000);
    CHECK_HEARD("STORED\r\n");
    while ((used = pel_memcached_session_receive(&talk.session, line, 7, &talk.output)) == 7)
        given += used;
    CHECK_INT(0, used);
    CHECK(pel_memcached_session_full(&talk.session, &talk.output));
    CHECK(pel_buffer_length(&talk.output) < PEL_MEMCACHED_OUTPUT_LIMIT + PEL_MEMCACHED_REPLY_ROOM);
    CHECK(given < 700);
    CHECK_INT(0, pel_memcached_session_receive(&talk.session, line, 7, &talk.output));
    pel_buffer_consume(&talk.output, pel_buffer_length(&talk.output));
    CHECK_INT(7, pel_memcached_session_receive(&talk.session, line, 7, &talk.output));
    (void)output;
    conversation_end(&talk);
}

TEST(a_line_of_many_keys_stops_where_the_output_is_full)
{
    char line[8000] = "get";
    size_t length, used = 0, pauses = 0;

    begin(0);
    set("a", 'x', 1000);
    CHECK_HEARD("STORED\r\n");
    for (length = 3; length < 6000; length += 2)
        memcpy(line + length, " a", 3);
    memcpy(line + length, "\r\n", 3);
    length += 2;
    while (used < length) {
        used += pel_memcached_session_receive(&talk.session, line + used, length - used, &talk.output);
        CHECK(pel_buffer_length(&talk.output) < PEL_MEMCACHED_OUTPUT_LIMIT + PEL_MEMCACHED_REPLY_ROOM);
        conversation_hear(&talk);
        pauses++;
    }
    CHECK(pauses > 40);
    CHECK_INT((length - 5) / 2 * (16 + 1000 + 2) + 5, (long)pel_buffer_length(&talk.heard));
    conversation_end(&talk);
}

TEST(get_with_ten_thousand_keys)
{
    char *line = malloc(200000);
    size_t length = 3;

    begin(0);
    set("key7777", 'x', 1);
    CHECK_HEARD("STORED\r\n");
    memcpy(line, "get", 3);
    for (int i = 0; i < 10000; i++)
        length += (size_t)sprintf(line + length, " key%d", i);
    memcpy(line + length, "\r\nmn\r\n", 6);
    for (size_t at = 0; at < length + 6; at += 1000)
        conversation_say(&talk, line + at, length + 6 - at < 1000 ? length + 6 - at : 1000);
    CHECK_HEARD("VALUE key7777 0 1\r\nx\r\nEND\r\nMN\r\n");
    CHECK_INT(9999, talk.service.counters.get_misses);
    free(line);
    conversation_end(&talk);
}

TEST(a_line_without_end_is_answered_and_ends_the_conversation)
{
    char bytes[5000];

    begin(0);
    memset(bytes, 'x', sizeof bytes);
    conversation_text(&talk, "mn\r\n");
    conversation_say(&talk, bytes, sizeof bytes);
    CHECK_HEARD("MN\r\nCLIENT_ERROR line too long\r\n");
    CHECK(talk.session.closing);
    conversation_text(&talk, "mn\r\n");
    CHECK_HEARD("");
    conversation_end(&talk);
}

TEST(an_auth_flood_is_refused_and_leaves_nothing_behind)
{
    begin(0);
    for (int i = 0; i < 100; i++) {
        conversation_say(&talk, "\x80\x21\0\5\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\0\0\0\0\0PLAIN\0a\0b", 34);
        CHECK_INT(39, pel_buffer_length(&talk.heard));
        CHECK(!memcmp(pel_buffer_head(&talk.heard) + 24, "Unknown command", 15));
        pel_buffer_consume(&talk.heard, 39);
    }
    CHECK_INT(0, talk.service.store.bytes);
    conversation_end(&talk);
}

TEST(a_connection_is_either_text_or_binary)
{
    begin(0);
    conversation_text(&talk, "mn\r\n");
    conversation_say(&talk, "\x80\x0a", 2);
    CHECK_HEARD("MN\r\nCLIENT_ERROR a connection is either text or binary\r\n");
    CHECK(talk.session.closing);
    conversation_end(&talk);
}

TEST(huge_and_negative_lengths)
{
    begin(0);
    conversation_text(&talk, "set a 0 0 4294967295\r\nset a 0 0 -1\r\nset a 0 0 18446744073709551615\r\n"
                             "set a 0 0 18446744073709551617\r\nms a 4294967295\r\nmn\r\n");
    CHECK_HEARD("CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\n"
                "CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\n"
                "CLIENT_ERROR bad command line format\r\nMN\r\n");
    conversation_text(&talk, "set a 0 0 2147483645\r\n");
    CHECK_HEARD("SERVER_ERROR object too large for cache\r\n");
    CHECK_INT(0, talk.service.store.bytes);
    say_value('x', 1000000); /* thrown away as it comes */
    CHECK_INT(2147483645 + 2 - 1000002, talk.session.swallow);
    CHECK_INT(0, talk.service.store.bytes);
    conversation_end(&talk);
}

TEST(what_is_being_sent_may_be_evicted_replaced_and_flushed)
{
    struct pel_slice value;
    struct pel_item *item;

    begin(1);
    set("a", 'x', 100000);
    CHECK_HEARD("STORED\r\n");
    CHECK_INT(7, pel_memcached_session_receive(&talk.session, "get a\r\n", 7, &talk.output));
    item = pel_memcached_session_value(&talk.session, &value);
    CHECK_INT(100002, value.length);
    pel_store_remove(&talk.service.store, pel_store_find(&talk.service.store, (struct pel_slice){"a", 1}));
    pel_store_flush(&talk.service.store, 0);
    CHECK_INT(0, talk.service.store.linked_bytes);
    CHECK(talk.service.store.bytes > 100000);
    for (size_t i = 0; i < 100000; i++)
        CHECK(value.bytes[i] == 'x');
    pel_store_release(&talk.service.store, item);
    CHECK_INT(0, talk.service.store.bytes);
    conversation_text(&talk, "mn\r\n");
    CHECK_HEARD("VALUE a 0 100000\r\nEND\r\nMN\r\n");
    conversation_end(&talk);
}

TEST(an_end_in_the_middle_gives_everything_back)
{
    begin(1);
    set("a", 'x', 100000);
    conversation_text(&talk, "set b 0 0 100000\r\nabc");
    CHECK(talk.session.upload);
    pel_memcached_session_end(&talk.session);
    pel_memcached_session_init(&talk.session, &talk.service);
    pel_memcached_session_receive(&talk.session, "get a\r\n", 7, &talk.output);
    CHECK(talk.session.download);
    conversation_end(&talk); /* checks that nothing is left */
}

TEST(no_memory_is_told_and_the_value_thrown_away)
{
    struct pel_memcached_session other[20];
    int count = 0;

    begin(0);
    for (; count < 20; count++) { /* values that are announced and never sent */
        pel_memcached_session_init(&other[count], &talk.service);
        pel_memcached_session_receive(&other[count], "set u 0 0 4000000\r\n", 19, &talk.output);
        if (!other[count].upload)
            break;
    }
    CHECK(count > 5 && count < 20);
    pel_buffer_consume(&talk.output, pel_buffer_length(&talk.output));
    set("a", 'x', 3000000);
    conversation_text(&talk, "ms a 3000000 q k\r\n");
    say_value('x', 3000000);
    conversation_text(&talk, "set a 0 0 1\r\n1\r\nget a\r\n");
    CHECK_HEARD("SERVER_ERROR out of memory storing object\r\nSERVER_ERROR out of memory storing object\r\n"
                "STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
    while (count >= 0)
        pel_memcached_session_end(&other[count--]);
    conversation_end(&talk);
}

TEST(many_commands_are_answered_in_order)
{
    char *script = malloc(1000000), *expected = malloc(1000000);
    size_t length = 0, expected_length = 0;

    begin(0);
    for (int i = 0; i < 5000; i++) {
        length += (size_t)sprintf(script + length, "set k%d 0 0 4\r\n%04d\r\nget k%d\r\n", i % 100, i, i % 100);
        expected_length +=
            (size_t)sprintf(expected + expected_length, "STORED\r\nVALUE k%d 0 4\r\n%04d\r\nEND\r\n", i % 100, i);
    }
    conversation_say(&talk, script, length);
    CHECK_HEARD(expected);
    free(script);
    free(expected);
    conversation_end(&talk);
}
