#include "core/memcached_server/service.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "core/base/decimal.h"

#define STAT_LINE 512
#define DUMP_LIMIT (2 << 20) /* the most bytes of a cachedump */
#define SLAB_CLASSES 64

/* Fields that count, and name the statistic. */
#define STORE_COUNTERS(X)                                                                                              \
    X(total_items)                                                                                                     \
    X(expired_unfetched) X(evicted_unfetched) X(evictions) X(reclaimed) X(crawler_reclaimed) X(crawler_items_checked)
#define SLAB_COUNTERS(X)                                                                                               \
    X(get_hits) X(cmd_set) X(delete_hits) X(incr_hits) X(decr_hits) X(cas_hits) X(cas_badval) X(touch_hits)

__attribute__((format(printf, 2, 3))) static int put_stats_text(struct pel_buffer *output, const char *format, ...)
{
    va_list arguments;
    int length;

    if (pel_buffer_reserve(output, STAT_LINE) < 0)
        return PEL_EMEMORY;
    va_start(arguments, format);
    length = vsnprintf(pel_buffer_tail(output), STAT_LINE, format, arguments);
    va_end(arguments);
    pel_buffer_commit(output, (size_t)(length < STAT_LINE ? length : STAT_LINE - 1));
    return 0;
}

static int put_stat_number(struct pel_buffer *output, const char *name, uint64_t number)
{
    return put_stats_text(output, "STAT %s %" PRIu64 "\r\n", name, number);
}

static int put_stats_end(struct pel_buffer *output)
{
    return put_stats_text(output, "END\r\n");
}

static uint64_t item_count(const struct pel_memcached_service *service)
{
    return service->store.table.count;
}

static uint64_t log2_of(uint64_t size)
{
    uint64_t power = 0;

    while (size >>= 1)
        power++;
    return power;
}

