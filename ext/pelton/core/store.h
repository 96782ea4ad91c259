#ifndef PEL_STORE_H
#define PEL_STORE_H

#include "error.h"
#include "item_table.h"
#include "siphash.h"

/*
 * The embedded memcached's store: items under keys, within a limit of memory. It knows no protocol and makes no system
 * call but for memory; whoever owns it tells it the time. Not thread-safe.
 *
 * When memory ends, items go in the order of their storing, oldest first; one that was fetched since it was last in
 * danger is spared once (second chance: nearly the least recently used one, without a list operation at each fetch).
 * Expired items are found dead when they are asked for, and collected by pel_store_crawl.
 */

#define PEL_STORE_KEY_LIMIT 250
#define PEL_STORE_DELTA_LIMIT (60 * 60 * 24 * 30) /* seconds; a larger expiry is a date */

struct pel_store {
    /* The clock, kept by the owner: see pel_store_set_time. */
    uint32_t now; /* an instant: seconds since the store was made, and two more, so that 1 is always past */
    int64_t wall; /* the Unix time */

    uint64_t memory_limit; /* bytes of all items, as the allocator counts them */
    uint64_t item_limit;   /* bytes of one, header and key included */

    /* private: */
    struct pel_siphash_seed seed;
    struct pel_item_table table;
    struct pel_item *newest, *oldest; /* of the linked items */
    struct pel_item *buried;          /* flushed, to be freed: linked by `older` */
    struct pel_item *buried_last;
    uint64_t last_cas;
    uint32_t flush_at; /* an instant; 0: no flush is to come */
    uint32_t crawled;  /* buckets */

    /* statistics, to be read: */
    uint64_t bytes;        /* of all items that have memory */
    uint64_t linked_bytes; /* of those that can be found */
    uint64_t total_items, evictions, evicted_unfetched, reclaimed, expired_unfetched;
    uint64_t crawler_reclaimed, crawler_items_checked;
    uint64_t get_expired;
};

/* 0, PEL_EMEMORY or PEL_ESYSTEM (no random bytes). Limits in bytes. */
int pel_store_init(struct pel_store *store, uint64_t memory_limit, uint64_t item_limit);

/* Frees everything but items that others hold: they are freed by pel_store_release, for which the struct must remain.
 */
void pel_store_free(struct pel_store *store);

/* Tells the time: seconds since the store was made (they never go back), and the Unix time. Does a delayed flush that
 * is due. */
void pel_store_set_time(struct pel_store *store, uint32_t seconds, int64_t wall);

/* The instant that a client means: 0 never (and 0 is returned), negative already past, else seconds from now, or a date
 * when they are more than 30 days. */
uint32_t pel_store_instant(const struct pel_store *store, int64_t expiry);

/* Seconds from now to an item's end; -1: it has none. */
int64_t pel_store_ttl(const struct pel_store *store, const struct pel_item *item);

/* The live item of a key, or NULL. It stays valid until the store is changed. */
struct pel_item *pel_store_find(struct pel_store *store, struct pel_slice key);

/* Notes that a client has fetched the item. */
static inline void pel_store_fetched(const struct pel_store *store, struct pel_item *item)
{
    item->state |= PEL_ITEM_FETCHED | PEL_ITEM_ACTIVE;
    item->accessed = store->now;
}

/*
 * Memory for an item with a value of `length` bytes, evicting others if need be. The caller holds the one reference,
 * fills the value and its CRLF, and gives the item to pel_store_put. `expires` is an instant.
 *
 *   0            `*item` is set
 *   PEL_ELIMIT   larger than one item may be
 *   PEL_EMEMORY  no memory: what is being received or sent has it all
 */
int pel_store_allocate(struct pel_store *store, struct pel_slice key, uint64_t length, uint32_t client_flags,
                       uint32_t expires, struct pel_item **item);

enum pel_store_mode {
    PEL_STORE_SET,
    PEL_STORE_ADD,
    PEL_STORE_REPLACE,
    PEL_STORE_APPEND,
    PEL_STORE_PREPEND,
    PEL_STORE_CAS /* replace, and `compare` must hold: 0 never does */
};

enum pel_store_result { PEL_STORE_STORED, PEL_STORE_NOT_STORED, PEL_STORE_EXISTS, PEL_STORE_NOT_FOUND };

struct pel_store_put {
    enum pel_store_mode mode;
    uint64_t compare; /* CAS, append and prepend: only if the present item has this cas; 0: any */
    uint64_t new_cas; /* what the item gets; 0: the next one */
    int stale;        /* CAS: one that is older than the present item's is taken too, and marked as stale */
};

/* Stores an item that nobody else knows. The caller keeps its reference. `*cas` is what was stored, 0 if nothing was.
 * An append that finds no memory is NOT_STORED. */
enum pel_store_result pel_store_put(struct pel_store *store, struct pel_item *item, const struct pel_store_put *put,
                                    uint64_t *cas);

/* Makes an item with that value, and stores it without an expiry in the place of what its key had. `new_cas` as in
 * pel_store_put. NULL when there is no memory. */
struct pel_item *pel_store_create(struct pel_store *store, struct pel_slice key, struct pel_slice value,
                                  uint64_t new_cas);

/* Takes a found item away. */
void pel_store_remove(struct pel_store *store, struct pel_item *item);

/* Gives a found item another cas; 0: the next one. */
void pel_store_renew(struct pel_store *store, struct pel_item *item, uint64_t new_cas);

/*
 * Adds to (or takes from) the number that a found item's value is: modulo 2^64, never below 0. `*item` becomes the item
 * that holds it now, `*number` the result. A shorter result leaves spaces behind it, as memcached's does.
 *
 *   0              done
 *   PEL_EARGUMENT  the value is not a number of at most 64 bits
 *   PEL_EMEMORY    no memory for a longer one; nothing has changed
 */
int pel_store_add(struct pel_store *store, struct pel_item **item, int subtract, uint64_t delta, uint64_t new_cas,
                  uint64_t *number);

/* Forgets all items: at once, or (an instant that is to come) then. A later call takes the place of an earlier one. */
void pel_store_flush(struct pel_store *store, uint32_t instant);

/* Looks at about `items` items, and frees the flushed and the expired ones among them. */
void pel_store_crawl(struct pel_store *store, uint32_t items);

/* One more holder. 0 when an item has too many: copy it instead. */
static inline int pel_store_hold(struct pel_item *item)
{
    if (item->references >= PEL_ITEM_REFERENCES)
        return 0;
    item->references++;
    return 1;
}

/* One holder less; the last one frees it. */
void pel_store_release(struct pel_store *store, struct pel_item *item);

/* What an item with such a key and value costs, in bytes of memory. */
uint64_t pel_store_cost(size_t key_length, uint64_t length);

/* Shared with store_commands.c: makes an item the one of its key, which must have none; `new_cas` as in pel_store_put.
 */
void pel__store_link(struct pel_store *store, struct pel_item *item, uint64_t new_cas);

/* pel_store_find, for who knows the hash. */
struct pel_item *pel__store_find_hashed(struct pel_store *store, struct pel_slice key, uint32_t hash);

#endif
