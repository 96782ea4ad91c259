#include "memcached_server/session_fixture.h"

SESSION_TEST(a_session_with_a_full_output_consumes_nothing)
{
    char line[] = "get a\r\n";
    size_t used = 0, given = 0;

    set("a", 'x', 1000);
    CHECK_REPLIES("STORED\r\n");
    while ((used = pel_memcached_session_receive(&talk.session, line, 7, &talk.output)) == 7)
        given += used;
    CHECK_INT(0, used);
    CHECK(pel_memcached_session_full(&talk.session, &talk.output));
    CHECK(pel_buffer_length(&talk.output) < PEL_MEMCACHED_OUTPUT_LIMIT + PEL_MEMCACHED_REPLY_SPACE);
    CHECK(given < 700);
    CHECK_INT(0, pel_memcached_session_receive(&talk.session, line, 7, &talk.output));
    pel_buffer_consume(&talk.output, pel_buffer_length(&talk.output));
    CHECK_INT(7, pel_memcached_session_receive(&talk.session, line, 7, &talk.output));
}

SESSION_TEST(a_line_of_many_keys_stops_where_the_output_is_full)
{
    char line[8000] = "get";
    size_t length, used = 0, pauses = 0;

    set("a", 'x', 1000);
    CHECK_REPLIES("STORED\r\n");
    for (length = 3; length < 6000; length += 2)
        memcpy(line + length, " a", 3);
    memcpy(line + length, "\r\n", 3);
    length += 2;
    while (used < length) {
        used += pel_memcached_session_receive(&talk.session, line + used, length - used, &talk.output);
        CHECK(pel_buffer_length(&talk.output) < PEL_MEMCACHED_OUTPUT_LIMIT + PEL_MEMCACHED_REPLY_SPACE);
        conversation_read(&talk);
        pauses++;
    }
    CHECK(pauses > 40);
    CHECK_INT((length - 5) / 2 * (16 + 1000 + 2) + 5, (long)pel_buffer_length(&talk.received));
}

SESSION_TEST(a_get_may_have_ten_thousand_keys)
{
    char *line = malloc(200000);
    size_t length = 3;

    set("key7777", 'x', 1);
    CHECK_REPLIES("STORED\r\n");
    memcpy(line, "get", 3);
    for (int i = 0; i < 10000; i++)
        length += (size_t)sprintf(line + length, " key%d", i);
    memcpy(line + length, "\r\nmn\r\n", 6);
    for (size_t at = 0; at < length + 6; at += 1000)
        conversation_send(&talk, line + at, length + 6 - at < 1000 ? length + 6 - at : 1000);
    CHECK_REPLIES("VALUE key7777 0 1\r\nx\r\nEND\r\nMN\r\n");
    CHECK_INT(9999, talk.service.counters.get_misses);
    free(line);
}

SESSION_TEST(a_line_without_end_is_refused_and_ends_the_session)
{
    char bytes[5000];

    memset(bytes, 'x', sizeof bytes);
    conversation_send_text(&talk, "mn\r\n");
    conversation_send(&talk, bytes, sizeof bytes);
    CHECK_REPLIES("MN\r\nCLIENT_ERROR line too long\r\n");
    CHECK(talk.session.closing);
    conversation_send_text(&talk, "mn\r\n");
    CHECK_REPLIES("");
}

SESSION_TEST(the_binary_protocol_is_refused_by_a_line_of_text)
{
    conversation_send_text(&talk, "mn\r\n");
    conversation_send(&talk, "\x80\x0a", 2);
    CHECK_REPLIES("MN\r\nCLIENT_ERROR the binary protocol is not supported\r\n");
    CHECK(talk.session.closing);
}

SESSION_TEST(huge_and_negative_lengths_are_refused)
{
    conversation_send_text(&talk, "set a 0 0 4294967295\r\nset a 0 0 -1\r\nset a 0 0 18446744073709551615\r\n"
                                  "set a 0 0 18446744073709551617\r\nms a 4294967295\r\nmn\r\n");
    CHECK_REPLIES("CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\n"
                  "CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\n"
                  "CLIENT_ERROR bad command line format\r\nMN\r\n");
    conversation_send_text(&talk, "set a 0 0 2147483645\r\n");
    CHECK_REPLIES("SERVER_ERROR object too large for cache\r\n");
    CHECK_INT(0, talk.service.store.bytes);
    send_value('x', 1000000); /* discarded as it arrives */
    CHECK_INT(2147483645 + 2 - 1000002, talk.session.swallow);
    CHECK_INT(0, talk.service.store.bytes);
}

TEST(ending_a_session_releases_its_items)
{
    begin(1);
    set("a", 'x', 100000);
    conversation_send_text(&talk, "set b 0 0 100000\r\nabc");
    CHECK(talk.session.upload);
    pel_memcached_session_end(&talk.session);
    pel_memcached_session_init(&talk.session, &talk.service);
    pel_memcached_session_receive(&talk.session, "get a\r\n", 7, &talk.output);
    CHECK(talk.session.download);
    conversation_end(&talk); /* checks that no memory is left */
}

SESSION_TEST(many_commands_get_their_replies_in_order)
{
    char *script = malloc(1000000), *expected = malloc(1000000);
    size_t length = 0, expected_length = 0;

    for (int i = 0; i < 5000; i++) {
        length += (size_t)sprintf(script + length, "set k%d 0 0 4\r\n%04d\r\nget k%d\r\n", i % 100, i, i % 100);
        expected_length +=
            (size_t)sprintf(expected + expected_length, "STORED\r\nVALUE k%d 0 4\r\n%04d\r\nEND\r\n", i % 100, i);
    }
    conversation_send(&talk, script, length);
    CHECK_REPLIES(expected);
    free(script);
    free(expected);
}
