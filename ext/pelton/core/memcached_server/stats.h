#ifndef PELTON_CORE_MEMCACHED_SERVER_STATS_H
#define PELTON_CORE_MEMCACHED_SERVER_STATS_H

#include "core/base/buffer.h"
#include "core/memcached_server/service.h"

/* The version of memcached that the server imitates: clients derive the supported commands from it. */
#define PEL_MEMCACHED_COMPATIBLE "1.6.18"

/*
 * Appends the reply to "stats" with the given arguments: the statistics under memcached's names, or an error.
 * Statistics of parts that this server lacks (slabs, threads) are those of a memcached with one of each. Returns 0, or
 * PEL_EMEMORY: then a part of the reply may have been appended.
 */
int pel_memcached_stats(struct pel_memcached_service *service, const struct pel_slice *words, int count,
                        struct pel_buffer *output);

#endif
