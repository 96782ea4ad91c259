#include "memcached_server/script.h"

TEST(set_and_get_store_and_return_a_value)
{
    check_script("get a\r\nset a 5 0 3\r\none\r\nget a\r\ngets a\r\nget b a b a\r\n",
                 "END\r\nSTORED\r\nVALUE a 5 3\r\none\r\nEND\r\nVALUE a 5 3 1\r\none\r\nEND\r\n"
                 "VALUE a 5 3\r\none\r\nVALUE a 5 3\r\none\r\nEND\r\n");
    check_script("set a 0 0 0\r\n\r\nget a\r\n", "STORED\r\nVALUE a 0 0\r\n\r\nEND\r\n");
}

TEST(a_value_may_contain_any_bytes)
{
    check_script("set a 0 0 14\r\n\r\nEND\r\nget a\r\n\r\nget a\r\n",
                 "STORED\r\nVALUE a 0 14\r\n\r\nEND\r\nget a\r\n\r\nEND\r\n");
}

TEST(add_replace_append_and_prepend_store_conditionally)
{
    check_script("replace a 0 0 1\r\nx\r\nappend a 0 0 1\r\nx\r\nprepend a 0 0 1\r\nx\r\n",
                 "NOT_STORED\r\nNOT_STORED\r\nNOT_STORED\r\n");
    check_script("add a 7 0 1\r\nb\r\nadd a 0 0 1\r\nx\r\nappend a 0 0 1\r\nc\r\nprepend a 0 0 1\r\na\r\nget a\r\n"
                 "replace a 0 0 1\r\nz\r\nget a\r\n",
                 "STORED\r\nNOT_STORED\r\nSTORED\r\nSTORED\r\nVALUE a 7 3\r\nabc\r\nEND\r\nSTORED\r\n"
                 "VALUE a 0 1\r\nz\r\nEND\r\n");
}

TEST(cas_compares_the_number)
{
    check_script("cas a 0 0 1 1\r\nx\r\nset a 0 0 1\r\n1\r\ngets a\r\ncas a 0 0 1 9\r\n2\r\ncas a 0 0 1 1\r\n3\r\n"
                 "cas a 0 0 1 1\r\n4\r\nget a\r\n",
                 "NOT_FOUND\r\nSTORED\r\nVALUE a 0 1 1\r\n1\r\nEND\r\nEXISTS\r\nSTORED\r\nEXISTS\r\n"
                 "VALUE a 0 1\r\n3\r\nEND\r\n");
}

TEST(cas_of_a_deleted_item_is_not_found)
{
    check_script("set a 0 0 1\r\n1\r\ndelete a\r\ncas a 0 0 1 1\r\n2\r\nget a\r\n",
                 "STORED\r\nDELETED\r\nNOT_FOUND\r\nEND\r\n");
}

TEST(delete_removes_an_item)
{
    check_script("delete a\r\nset a 0 0 1\r\n1\r\ndelete a\r\nget a\r\n", "NOT_FOUND\r\nSTORED\r\nDELETED\r\nEND\r\n");
}

TEST(incr_and_decr_change_a_number)
{
    check_script(
        "incr n 1\r\nset n 3 0 2\r\n10\r\nincr n 5\r\ndecr n 7\r\nget n\r\ndecr n 100\r\nincr n 1000\r\nget n\r\n",
        "NOT_FOUND\r\nSTORED\r\n15\r\n8\r\nVALUE n 3 2\r\n8 \r\nEND\r\n0\r\n1000\r\nVALUE n 3 4\r\n1000\r\nEND\r\n");
}

