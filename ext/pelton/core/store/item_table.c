#include "core/store/item_table.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/link.h"

#define SMALLEST_SIZE 4096
#define LARGEST_SIZE (UINT32_C(1) << 31)

int pel_item_table_init(struct pel_item_table *table)
{
    memset(table, 0, sizeof *table);
    table->buckets = pel_calloc(SMALLEST_SIZE, sizeof *table->buckets);
    if (!table->buckets)
        return PEL_EMEMORY;
    table->mask = SMALLEST_SIZE - 1;
    return 0;
}

void pel_item_table_free(struct pel_item_table *table)
{
    pel_free(table->buckets);
    pel_free(table->old);
    memset(table, 0, sizeof *table);
}

static inline struct pel_item **bucket_of(const struct pel_item_table *table, uint32_t hash)
{
    if (table->old && (hash & table->old_mask) >= table->moved)
        return &table->old[hash & table->old_mask];
    return &table->buckets[hash & table->mask];
}

struct pel_item *pel_item_table_find(const struct pel_item_table *table, struct pel_slice key, uint32_t hash)
{
    struct pel_item *item;

    for (item = *bucket_of(table, hash); item; item = item->chain)
        if (item->hash == hash && item->key_length == key.length && !memcmp(item->bytes, key.bytes, key.length))
            break;
    return item;
}

static void push_item(struct pel_item **bucket, struct pel_item *item)
{
    item->chain = *bucket;
    *bucket = item;
}

static void start_growing(struct pel_item_table *table)
{
    size_t size = (size_t)table->mask + 1;
    struct pel_item **buckets;

    if (table->old || size >= LARGEST_SIZE || !(buckets = pel_calloc(size * 2, sizeof *buckets)))
        return;
    table->old = table->buckets;
    table->old_mask = table->mask;
    table->moved = 0;
    table->buckets = buckets;
    table->mask = (uint32_t)(size * 2 - 1);
}

/* All buckets are moved before the next growth starts, since there are more insertions in between than buckets. */
static void move_bucket(struct pel_item_table *table)
{
    struct pel_item *item = table->old[table->moved++], *next;

    for (; item; item = next) {
        next = item->chain;
        push_item(&table->buckets[item->hash & table->mask], item);
    }
    if (table->moved > table->old_mask) {
        pel_free(table->old);
        table->old = NULL;
    }
}

void pel_item_table_insert(struct pel_item_table *table, struct pel_item *item)
{
    if (++table->count > (size_t)table->mask + 1 + table->mask / 2)
        start_growing(table);
    if (table->old)
        move_bucket(table);
    push_item(bucket_of(table, item->hash), item);
}

void pel_item_table_remove(struct pel_item_table *table, struct pel_item *item)
{
    struct pel_item **bucket = bucket_of(table, item->hash);

    PEL_CHAIN_REMOVE(*bucket, item, chain);
    item->chain = NULL;
    table->count--;
}

void pel_item_table_clear(struct pel_item_table *table)
{
    struct pel_item_table fresh;

    if (pel_item_table_init(&fresh) == 0) {
        pel_item_table_free(table);
        *table = fresh;
        return;
    }
    pel_free(table->old);
    table->old = NULL;
    table->count = 0;
    memset(table->buckets, 0, ((size_t)table->mask + 1) * sizeof *table->buckets);
}

struct pel_item *pel_item_table_bucket(const struct pel_item_table *table, uint32_t bucket)
{
    return *bucket_of(table, bucket);
}
