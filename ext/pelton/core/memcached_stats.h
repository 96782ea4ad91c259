#ifndef PEL_MEMCACHED_STATS_H
#define PEL_MEMCACHED_STATS_H

#include "buffer.h"
#include "memcached_service.h"

/* The memcached whose behaviour is offered: clients take what they may ask from this. */
#define PEL_MEMCACHED_COMPATIBLE "1.6.18"

/*
 * Appends the answer to "stats", with the words that followed it: the statistics in memcached's names, or an error.
 * Settings that no part of the store has (slabs, threads) are those of a memcached with one of each.
 * 0, or PEL_EMEMORY: then part of it may have been appended.
 */
int pel_memcached_stats(struct pel_memcached_service *service, const struct pel_slice *words, int count,
                        struct pel_buffer *output);

#endif
