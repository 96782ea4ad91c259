#ifndef MEMCACHED_SCRIPT_H
#define MEMCACHED_SCRIPT_H

/* What a fresh server answers to some text, whole and cut at each place. */

#include "check.h"
#include "memcached_conversation.h"

static void check_script_cut(const char *said, const char *expected, size_t first, size_t piece, int direct)
{
    static struct conversation talk;
    size_t length = strlen(said), at = first < length ? first : length;

    conversation_begin(&talk, 8 << 20, 1 << 20);
    talk.direct = direct;
    conversation_say(&talk, said, at);
    for (size_t size; at < length; at += size) {
        size = length - at < piece ? length - at : piece;
        conversation_say(&talk, said + at, size);
    }
    CHECK_BYTES(expected, pel_buffer_head(&talk.heard), pel_buffer_length(&talk.heard));
    conversation_end(&talk);
}

static void check_script(const char *said, const char *expected)
{
    size_t length = strlen(said);

    check_script_cut(said, expected, length, length, 0);
    check_script_cut(said, expected, length, length, 1);
    check_script_cut(said, expected, 1, 1, 0);
    check_script_cut(said, expected, 1, 1, 1);
    for (size_t cut = 1; cut < length; cut++)
        check_script_cut(said, expected, cut, length, cut % 2);
}

#endif
