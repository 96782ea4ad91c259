#include "memcached_stats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LINE 512
#define DUMP_LIMIT (2 << 20) /* bytes of a cachedump */
#define SLAB_CLASSES 64

__attribute__((format(printf, 2, 3))) static int print(struct pel_buffer *output, const char *format, ...)
{
    va_list arguments;
    int length;

    if (pel_buffer_reserve(output, LINE) < 0)
        return PEL_EMEMORY;
    va_start(arguments, format);
    length = vsnprintf(pel_buffer_tail(output), LINE, format, arguments);
    va_end(arguments);
    pel_buffer_commit(output, (size_t)(length < LINE ? length : LINE - 1));
    return 0;
}

static int stat(struct pel_buffer *output, const char *name, uint64_t number)
{
    return print(output, "STAT %s %" PRIu64 "\r\n", name, number);
}

static int end(struct pel_buffer *output)
{
    return print(output, "END\r\n");
}

static int is(struct pel_slice word, const char *text)
{
    return word.length == strlen(text) && !memcmp(word.bytes, text, word.length);
}

static uint64_t item_count(const struct pel_memcached_service *service)
{
    return service->store.table.count;
}

static uint64_t power_of(uint64_t size)
{
    uint64_t power = 0;

    while (size >>= 1)
        power++;
    return power;
}

