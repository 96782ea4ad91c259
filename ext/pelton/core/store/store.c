#include "core/store/store.h"

#include <string.h>

#include "core/base/alloc.h"

/* How many fetched items are spared in a row before one of them is evicted. */
#define MAX_SECOND_CHANCES 64
/* The flushed items that are freed with each allocation. */
#define FREED_PER_ALLOCATION 8
/* The cost in bytes up to which an item is always received, however much memory unlinked items use. */
#define SMALL_ITEM 4096

int pel_store_init(struct pel_store *store, uint64_t memory_limit, uint64_t item_limit)
{
    memset(store, 0, sizeof *store);
    store->memory_limit = memory_limit;
    store->item_limit = item_limit;
    store->now = 2;
    if (pel_siphash_seed(&store->seed) < 0)
        return PEL_ESYSTEM;
    return pel_item_table_init(&store->table);
}

/* The cost includes malloc's own overhead: otherwise the memory in use would exceed the limit. */
uint64_t pel_store_cost(size_t key_length, uint64_t length)
{
    return (sizeof(struct pel_item) + key_length + length + 2 + 8 + 15) & ~UINT64_C(15);
}

static uint64_t item_cost(const struct pel_item *item)
{
    return pel_store_cost(item->key_length, item->length);
}

void pel_store_release(struct pel_store *store, struct pel_item *item)
{
    if (--item->references > 0)
        return;
    store->bytes -= item_cost(item);
    pel_free(item);
}

/* ---- the list ------------------------------------------------------------------------------------------------- */

static void list_as_newest(struct pel_store *store, struct pel_item *item)
{
    item->newer = NULL;
    item->older = store->newest;
    *(store->newest ? &store->newest->newer : &store->oldest) = item;
    store->newest = item;
}

static void remove_from_list(struct pel_store *store, struct pel_item *item)
{
    *(item->newer ? &item->newer->older : &store->newest) = item->older;
    *(item->older ? &item->older->newer : &store->oldest) = item->newer;
}

void pel__store_link(struct pel_store *store, struct pel_item *item, uint64_t new_cas)
{
    item->state |= PEL_ITEM_LINKED;
    item->accessed = store->now;
    pel_store_renew(store, item, new_cas);
    item->references++;
    list_as_newest(store, item);
    pel_item_table_insert(&store->table, item);
    store->linked_bytes += item_cost(item);
    store->total_items++;
}

void pel_store_remove(struct pel_store *store, struct pel_item *item)
{
    item->state &= (uint8_t)~PEL_ITEM_LINKED;
    remove_from_list(store, item);
    pel_item_table_remove(&store->table, item);
    store->linked_bytes -= item_cost(item);
    pel_store_release(store, item);
}

uint64_t pel_store_remove_if(struct pel_store *store, int (*wanted)(struct pel_item *item, const void *data),
                             const void *data)
{
    uint64_t count = 0;

    for (struct pel_item *item = store->newest, *older; item; item = older) {
        older = item->older;
        if (!wanted(item, data))
            continue;
        pel_store_remove(store, item);
        count++;
    }
    return count;
}

void pel_store_renew(struct pel_store *store, struct pel_item *item, uint64_t new_cas)
{
    item->cas = new_cas ? new_cas : ++store->last_cas;
}

/* ---- time ----------------------------------------------------------------------------------------------------- */

void pel_store_set_time(struct pel_store *store, uint32_t seconds, int64_t wall)
{
    store->wall = wall;
    if (seconds + 2 > store->now)
        store->now = seconds + 2;
    if (store->flush_at && store->flush_at <= store->now)
        pel_store_flush(store, 0);
}

uint32_t pel_store_instant(const struct pel_store *store, int64_t expiry)
{
    if (expiry == 0)
        return 0;
    if (expiry > PEL_STORE_DELTA_LIMIT)
        expiry -= store->wall;
    if (expiry <= 0)
        return 1;
    return expiry > (int64_t)(UINT32_MAX - store->now) ? UINT32_MAX : store->now + (uint32_t)expiry;
}

int64_t pel_store_ttl(const struct pel_store *store, const struct pel_item *item)
{
    if (item->expires == 0)
        return -1;
    return item->expires > store->now ? item->expires - store->now : 0;
}

static int item_expired(const struct pel_store *store, const struct pel_item *item)
{
    return item->expires != 0 && item->expires <= store->now;
}

static void remove_expired(struct pel_store *store, struct pel_item *item)
{
    if (!(item->state & PEL_ITEM_FETCHED))
        store->expired_unfetched++;
    pel_store_remove(store, item);
}

