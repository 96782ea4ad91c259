#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/store/item.h"

/*
 * A hash table of items. It grows incrementally, by one bucket at each insertion, so no command waits for a rehash. It
 * links items by their `chain` and never frees an item.
 */
struct pel_item_table {
    struct pel_item **buckets;
    struct pel_item **old; /* while the table grows: the buckets from `moved` on are still here; otherwise NULL */
    uint32_t mask, old_mask, moved;
    size_t count;
};

/* Returns 0 or PEL_EMEMORY. */
int pel_item_table_init(struct pel_item_table *table);

/* Frees the buckets, but no items. */
void pel_item_table_free(struct pel_item_table *table);

/* The item of that key, whose hash is `hash`, or NULL. */
struct pel_item *pel_item_table_find(const struct pel_item_table *table, struct pel_slice key, uint32_t hash);

/* Adds an item, whose `hash` is set and whose key is not in the table. Without memory for more buckets the table still
 * works, but gets slower. */
void pel_item_table_insert(struct pel_item_table *table, struct pel_item *item);

/* Removes an item that is in the table. */
void pel_item_table_remove(struct pel_item_table *table, struct pel_item *item);

/* Removes all items at once. */
void pel_item_table_clear(struct pel_item_table *table);

/* The first item of a bucket, or NULL, so that a caller can visit all items, a few at a time. `bucket` is taken modulo
 * the number of buckets (pel_item_table_size). While `bucket` runs from 0 to size - 1, each item that is neither
 * inserted nor removed meanwhile is visited at least once, provided that the size does not change. */
struct pel_item *pel_item_table_bucket(const struct pel_item_table *table, uint32_t bucket);

static inline uint32_t pel_item_table_size(const struct pel_item_table *table)
{
    return table->mask + 1;
}
