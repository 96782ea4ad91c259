#include "core/memcached_server/service.h"

#include "check.h"
#include "memcached_server/conversation.h"

static struct conversation talk;

static const char *replies(void)
{
    CHECK(pel_buffer_append(&talk.received, "", 1) == 0);
    return pel_buffer_head(&talk.received);
}

static void send_command(const char *command)
{
    pel_buffer_free(&talk.received);
    conversation_send_text(&talk, command);
}

static void check_stats(const char *const *lines)
{
    for (char stat[100]; *lines; lines++) {
        snprintf(stat, sizeof stat, "STAT %s\r\n", *lines);
        if (!strstr(replies(), stat))
            CHECK_FAIL("no %s in %s", stat, replies());
    }
}

#define CHECK_STATS(...) check_stats((const char *const[]){__VA_ARGS__, NULL})

#define STATS_TEST(title) TEST_BETWEEN(conversation_begin(&talk, 8 << 20, 1 << 20), title, conversation_end(&talk))

STATS_TEST(general_statistics_count_commands)
{
    send_command(
        "set a 0 0 1\r\n1\r\nget a b\r\nincr a 1\r\nincr b 1\r\ndecr a 1\r\ndecr b 1\r\ntouch a 0\r\ntouch b 0\r\n"
        "cas a 0 0 1 99\r\n1\r\ncas b 0 0 1 1\r\n1\r\ndelete a\r\ndelete a\r\nflush_all\r\nme a\r\n");
    send_command("stats\r\n");
    CHECK_STATS("version 1.6.18", "cmd_get 2", "get_hits 1", "get_misses 1", "cmd_set 3", "incr_hits 1",
                "incr_misses 1", "decr_hits 1", "decr_misses 1", "cmd_touch 2", "touch_hits 1", "touch_misses 1",
                "cas_badval 1", "cas_misses 1", "delete_hits 1", "delete_misses 1", "cmd_flush 1", "cmd_meta 1",
                "total_items 1", "curr_items 0", "bytes 0", "limit_maxbytes 8388608", "time 1800000000", "uptime 0");
    CHECK(strstr(replies(), "\r\nEND\r\n"));
}

STATS_TEST(a_reset_clears_the_counters)
{
    send_command("set a 0 0 1\r\n1\r\nget a\r\n");
    send_command("stats reset\r\n");
    CHECK_STRING("RESET\r\n", replies());
    send_command("stats\r\n");
    CHECK_STATS("cmd_get 0", "total_items 0", "curr_items 1");
}

STATS_TEST(all_items_are_in_one_slab_class)
{
    send_command("stats items\r\nstats slabs\r\n");
    CHECK_STRING("END\r\nSTAT active_slabs 0\r\nSTAT total_malloced 0\r\nEND\r\n", replies());
    send_command("set a 0 0 1\r\n1\r\n");
    send_command("stats items\r\n");
    CHECK_STATS("items:1:number 1", "items:1:age 0", "items:1:evicted 0", "items:1:evicted_unfetched 0",
                "items:1:outofmemory 0", "items:1:reclaimed 0", "items:1:expired_unfetched 0",
                "items:1:crawler_reclaimed 0");
    send_command("stats slabs\r\n");
    CHECK_STATS("1:used_chunks 1", "active_slabs 1");
}

STATS_TEST(settings_and_sizes_are_reported)
{
    send_command("stats settings\r\n");
    CHECK_STATS("maxbytes 8388608", "item_size_max 1048576", "udpport 0", "evictions on", "inter NULL",
                "domain_socket NULL");
    strcpy(talk.service.hosts, "127.0.0.1,::1");
    strcpy(talk.service.path, "/run/memcached.sock");
    talk.service.idle_timeout = 60;
    send_command("stats settings\r\n");
    CHECK_STATS("inter 127.0.0.1,::1", "domain_socket /run/memcached.sock", "idle_timeout 60");
    send_command("stats sizes\r\n");
    CHECK_STRING("STAT sizes_status disabled\r\nEND\r\n", replies());
}

STATS_TEST(a_cachedump_lists_keys)
{
    send_command("set a 0 0 1\r\n1\r\nset b 0 100 22\r\n1234567890123456789012\r\nms AAEC 1 b\r\n1\r\n");
    send_command("stats cachedump 1 0\r\n");
    CHECK_STRING("ITEM b [22 b; 1800000100 s]\r\nITEM a [1 b; 0 s]\r\nEND\r\n", replies());
    send_command("stats cachedump 1 1\r\n");
    CHECK_STRING("ITEM b [22 b; 1800000100 s]\r\nEND\r\n", replies());
    send_command("stats cachedump 2 1\r\nstats cachedump 64 1\r\nstats cachedump x 1\r\nstats cachedump 1\r\n");
    CHECK_STRING("END\r\nCLIENT_ERROR Illegal slab id\r\nCLIENT_ERROR bad command line format\r\n"
                 "CLIENT_ERROR bad command line\r\n",
                 replies());
}

TEST(a_cachedump_has_a_limit)
{
    char line[300], key[250] = "";

    conversation_begin(&talk, 64 << 20, 1 << 20);
    memset(key, 'k', sizeof key - 1);
    for (int i = 0; i < 12000; i++) {
        snprintf(line, sizeof line, "set %s%05d 0 0 0 noreply\r\n\r\n", key + 20, i);
        conversation_send_text(&talk, line);
    }
    send_command("stats cachedump 1 0\r\n");
    CHECK(pel_buffer_length(&talk.received) > 2000000 && pel_buffer_length(&talk.received) < 2200000);
    CHECK(!memcmp(pel_buffer_tail(&talk.received) - 5, "END\r\n", 5));
    conversation_end(&talk);
}

STATS_TEST(unknown_statistics_are_refused)
{
    send_command("stats nonsense\r\nstats detail on\r\nstats detail off\r\nstats detail dump\r\nstats detail\r\n");
    CHECK_STRING("ERROR\r\nOK\r\nOK\r\nEND\r\nCLIENT_ERROR usage: stats detail on|off|dump\r\n", replies());
    send_command("stats detail on\r\n");
    send_command("stats detail\r\n"); /* the word of the line before does not count */
    CHECK_STRING("CLIENT_ERROR usage: stats detail on|off|dump\r\n", replies());
}
