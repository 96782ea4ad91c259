#include "memcached_server/session_fixture.h"

/* Checks a reply of VALUE and END with a value of `length` bytes. */
static void check_value_reply(const char *head, char byte, size_t length, const char *tail)
{
    char *bytes = pel_buffer_head(&talk.received);
    size_t head_size = strlen(head);

    CHECK_INT(head_size + length + strlen(tail), pel_buffer_length(&talk.received));
    CHECK(!memcmp(head, bytes, head_size));
    for (size_t i = 0; i < length; i++)
        CHECK(bytes[head_size + i] == byte);
    CHECK(!memcmp(tail, bytes + head_size + length, strlen(tail)));
    pel_buffer_consume(&talk.received, pel_buffer_length(&talk.received));
}

SESSION_TEST(an_upload_offers_the_memory_of_its_item)
{
    char *at = NULL;

    CHECK_INT(0, pel_memcached_upload_space(&talk.session, &at));
    conversation_send_text(&talk, "set a 0 0 3\r\n");
    CHECK_INT(5, pel_memcached_upload_space(&talk.session, &at));
    CHECK_POINTER(pel_item_value(talk.session.upload), at);
    memcpy(at, "one", 3);
    pel_memcached_upload_commit(&talk.session, 3);
    CHECK_INT(2, pel_memcached_upload_space(&talk.session, &at));
    conversation_send_text(&talk, "\r\nget a\r\n");
    CHECK_REPLIES("STORED\r\nVALUE a 0 3\r\none\r\nEND\r\n");
}

TEST(large_values_are_transferred_directly_or_through_the_session)
{
    static const size_t lengths[] = {16381, 16382, 16383, 16384, 65536, 1000000};

    for (int direct = 0; direct < 2; direct++) {
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            char head[100];
            begin(direct);
            set("a", 'x', lengths[i]);
            CHECK_REPLIES("STORED\r\n");
            conversation_send_text(&talk, "get a b\r\nmg a v k\r\nmn\r\n");
            snprintf(head, sizeof head, "VALUE a 0 %zu\r\n", lengths[i]);
            CHECK(pel_buffer_length(&talk.received) > 2 * lengths[i]);
            talk.received.end = talk.received.start + strlen(head) + lengths[i] + 7;
            check_value_reply(head, 'x', lengths[i], "\r\nEND\r\n");
            conversation_end(&talk);
        }
    }
}

DIRECT_TEST(a_large_value_keeps_its_position_among_other_replies)
{
    set("a", 'a', 3);
    set("big", 'b', 20000);
    CHECK_REPLIES("STORED\r\nSTORED\r\n");
    conversation_send_text(&talk, "get a big\r\n");
    check_value_reply("VALUE a 0 3\r\naaa\r\nVALUE big 0 20000\r\n", 'b', 20000, "\r\nEND\r\n");
    conversation_send_text(&talk, "get big a\r\nmn\r\n");
    check_value_reply("VALUE big 0 20000\r\n", 'b', 20000, "\r\nVALUE a 0 3\r\naaa\r\nEND\r\nMN\r\n");
}

DIRECT_TEST(an_item_that_is_being_sent_may_be_removed_and_flushed)
{
    struct pel_slice value;
    struct pel_item *item;

    set("a", 'x', 100000);
    CHECK_REPLIES("STORED\r\n");
    CHECK_INT(7, pel_memcached_session_receive(&talk.session, "get a\r\n", 7, &talk.output));
    item = pel_memcached_download_take(&talk.session, &value);
    CHECK_INT(100002, value.length);
    pel_store_remove(&talk.service.store, pel_store_find(&talk.service.store, (struct pel_slice){"a", 1}));
    pel_store_flush(&talk.service.store, 0);
    CHECK_INT(0, talk.service.store.linked_bytes);
    CHECK(talk.service.store.bytes > 100000);
    for (size_t i = 0; i < 100000; i++)
        CHECK(value.bytes[i] == 'x');
    pel_store_release(&talk.service.store, item);
    CHECK_INT(0, talk.service.store.bytes);
    conversation_send_text(&talk, "mn\r\n");
    CHECK_REPLIES("VALUE a 0 100000\r\nEND\r\nMN\r\n");
}

SESSION_TEST(without_memory_a_value_is_refused_and_discarded)
{
    struct pel_memcached_session other[20];
    int count = 0;

    for (; count < 20; count++) { /* announces values that are never sent */
        pel_memcached_session_init(&other[count], &talk.service);
        pel_memcached_session_receive(&other[count], "set u 0 0 4000000\r\n", 19, &talk.output);
        if (!other[count].upload)
            break;
    }
    CHECK(count > 5 && count < 20);
    pel_buffer_consume(&talk.output, pel_buffer_length(&talk.output));
    set("a", 'x', 3000000);
    conversation_send_text(&talk, "ms a 3000000 q k\r\n");
    send_value('x', 3000000);
    conversation_send_text(&talk, "set a 0 0 1\r\n1\r\nget a\r\n");
    CHECK_REPLIES("SERVER_ERROR out of memory storing object\r\nSERVER_ERROR out of memory storing object\r\n"
                  "STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
    while (count >= 0)
        pel_memcached_session_end(&other[count--]);
}