TEST(incr_refuses_other_values_and_wraps_at_two_to_the_64th)
{
    check_script("set n 0 0 1\r\nx\r\nincr n 1\r\nincr n 1 noreply\r\nget n\r\n",
                 "STORED\r\nCLIENT_ERROR cannot increment or decrement non-numeric value\r\n"
                 "VALUE n 0 1\r\nx\r\nEND\r\n");
    check_script("set n 0 0 20\r\n18446744073709551615\r\nincr n 1\r\nget n\r\n",
                 "STORED\r\n0\r\nVALUE n 0 20\r\n0                   \r\nEND\r\n");
    check_script("set n 0 0 20\r\n18446744073709551616\r\nincr n 1\r\n",
                 "STORED\r\nCLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
}

TEST(touch_and_gat_set_the_expiry)
{
    check_script(
        "touch a 10\r\ngat 10 a\r\nset a 0 0 1\r\n1\r\ntouch a 10\r\ngat 0 a\r\ngats 5 a b\r\ntouch a -1\r\nget a\r\n",
        "NOT_FOUND\r\nEND\r\nSTORED\r\nTOUCHED\r\nVALUE a 0 1\r\n1\r\nEND\r\nVALUE a 0 1 1\r\n1\r\nEND\r\n"
        "TOUCHED\r\nEND\r\n");
}

TEST(gat_counts_its_hits_and_misses)
{
    static struct conversation talk;

    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_send_text(&talk, "gat 0 a\r\nset a 0 0 1\r\nx\r\ngat 0 a\r\ngats 0 a\r\n");
    CHECK_INT(3, talk.service.counters.cmd_touch);
    CHECK_INT(2, talk.service.counters.touch_hits);
    CHECK_INT(1, talk.service.counters.touch_misses);
    conversation_end(&talk);
}

TEST(gat_and_touch_refuse_numbers_out_of_range)
{
    check_script(
        "set a 0 0 1\r\n1\r\ntouch a 2147483648\r\ngat 99999999999999999999 a\r\ntouch a -2147483649\r\nget a\r\n",
        "STORED\r\nCLIENT_ERROR invalid exptime argument\r\nCLIENT_ERROR invalid exptime argument\r\n"
        "CLIENT_ERROR invalid exptime argument\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
}

TEST(noreply_suppresses_replies)
{
    check_script("set a 0 0 1 noreply\r\n1\r\nadd a 0 0 1 noreply\r\n2\r\nincr a 1 noreply\r\ndecr a 5 noreply\r\n"
                 "touch a 5 noreply\r\ndelete b noreply\r\nget a\r\ndelete a noreply\r\nflush_all noreply\r\n"
                 "verbosity 0 noreply\r\nget a\r\n",
                 "VALUE a 0 1\r\n0\r\nEND\r\nEND\r\n");
}

TEST(noreply_suppresses_errors)
{
    check_script("set a x 0 1 noreply\r\nmn\r\n", "MN\r\n");
    check_script("set a 0 0 1 noreply\r\nlong\r\nmn\r\n", "ERROR\r\nMN\r\n"); /* the rest of the value is a line */
    check_script("set a 0 0 2000000 noreply\r\nmn\r\n", "");
    check_script("cas a 0 0 1 noreply\r\nmn\r\n", "MN\r\n");
    check_script("set a noreply\r\nmn\r\n", "ERROR\r\nMN\r\n");
}

TEST(a_value_without_its_end_is_refused)
{
    check_script("set a 0 0 3\r\nabcdef\r\nget a\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\nEND\r\n");
    check_script("set a 0 0 3\r\nab\r\nget a\r\nmn\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\nMN\r\n");
    check_script("set a 0 0 1\r\nz\r\nset a 0 0 3\r\nabcde\r\nget a\r\n",
                 "STORED\r\nCLIENT_ERROR bad data chunk\r\nERROR\r\nVALUE a 0 1\r\nz\r\nEND\r\n");
}

TEST(flush_all_removes_all_items)
{
    check_script("set a 0 0 1\r\n1\r\nflush_all\r\nget a\r\nset a 0 0 1\r\n2\r\nflush_all 10\r\nget a\r\nflush_all "
                 "-1\r\nget a\r\n",
                 "STORED\r\nOK\r\nEND\r\nSTORED\r\nOK\r\nVALUE a 0 1\r\n2\r\nEND\r\nOK\r\nEND\r\n");
}

TEST(flush_all_may_be_delayed)
{
    static struct conversation talk;

    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_send_text(&talk, "set a 0 0 1\r\n1\r\nflush_all 5\r\nget a\r\n");
    pel_store_set_time(&talk.service.store, 5, 1800000005);
    conversation_send_text(&talk, "get a\r\nset a 0 0 1\r\n2\r\nget a\r\n");
    CHECK_BYTES("STORED\r\nOK\r\nVALUE a 0 1\r\n1\r\nEND\r\nEND\r\nSTORED\r\nVALUE a 0 1\r\n2\r\nEND\r\n",
                pel_buffer_head(&talk.received), pel_buffer_length(&talk.received));
    conversation_end(&talk);
}

TEST(the_memory_limit_changes_within_the_configured_one)
{
    check_script("cache_memlimit 7\r\ncache_memlimit 8\r\ncache_memlimit 9\r\ncache_memlimit 4000000000\r\n",
                 "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\nOK\r\n"
                 "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust\r\n"
                 "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes\r\n");
}

TEST(other_commands_get_their_replies)
{
    check_script("version\r\nverbosity 1\r\nmn\r\nshutdown\r\nnonsense\r\n",
                 "VERSION 1.6.18\r\nOK\r\nMN\r\nERROR: shutdown not enabled\r\nERROR\r\n");
    check_script("mn\r\nquit\r\nmn\r\n", "MN\r\n");
    check_script("GET / HTTP/1.1\r\nmn\r\n", "");
}

TEST(a_too_large_value_removes_the_old_one)
{
    static struct conversation talk;
    char *value = calloc(1, 1 << 20);

    conversation_begin(&talk, 8 << 20, 1 << 20);
    conversation_send_text(&talk, "set a 0 0 1\r\n1\r\nadd a 0 0 1048576\r\n");
    conversation_send(&talk, value, 1 << 20);
    conversation_send_text(&talk, "\r\nget a\r\nset a 0 0 1048576\r\n");
    conversation_send(&talk, value, 1 << 20);
    conversation_send_text(&talk, "\r\nget a\r\n");
    CHECK_BYTES("STORED\r\nSERVER_ERROR object too large for cache\r\nVALUE a 0 1\r\n1\r\nEND\r\n"
                "SERVER_ERROR object too large for cache\r\nEND\r\n",
                pel_buffer_head(&talk.received), pel_buffer_length(&talk.received));
    CHECK_INT(2, talk.service.counters.store_too_large);
    conversation_end(&talk);
    free(value);
}
