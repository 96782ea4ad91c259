#pragma once

#include "core/base/error.h"
#include "core/base/siphash.h"
#include "core/store/item_table.h"

/*
 * The embedded memcached's store: items under keys, within a memory limit. It knows no protocol and makes no system
 * call except for memory; its owner sets the clock. Not thread-safe.
 *
 * When the memory limit is reached, items are evicted in the order of their storing, oldest first; an item that was
 * fetched since it was last considered is spared once (second chance: an approximation of least recently used without a
 * list operation at each fetch). An expired item is removed when it is looked up, or by pel_store_crawl.
 */

#define PEL_STORE_KEY_LIMIT 250
#define PEL_STORE_DELTA_LIMIT (60 * 60 * 24 * 30) /* seconds; a larger expiry is a Unix time */

struct pel_store {
    /* The clock, which the owner sets by pel_store_set_time. */
    uint32_t now; /* an instant: seconds since the store was created, plus 2, so that 1 is always past */
    int64_t wall; /* the Unix time */

    uint64_t memory_limit; /* bytes of all items, including the allocator's overhead */
    uint64_t item_limit;   /* bytes of one item, including header and key */

    /* private: */
    struct pel_siphash_seed seed;
    struct pel_item_table table;
    struct pel_item *newest, *oldest; /* the list of linked items */
    struct pel_item *flushed;         /* flushed items, to be freed: linked by `older` */
    struct pel_item *flushed_last;
    uint64_t last_cas;
    uint32_t flush_at; /* the instant of a delayed flush; 0: none */
    uint32_t crawled;  /* the number of buckets crawled so far */

    /* statistics, which the owner may read: */
    uint64_t bytes;        /* the cost of all items that have memory */
    uint64_t linked_bytes; /* the cost of the linked items */
    uint64_t total_items, evictions, evicted_unfetched, reclaimed, expired_unfetched;
    uint64_t crawler_reclaimed, crawler_items_checked;
    uint64_t get_expired;
};

/* Initializes an empty store; the limits are in bytes. Returns 0, PEL_EMEMORY or PEL_ESYSTEM (no random bytes). */
int pel_store_init(struct pel_store *store, uint64_t memory_limit, uint64_t item_limit);

/* Frees everything except items with other references: pel_store_release frees those, and needs the struct to do so. */
void pel_store_free(struct pel_store *store);

/* Sets the clock: the seconds since the store was created (a smaller number than before is ignored), and the Unix time.
 * Performs a delayed flush that is due. */
void pel_store_set_time(struct pel_store *store, uint32_t seconds, int64_t wall);

/* Converts a client's expiry to an instant: 0 means never and returns 0, a negative number is past, other numbers are
 * seconds from now, or, beyond 30 days, a Unix time. */
uint32_t pel_store_instant(const struct pel_store *store, int64_t expiry);

/* The seconds until an item expires; -1: never. */
int64_t pel_store_ttl(const struct pel_store *store, const struct pel_item *item);

/* The item of a key, unless it is expired, or NULL. It is valid until the store changes. */
struct pel_item *pel_store_find(struct pel_store *store, struct pel_slice key);

/* Records that a client has fetched the item. */
static inline void pel_store_fetched(const struct pel_store *store, struct pel_item *item)
{
    item->state |= PEL_ITEM_FETCHED | PEL_ITEM_ACTIVE;
    item->accessed = store->now;
}

/*
 * Allocates an item with a value of `length` bytes, and evicts other items if necessary. The caller has the only
 * reference, fills in the value and its CRLF, and passes the item to pel_store_put. `expires` is an instant.
 *
 *   0            `*item` is set
 *   PEL_ELIMIT   the item would be larger than item_limit
 *   PEL_EMEMORY  no memory: items being received or sent use all of it
 */
int pel_store_allocate(struct pel_store *store, struct pel_slice key, uint64_t length, uint32_t client_flags,
                       uint32_t expires, struct pel_item **item);

enum pel_store_mode {
    PEL_STORE_SET,
    PEL_STORE_ADD,
    PEL_STORE_REPLACE,
    PEL_STORE_APPEND,
    PEL_STORE_PREPEND,
    PEL_STORE_CAS /* replaces the item if `compare` equals its CAS number: 0 never does */
};

enum pel_store_result { PEL_STORE_STORED, PEL_STORE_NOT_STORED, PEL_STORE_EXISTS, PEL_STORE_NOT_FOUND };

struct pel_store_put {
    enum pel_store_mode mode;
    uint64_t compare; /* CAS, append and prepend: the current item must have this CAS number; append, prepend: 0: any */
    uint64_t new_cas; /* the CAS number to assign; 0: the next one */
    int stale; /* CAS: a CAS number older than the current item's is accepted, too, and makes the new item stale */
};

/* Stores an item that was just allocated. The caller keeps its reference. `*cas` is the assigned CAS number, 0 if
 * nothing was stored. An append without memory is NOT_STORED. */
enum pel_store_result pel_store_put(struct pel_store *store, struct pel_item *item, const struct pel_store_put *put,
                                    uint64_t *cas);

/* Creates an item with that value and without an expiry, and stores it in place of the key's current item. `new_cas` as
 * in pel_store_put. Returns NULL when out of memory. */
struct pel_item *pel_store_create(struct pel_store *store, struct pel_slice key, struct pel_slice value,
                                  uint64_t new_cas);

/* Removes a linked item. */
void pel_store_remove(struct pel_store *store, struct pel_item *item);

/* Removes the linked items for which `wanted` returns not 0, and returns their number. It visits all. */
uint64_t pel_store_remove_if(struct pel_store *store, int (*wanted)(struct pel_item *item, const void *data),
                             const void *data);

/* Assigns a new CAS number to an item; 0: the next one. */
void pel_store_renew(struct pel_store *store, struct pel_item *item, uint64_t new_cas);

/*
 * Adds to (or subtracts from) the number in a linked item's value: modulo 2^64, never below 0. `*item` becomes the item
 * that holds the result, `*number` the result. A shorter result is padded with spaces, as memcached does.
 *
 *   0              done
 *   PEL_EARGUMENT  the value is not a number of at most 64 bits
 *   PEL_EMEMORY    no memory for a longer value; nothing has changed
 */
int pel_store_add(struct pel_store *store, struct pel_item **item, int subtract, uint64_t delta, uint64_t new_cas,
                  uint64_t *number);

/* Removes all items: at a future instant, or otherwise at once. A later call replaces an earlier delayed one. */
void pel_store_flush(struct pel_store *store, uint32_t instant);

/* Visits about `items` items, and frees the flushed and the expired items among them. */
void pel_store_crawl(struct pel_store *store, uint32_t items);

/* Adds a reference. Returns 0 when the item has too many: the caller then copies the item. */
static inline int pel_store_retain(struct pel_item *item)
{
    if (item->references >= PEL_ITEM_REFERENCES)
        return 0;
    item->references++;
    return 1;
}

/* Drops a reference; the last one frees the item. */
void pel_store_release(struct pel_store *store, struct pel_item *item);

/* The memory, in bytes, that an item with such a key and value occupies. */
uint64_t pel_store_cost(size_t key_length, uint64_t length);

/* For commands.c: links an item under its key, which must have no other; `new_cas` as in pel_store_put. */
void pel__store_link(struct pel_store *store, struct pel_item *item, uint64_t new_cas);

/* pel_store_find for a caller that knows the hash. */
struct pel_item *pel__store_find_hashed(struct pel_store *store, struct pel_slice key, uint32_t hash);