static int put_general_stats(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    const struct pel_store *store = &service->store;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    put_stat_number(output, "pid", (uint64_t)getpid());
    put_stat_number(output, "uptime", store->now - 2);
    put_stat_number(output, "time", (uint64_t)store->wall);
    put_stats_text(output, "STAT version %s\r\nSTAT server pelton\r\n", PEL_MEMCACHED_COMPATIBLE);
    put_stat_number(output, "pointer_size", 8 * sizeof(void *));
    put_stats_text(output, "STAT rusage_user %ld.%06ld\r\n", (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
    put_stats_text(output, "STAT rusage_system %ld.%06ld\r\n", (long)usage.ru_stime.tv_sec,
                   (long)usage.ru_stime.tv_usec);
    put_stat_number(output, "max_connections", service->max_connections);
    put_stat_number(output, "curr_connections", service->connections);
    put_stat_number(output, "connection_structures", service->connections);
#define COUNTER(name) put_stat_number(output, #name, service->counters.name);
    PEL_MEMCACHED_COUNTERS(COUNTER)
#undef COUNTER
    put_stat_number(output, "get_expired", store->get_expired);
    put_stat_number(output, "limit_maxbytes", store->memory_limit);
    put_stats_text(output, "STAT accepting_conns 1\r\nSTAT threads 1\r\nSTAT auth_cmds 0\r\nSTAT auth_errors 0\r\n");
    put_stat_number(output, "hash_power_level", log2_of(pel_item_table_size(&store->table)));
    put_stat_number(output, "hash_bytes", (uint64_t)pel_item_table_size(&store->table) * sizeof(void *));
    put_stat_number(output, "hash_is_expanding", store->table.old != NULL);
    put_stat_number(output, "bytes", store->linked_bytes);
    put_stat_number(output, "curr_items", item_count(service));
#define COUNTER(name) put_stat_number(output, #name, store->name);
    STORE_COUNTERS(COUNTER)
#undef COUNTER
    return put_stats_end(output);
}

static int put_settings(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    put_stat_number(output, "maxbytes", service->store.memory_limit);
    put_stat_number(output, "maxconns", service->max_connections);
    put_stat_number(output, "tcpport", (uint64_t)service->port);
    put_stat_number(output, "udpport", 0);
    put_stats_text(output, "STAT inter %s\r\n", service->hosts[0] ? service->hosts : "NULL");
    put_stats_text(output, "STAT domain_socket %s\r\n", service->path[0] ? service->path : "NULL");
    put_stat_number(output, "verbosity", (uint64_t)service->verbosity);
    put_stats_text(output, "STAT evictions on\r\nSTAT cas_enabled yes\r\nSTAT flush_enabled yes\r\n");
    put_stat_number(output, "num_threads", 1);
    put_stats_text(output,
                   "STAT binding_protocol ascii\r\nSTAT auth_enabled_sasl no\r\nSTAT auth_enabled_ascii no\r\n");
    put_stats_text(
        output, "STAT shutdown_command no\r\nSTAT dump_enabled yes\r\nSTAT ssl_enabled no\r\nSTAT lru_crawler yes\r\n"
                "STAT track_sizes no\r\n");
    put_stat_number(output, "item_size_max", service->store.item_limit);
    put_stat_number(output, "idle_timeout", service->idle_timeout);
    put_stats_text(output,
                   "STAT maxconns_fast yes\r\nSTAT detail_enabled no\r\nSTAT stat_key_prefix :\r\nSTAT hash_algorithm "
                   "siphash13\r\n");
    return put_stats_end(output);
}

static int put_item_stats(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    const struct pel_store *store = &service->store;

    if (item_count(service) > 0) {
        put_stat_number(output, "items:1:number", item_count(service));
        put_stat_number(output, "items:1:age", store->now - store->oldest->accessed);
        put_stat_number(output, "items:1:mem_requested", store->linked_bytes);
        put_stat_number(output, "items:1:evicted", store->evictions);
        put_stat_number(output, "items:1:evicted_unfetched", store->evicted_unfetched);
        put_stat_number(output, "items:1:outofmemory", service->counters.store_no_memory);
        put_stat_number(output, "items:1:reclaimed", store->reclaimed);
        put_stat_number(output, "items:1:expired_unfetched", store->expired_unfetched);
        put_stat_number(output, "items:1:crawler_reclaimed", store->crawler_reclaimed);
    }
    return put_stats_end(output);
}

static int put_slab_stats(const struct pel_memcached_service *service, struct pel_buffer *output)
{
    if (item_count(service) > 0) {
        put_stat_number(output, "1:chunk_size", 16);
        put_stat_number(output, "1:chunks_per_page", item_count(service));
        put_stat_number(output, "1:total_pages", 1);
        put_stat_number(output, "1:total_chunks", item_count(service));
        put_stat_number(output, "1:used_chunks", item_count(service));
        put_stats_text(output, "STAT 1:free_chunks 0\r\nSTAT 1:free_chunks_end 0\r\n");
        put_stat_number(output, "1:mem_requested", service->store.linked_bytes);
#define COUNTER(name) put_stat_number(output, "1:" #name, service->counters.name);
        SLAB_COUNTERS(COUNTER)
#undef COUNTER
    }
    put_stat_number(output, "active_slabs", item_count(service) > 0);
    put_stat_number(output, "total_malloced", service->store.bytes);
    return put_stats_end(output);
}

/* stats cachedump CLASS LIMIT: lists keys, the newest first, for tools that show items. All are of class 1. */
static int put_cachedump(const struct pel_memcached_service *service, const struct pel_slice *words, int count,
                         struct pel_buffer *output)
{
    const struct pel_store *store = &service->store;
    size_t limit = pel_buffer_length(output) + DUMP_LIMIT;
    uint64_t class, most;
    int code = 0;

    if (count < 3)
        return put_stats_text(output, "CLIENT_ERROR bad command line\r\n");
    if (pel_decimal(words[1], UINT32_MAX, &class) < 0 || pel_decimal(words[2], UINT32_MAX, &most) < 0)
        return put_stats_text(output, "CLIENT_ERROR bad command line format\r\n");
    if (class >= SLAB_CLASSES)
        return put_stats_text(output, "CLIENT_ERROR Illegal slab id\r\n");
    for (const struct pel_item *item = class == 1 ? store->newest : NULL;
         item && code == 0 && pel_buffer_length(output) < limit; item = item->older) {
        if (item->state & PEL_ITEM_BINARY_KEY)
            continue;
        code = put_stats_text(output, "ITEM %.*s [%" PRIu32 " b; %" PRId64 " s]\r\n", item->key_length, item->bytes,
                              item->length, item->expires ? store->wall + item->expires - store->now : 0);
        if (most && --most == 0)
            break;
    }
    return code < 0 ? code : put_stats_end(output);
}

static void reset_stats(struct pel_memcached_service *service)
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
        return put_general_stats(service, output);
    if (pel_slice_equals(words[0], "reset")) {
        reset_stats(service);
        return put_stats_text(output, "RESET\r\n");
    }
    if (pel_slice_equals(words[0], "settings"))
        return put_settings(service, output);
    if (pel_slice_equals(words[0], "items"))
        return put_item_stats(service, output);
    if (pel_slice_equals(words[0], "slabs"))
        return put_slab_stats(service, output);
    if (pel_slice_equals(words[0], "sizes"))
        return put_stats_text(output, "STAT sizes_status disabled\r\nEND\r\n");
    if (pel_slice_equals(words[0], "cachedump"))
        return put_cachedump(service, words, count, output);
    if (pel_slice_equals(words[0], "detail") && count > 1 &&
        (pel_slice_equals(words[1], "on") || pel_slice_equals(words[1], "off")))
        return put_stats_text(output, "OK\r\n");
    if (pel_slice_equals(words[0], "detail") && count > 1 && pel_slice_equals(words[1], "dump"))
        return put_stats_end(output);
    if (pel_slice_equals(words[0], "detail"))
        return put_stats_text(output, "CLIENT_ERROR usage: stats detail on|off|dump\r\n");
    return put_stats_text(output, "ERROR\r\n");
}
