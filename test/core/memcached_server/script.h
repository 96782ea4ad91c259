#pragma once

/* Checks the replies of a fresh server to a text, sent whole and in pieces. */

#include "check.h"
#include "memcached_server/conversation.h"

static void check_script_pieces(const char *sent_bytes, const char *expected, size_t first, size_t piece, int direct)
{
    static struct conversation talk;
    size_t length = strlen(sent_bytes), at = first < length ? first : length;

    conversation_begin(&talk, 8 << 20, 1 << 20);
    talk.direct = direct;
    conversation_send(&talk, sent_bytes, at);
    for (size_t size; at < length; at += size) {
        size = length - at < piece ? length - at : piece;
        conversation_send(&talk, sent_bytes + at, size);
    }
    CHECK_BYTES(expected, pel_buffer_head(&talk.received), pel_buffer_length(&talk.received));
    conversation_end(&talk);
}

static void check_script(const char *sent_bytes, const char *expected)
{
    size_t length = strlen(sent_bytes);

    check_script_pieces(sent_bytes, expected, length, length, 0);
    check_script_pieces(sent_bytes, expected, length, length, 1);
    check_script_pieces(sent_bytes, expected, 1, 1, 0);
    check_script_pieces(sent_bytes, expected, 1, 1, 1);
    for (size_t split = 1; split < length; split++)
        check_script_pieces(sent_bytes, expected, split, length, split % 2);
}
