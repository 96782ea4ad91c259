#ifndef PEL_ITEM_H
#define PEL_ITEM_H

#include <stdint.h>

#include "slice.h"

/*
 * One entry of the store: header, key, value and the CRLF that follows it on the wire, in one piece of memory.
 *
 * An item belongs to whoever holds a reference: the store (one, while it is linked), the connection that receives it,
 * and each one that sends it. It is freed with the last one, so what is being sent may be evicted or replaced
 * meanwhile.
 */

/* Bits of `state`. */
enum {
    PEL_ITEM_LINKED = 1,     /* found under its key */
    PEL_ITEM_FETCHED = 2,    /* fetched since it was stored */
    PEL_ITEM_ACTIVE = 4,     /* fetched since it was last looked at for eviction */
    PEL_ITEM_STALE = 8,      /* invalidated: X */
    PEL_ITEM_WON = 16,       /* a client was told to compute it anew: W was sent, Z follows */
    PEL_ITEM_BINARY_KEY = 32 /* its key came as base64 */
};

#define PEL_ITEM_REFERENCES 60000 /* at most; those who hold one are connections */

struct pel_item {
    struct pel_item *chain;         /* the next one in its bucket */
    struct pel_item *newer, *older; /* in the order of storing; see pel_store */
    uint64_t cas;
    uint32_t hash;
    uint32_t expires;  /* an instant of the store's clock; 0: never */
    uint32_t accessed; /* an instant */
    uint32_t length;   /* of the value, without its CRLF */
    uint32_t client_flags;
    uint16_t references;
    uint8_t key_length;
    uint8_t state;
    char bytes[];
};

static inline struct pel_slice pel_item_key(const struct pel_item *item)
{
    return (struct pel_slice){item->bytes, item->key_length};
}

/* Its value; two bytes, CRLF once it was received, follow. */
static inline char *pel_item_value(struct pel_item *item)
{
    return item->bytes + item->key_length;
}

#endif