struct pel_item *pel__store_find_hashed(struct pel_store *store, struct pel_slice key, uint32_t hash)
{
    struct pel_item *item = pel_item_table_find(&store->table, key, hash);

    if (item && item_expired(store, item)) {
        store->get_expired++;
        remove_expired(store, item);
        return NULL;
    }
    return item;
}

struct pel_item *pel_store_find(struct pel_store *store, struct pel_slice key)
{
    return pel__store_find_hashed(store, key, (uint32_t)pel_siphash(&store->seed, key.bytes, key.length));
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static struct pel_item *free_flushed_item(struct pel_store *store)
{
    struct pel_item *item = store->flushed;

    store->flushed = item->older;
    if (!store->flushed)
        store->flushed_last = NULL;
    pel_store_release(store, item);
    return store->flushed;
}

/* Frees one item. Returns 0 when there is none to free. */
static int evict_one(struct pel_store *store)
{
    struct pel_item *item;

    if (store->flushed) {
        free_flushed_item(store);
        return 1;
    }
    for (int i = 0; (item = store->oldest) && i < MAX_SECOND_CHANCES; i++) {
        if (item_expired(store, item)) {
            store->reclaimed++;
            remove_expired(store, item);
            return 1;
        }
        if (!(item->state & PEL_ITEM_ACTIVE))
            break;
        item->state &= (uint8_t)~PEL_ITEM_ACTIVE;
        remove_from_list(store, item);
        list_as_newest(store, item);
    }
    if (!item)
        return 0;
    store->evictions++;
    if (!(item->state & PEL_ITEM_FETCHED))
        store->evicted_unfetched++;
    pel_store_remove(store, item);
    return 1;
}

int pel_store_allocate(struct pel_store *store, struct pel_slice key, uint64_t length, uint32_t client_flags,
                       uint32_t expires, struct pel_item **item)
{
    uint64_t cost = pel_store_cost(key.length, length), unlinked = store->bytes - store->linked_bytes;
    struct pel_item *new;

    if (sizeof *new + key.length + length + 2 > store->item_limit)
        return PEL_ELIMIT;
    /* A client that announces values and does not send them, or never reads, must not empty the store: unlinked items
     * may use only half of it. */
    if (cost > SMALL_ITEM && unlinked > 0 && unlinked + cost > store->memory_limit / 2 && !store->flushed)
        return PEL_EMEMORY;
    for (int i = 0; i < FREED_PER_ALLOCATION && store->flushed; i++)
        free_flushed_item(store);
    while (store->bytes + cost > store->memory_limit)
        if (!evict_one(store))
            return PEL_EMEMORY;
    new = pel_malloc(sizeof *new + key.length + (size_t)length + 2);
    if (!new)
        return PEL_EMEMORY;
    *new = (struct pel_item){.hash = (uint32_t)pel_siphash(&store->seed, key.bytes, key.length),
                             .expires = expires,
                             .length = (uint32_t)length,
                             .client_flags = client_flags,
                             .references = 1,
                             .key_length = (uint8_t)key.length};
    memcpy(new->bytes, key.bytes, key.length);
    store->bytes += cost;
    *item = new;
    return 0;
}

/* ---- removing many -------------------------------------------------------------------------------------------- */

/* Removes all items in constant time by moving the whole list to the flushed items, which are freed a few at a time. */
void pel_store_flush(struct pel_store *store, uint32_t instant)
{
    store->flush_at = instant > store->now ? instant : 0;
    if (store->flush_at || !store->newest)
        return;
    *(store->flushed_last ? &store->flushed_last->older : &store->flushed) = store->newest;
    store->flushed_last = store->oldest;
    store->newest = store->oldest = NULL;
    store->linked_bytes = 0;
    pel_item_table_clear(&store->table);
}

void pel_store_crawl(struct pel_store *store, uint32_t items)
{
    uint32_t visited = 0, buckets = pel_item_table_size(&store->table);

    for (; visited < items && store->flushed; visited++)
        free_flushed_item(store);
    if (buckets > items)
        buckets = items;
    while (visited < items && buckets-- > 0 && store->table.count > 0) {
        struct pel_item *item = pel_item_table_bucket(&store->table, store->crawled++), *next;
        for (; item; item = next) {
            next = item->chain;
            visited++;
            store->crawler_items_checked++;
            if (item_expired(store, item)) {
                store->crawler_reclaimed++;
                remove_expired(store, item);
            }
        }
    }
}

void pel_store_free(struct pel_store *store)
{
    pel_store_flush(store, 0);
    while (store->flushed)
        free_flushed_item(store);
    pel_item_table_free(&store->table);
}