static int general(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    const struct pel_store *store = &service->store;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    stat(output, "pid", (uint64_t)getpid());
    stat(output, "uptime", store->now - 2);
    stat(output, "time", (uint64_t)store->wall);
    print(output, "STAT version %s\r\nSTAT server pelton\r\n", PEL_MEMCACHED_COMPATIBLE);
    stat(output, "pointer_size", 8 * sizeof(void *));
    print(output, "STAT rusage_user %ld.%06ld\r\n", (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
    print(output, "STAT rusage_system %ld.%06ld\r\n", (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec);
    stat(output, "max_connections", service->max_connections);
    stat(output, "curr_connections", service->connections);
    stat(output, "connection_structures", service->connections);
#define COUNTER(name) stat(output, #name, service->counters.name);
    PEL_MEMCACHED_COUNTERS(COUNTER)
#undef COUNTER
    stat(output, "get_expired", store->get_expired);
    stat(output, "limit_maxbytes", store->memory_limit);
    print(output, "STAT accepting_conns 1\r\nSTAT threads 1\r\nSTAT auth_cmds 0\r\nSTAT auth_errors 0\r\n");
    stat(output, "hash_power_level", power_of(pel_item_table_size(&store->table)));
    stat(output, "hash_bytes", (uint64_t)pel_item_table_size(&store->table) * sizeof(void *));
    stat(output, "hash_is_expanding", store->table.old != NULL);
    stat(output, "bytes", store->linked_bytes);
    stat(output, "curr_items", item_count(service));
    stat(output, "total_items", store->total_items);
    stat(output, "expired_unfetched", store->expired_unfetched);
    stat(output, "evicted_unfetched", store->evicted_unfetched);
    stat(output, "evictions", store->evictions);
    stat(output, "reclaimed", store->reclaimed);
    stat(output, "crawler_reclaimed", store->crawler_reclaimed);
    stat(output, "crawler_items_checked", store->crawler_items_checked);
    return end(output);
}

static int settings(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    stat(output, "maxbytes", service->store.memory_limit);
    stat(output, "maxconns", service->max_connections);
    stat(output, "tcpport", (uint64_t)service->port);
    stat(output, "udpport", 0);
    print(output, "STAT inter %s\r\n", service->hosts[0] ? service->hosts : "NULL");
    print(output, "STAT domain_socket %s\r\n", service->path[0] ? service->path : "NULL");
    stat(output, "verbosity", (uint64_t)service->verbosity);
    print(output, "STAT evictions on\r\nSTAT cas_enabled yes\r\nSTAT flush_enabled yes\r\n");
    stat(output, "num_threads", 1);
    print(output, "STAT binding_protocol ascii\r\nSTAT auth_enabled_sasl no\r\nSTAT auth_enabled_ascii no\r\n");
    print(output, "STAT shutdown_command no\r\nSTAT dump_enabled yes\r\nSTAT ssl_enabled no\r\nSTAT lru_crawler yes\r\n"
                  "STAT track_sizes no\r\n");
    stat(output, "item_size_max", service->store.item_limit);
    stat(output, "idle_timeout", service->idle_timeout);
    print(output, "STAT maxconns_fast yes\r\nSTAT detail_enabled no\r\nSTAT stat_key_prefix :\r\nSTAT hash_algorithm "
                  "siphash13\r\n");
    return end(output);
}

static int items(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    const struct pel_store *store = &service->store;

    if (item_count(service) > 0) {
        stat(output, "items:1:number", item_count(service));
        stat(output, "items:1:age", store->now - store->oldest->accessed);
        stat(output, "items:1:mem_requested", store->linked_bytes);
        stat(output, "items:1:evicted", store->evictions);
        stat(output, "items:1:evicted_unfetched", store->evicted_unfetched);
        stat(output, "items:1:outofmemory", service->counters.store_no_memory);
        stat(output, "items:1:reclaimed", store->reclaimed);
        stat(output, "items:1:expired_unfetched", store->expired_unfetched);
        stat(output, "items:1:crawler_reclaimed", store->crawler_reclaimed);
    }
    return end(output);
}

static int slabs(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    const struct pel_memcached_counters *counters = &service->counters;

    if (item_count(service) > 0) {
        stat(output, "1:chunk_size", 16);
        stat(output, "1:chunks_per_page", item_count(service));
        stat(output, "1:total_pages", 1);
        stat(output, "1:total_chunks", item_count(service));
        stat(output, "1:used_chunks", item_count(service));
        print(output, "STAT 1:free_chunks 0\r\nSTAT 1:free_chunks_end 0\r\n");
        stat(output, "1:mem_requested", service->store.linked_bytes);
        stat(output, "1:get_hits", counters->get_hits);
        stat(output, "1:cmd_set", counters->cmd_set);
        stat(output, "1:delete_hits", counters->delete_hits);
        stat(output, "1:incr_hits", counters->incr_hits);
        stat(output, "1:decr_hits", counters->decr_hits);
        stat(output, "1:cas_hits", counters->cas_hits);
        stat(output, "1:cas_badval", counters->cas_badval);
        stat(output, "1:touch_hits", counters->touch_hits);
    }
    stat(output, "active_slabs", item_count(service) > 0);
    stat(output, "total_malloced", service->store.bytes);
    return end(output);
}

static int number_of(struct pel_slice word, unsigned long limit, unsigned long *number)
{
    *number = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (word.bytes[i] < '0' || word.bytes[i] > '9' || *number > limit)
            return 0;
        *number = *number * 10 + (unsigned long)(word.bytes[i] - '0');
    }
    return word.length > 0 && *number <= limit;
}

/* stats cachedump CLASS LIMIT: keys, the newest first; how tools list what is there. All items are of class 1. */
static int cachedump(const struct pel_memcached_service *service, const struct pel_slice *words, int count,
                     struct pel_buffer *output)
{
    const struct pel_store *store = &service->store;
    size_t limit = pel_buffer_length(output) + DUMP_LIMIT;
    unsigned long class, most;
    int code = 0;

    if (count < 3)
        return print(output, "CLIENT_ERROR bad command line\r\n");
    if (!number_of(words[1], UINT32_MAX, &class) || !number_of(words[2], UINT32_MAX, &most))
        return print(output, "CLIENT_ERROR bad command line format\r\n");
    if (class >= SLAB_CLASSES)
        return print(output, "CLIENT_ERROR Illegal slab id\r\n");
    for (const struct pel_item *item = class == 1 ? store->newest : NULL;
         item && code == 0 && pel_buffer_length(output) < limit; item = item->older) {
        if (item->state & PEL_ITEM_BINARY_KEY)
            continue;
        code = print(output, "ITEM %.*s [%" PRIu32 " b; %" PRId64 " s]\r\n", item->key_length, item->bytes,
                     item->length, item->expires ? store->wall + item->expires - store->now : 0);
        if (most && --most == 0)
            break;
    }
    return code < 0 ? code : end(output);
}

static void reset(struct pel_memcached_service *service)
{
    struct pel_store *store = &service->store;

    memset(&service->counters, 0, sizeof service->counters);
    store->total_items = store->evictions = store->evicted_unfetched = store->reclaimed = store->expired_unfetched = 0;
    store->crawler_reclaimed = store->crawler_items_checked = store->get_expired = 0;
}

int pel_memcached_stats(struct pel_memcached_service *service, const struct pel_slice *words, int count,
                        struct pel_buffer *output)
{
    if (count == 0)
        return general(service, output);
    if (is(words[0], "reset")) {
        reset(service);
        return print(output, "RESET\r\n");
    }
    if (is(words[0], "settings"))
        return settings(service, output);
    if (is(words[0], "items"))
        return items(service, output);
    if (is(words[0], "slabs"))
        return slabs(service, output);
    if (is(words[0], "sizes"))
        return print(output, "STAT sizes_status disabled\r\nEND\r\n");
    if (is(words[0], "cachedump"))
        return cachedump(service, words, count, output);
    if (is(words[0], "detail") && count > 1 && (is(words[1], "on") || is(words[1], "off")))
        return print(output, "OK\r\n");
    if (is(words[0], "detail") && count > 1 && is(words[1], "dump"))
        return end(output);
    if (is(words[0], "detail"))
        return print(output, "CLIENT_ERROR usage: stats detail on|off|dump\r\n");
    return print(output, "ERROR\r\n");
}
