#ifndef PEL_ITEM_TABLE_H
#define PEL_ITEM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "item.h"

/*
 * A hash table of items. It grows while it is used, a bucket at each insertion, so no command waits for a growth. It
 * links items by their `chain` and never frees one.
 */
struct pel_item_table {
    struct pel_item **buckets;
    struct pel_item **old; /* while it grows: the buckets from `moved` on are still here; NULL otherwise */
    uint32_t mask, old_mask, moved;
    size_t count;
};

/* 0 or PEL_EMEMORY. */
int pel_item_table_init(struct pel_item_table *table);

/* Frees the buckets. The items are forgotten. */
void pel_item_table_free(struct pel_item_table *table);

/* The item of that key, whose hash is `hash`; NULL if there is none. */
struct pel_item *pel_item_table_find(const struct pel_item_table *table, struct pel_slice key, uint32_t hash);

/* Adds an item, whose `hash` is set and whose key is not in the table. Where no memory is left for more buckets it gets
 * slower, and works. */
void pel_item_table_insert(struct pel_item_table *table, struct pel_item *item);

/* Removes an item that is in the table. */
void pel_item_table_remove(struct pel_item_table *table, struct pel_item *item);

/* Forgets all items at once. */
void pel_item_table_clear(struct pel_item_table *table);

/* For who visits all items, a few at a time: the first item of a bucket, or NULL. `bucket` is taken modulo their
 * number, which is returned by pel_item_table_size. An item that is neither inserted nor removed meanwhile is met at
 * least once while `bucket` goes through 0 to size - 1, if the size stays. */
struct pel_item *pel_item_table_bucket(const struct pel_item_table *table, uint32_t bucket);

static inline uint32_t pel_item_table_size(const struct pel_item_table *table)
{
    return table->mask + 1;
}

#endif
