#pragma once

/* Shared by the tests of sessions and transfers: one client, and values of any length. */
#include "check.h"
#include "memcached_server/conversation.h"

static struct conversation talk;

static void begin(int direct)
{
    conversation_begin(&talk, 64 << 20, 4 << 20);
    talk.direct = direct;
}

#define SESSION_TEST(title) TEST_BETWEEN(begin(0), title, conversation_end(&talk))

#define DIRECT_TEST(title) TEST_BETWEEN(begin(1), title, conversation_end(&talk))

/* Checks all replies since the last call. */
#define CHECK_REPLIES(expected)                                                                                        \
    do {                                                                                                               \
        CHECK_BYTES(expected, pel_buffer_head(&talk.received), pel_buffer_length(&talk.received));                     \
        pel_buffer_consume(&talk.received, pel_buffer_length(&talk.received));                                         \
    } while (0)

static void send_value(char byte, size_t length)
{
    char *value = malloc(length + 2);

    memset(value, byte, length);
    memcpy(value + length, "\r\n", 2);
    for (size_t at = 0; at < length + 2; at += 30001)
        conversation_send(&talk, value + at, length + 2 - at < 30001 ? length + 2 - at : 30001);
    free(value);
}

static void set(const char *key, char byte, size_t length)
{
    char line[300];

    snprintf(line, sizeof line, "set %s 0 0 %zu\r\n", key, length);
    conversation_send_text(&talk, line);
    send_value(byte, length);
}
