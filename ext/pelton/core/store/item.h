#pragma once

#include <stdint.h>

#include "core/base/slice.h"

/*
 * One entry of the store: header, key, value and the CRLF that follows the value on the wire, in one block of memory.
 *
 * Items are reference-counted: the store has one reference while the item is linked, the connection that receives its
 * value has one, and each connection that sends it has one. The last release frees the item, so an item may be evicted
 * or replaced while it is being sent.
 */

/* Bits of `state`. */
enum {
    PEL_ITEM_LINKED = 1,     /* stored under its key */
    PEL_ITEM_FETCHED = 2,    /* fetched since it was stored */
    PEL_ITEM_ACTIVE = 4,     /* fetched since it was last considered for eviction */
    PEL_ITEM_STALE = 8,      /* invalidated: replies carry X */
    PEL_ITEM_WON = 16,       /* one client was asked to recompute it: it got W, further replies carry Z */
    PEL_ITEM_BINARY_KEY = 32 /* the client sent the key as base64 */
};

#define PEL_ITEM_REFERENCES 60000 /* the most references of an item; almost all belong to connections */

struct pel_item {
    struct pel_item *chain;         /* the next item in its bucket */
    struct pel_item *newer, *older; /* neighbours in the store's list */
    uint64_t cas;
    uint32_t hash;
    uint32_t expires;  /* an instant of the store's clock; 0: never */
    uint32_t accessed; /* the instant of the last access */
    uint32_t length;   /* the length of the value, without its CRLF */
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

/* The value, followed by two bytes, which are CRLF once the value was received. */
static inline char *pel_item_value(struct pel_item *item)
{
    return item->bytes + item->key_length;
}
