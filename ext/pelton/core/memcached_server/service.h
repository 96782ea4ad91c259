#pragma once

#include "core/base/buffer.h"
#include "core/store/store.h"

/*
 * The state that all connections of an embedded memcached share: the store and the counters, which have memcached's
 * names and meanings.
 */

#define PEL_MEMCACHED_COUNTERS(X)                                                                                      \
    X(total_connections)                                                                                               \
    X(rejected_connections)                                                                                            \
    X(listen_disabled_num)                                                                                             \
    X(cmd_get)                                                                                                         \
    X(cmd_set)                                                                                                         \
    X(cmd_flush)                                                                                                       \
    X(cmd_touch)                                                                                                       \
    X(cmd_meta)                                                                                                        \
    X(get_hits)                                                                                                        \
    X(get_misses)                                                                                                      \
    X(delete_hits)                                                                                                     \
    X(delete_misses)                                                                                                   \
    X(incr_hits)                                                                                                       \
    X(incr_misses)                                                                                                     \
    X(decr_hits)                                                                                                       \
    X(decr_misses)                                                                                                     \
    X(cas_hits)                                                                                                        \
    X(cas_misses)                                                                                                      \
    X(cas_badval)                                                                                                      \
    X(touch_hits)                                                                                                      \
    X(touch_misses)                                                                                                    \
    X(store_too_large)                                                                                                 \
    X(store_no_memory)                                                                                                 \
    X(bytes_read)                                                                                                      \
    X(bytes_written)                                                                                                   \
    X(conn_yields)                                                                                                     \
    X(idle_kicks)

struct pel_memcached_counters {
#define PEL_MEMCACHED_COUNTER(name) uint64_t name;
    PEL_MEMCACHED_COUNTERS(PEL_MEMCACHED_COUNTER)
#undef PEL_MEMCACHED_COUNTER
};

struct pel_memcached_service {
    struct pel_store store;
    struct pel_memcached_counters counters;
    uint64_t binary_clients;    /* that were cut off because they spoke the binary protocol */
    uint64_t configured_memory; /* bytes: the most that cache_memlimit can set */
    uint32_t connections, max_connections;
    uint32_t idle_timeout;      /* seconds; 0: none */
    int port;                   /* 0: none */
    char hosts[256], path[128]; /* the addresses, as configured; empty: none */
    int verbosity,
        configured_verbosity; /* 2: logs each command to stderr. Clients can choose up to the configured level */
};

/* The version of memcached that the server imitates: clients derive the supported commands from it. */
#define PEL_MEMCACHED_COMPATIBLE "1.6.18"

/*
 * Appends the reply to "stats" with the given arguments: the statistics under memcached's names, or an error.
 * Statistics of parts that this server lacks (slabs, threads) are those of a memcached with one of each. Returns 0, or
 * PEL_EMEMORY: then a part of the reply may have been appended.
 */
int pel_memcached_stats(struct pel_memcached_service *service, const struct pel_slice *words, int count,
                        struct pel_buffer *output);
