#include "core/store/store.h"

#include <string.h>
#include "core/base/decimal.h"

/* The old item may be unlinked already: allocating the new one may have evicted it. */
static void replace_item(struct pel_store *store, struct pel_item *old, struct pel_item *new, uint64_t new_cas)
{
    if (old->state & PEL_ITEM_LINKED)
        pel_store_remove(store, old);
    pel__store_link(store, new, new_cas);
}

/* Replaces the old item by one with both values. Returns the new item, or NULL when out of memory. */
static struct pel_item *concatenate_items(struct pel_store *store, struct pel_item *old, struct pel_item *added,
                                          const struct pel_store_put *put)
{
    struct pel_item *first = put->mode == PEL_STORE_APPEND ? old : added, *second = first == old ? added : old, *whole;
    int code;

    if (!pel_store_retain(old))
        return NULL;
    code = pel_store_allocate(store, pel_item_key(old), (uint64_t)old->length + added->length, old->client_flags,
                              old->expires, &whole);
    if (code == 0) {
        memcpy(pel_item_value(whole), pel_item_value(first), first->length);
        memcpy(pel_item_value(whole) + first->length, pel_item_value(second), second->length + 2);
        whole->state |= old->state & PEL_ITEM_BINARY_KEY;
        replace_item(store, old, whole, put->new_cas);
        pel_store_release(store, whole);
    }
    pel_store_release(store, old);
    return code == 0 ? whole : NULL;
}

static enum pel_store_result put_existing(struct pel_store *store, struct pel_item *old, struct pel_item *item,
                                          const struct pel_store_put *put, uint64_t *cas)
{
    int equal = put->compare == old->cas;

    switch (put->mode) {
    case PEL_STORE_ADD:
        old->state |= PEL_ITEM_ACTIVE; /* an add shows that the item is in use, though it was not fetched */
        old->accessed = store->now;
        return PEL_STORE_NOT_STORED;
    case PEL_STORE_APPEND:
    case PEL_STORE_PREPEND:
        if (put->compare && !equal)
            return PEL_STORE_EXISTS;
        if (!(item = concatenate_items(store, old, item, put)))
            return PEL_STORE_NOT_STORED;
        *cas = item->cas;
        return PEL_STORE_STORED;
    case PEL_STORE_CAS:
        if (!put->compare || (!equal && !(put->stale && put->compare < old->cas)))
            return PEL_STORE_EXISTS;
        if (!equal) { /* a stale item keeps the expiry of the current one, and the state of its recomputation */
            item->expires = old->expires;
            item->state |= PEL_ITEM_STALE | (old->state & PEL_ITEM_WON);
        }
        break;
    case PEL_STORE_SET:
    case PEL_STORE_REPLACE:
        break;
    }
    replace_item(store, old, item, put->new_cas);
    *cas = item->cas;
    return PEL_STORE_STORED;
}

enum pel_store_result pel_store_put(struct pel_store *store, struct pel_item *item, const struct pel_store_put *put,
                                    uint64_t *cas)
{
    struct pel_item *old = pel__store_find_hashed(store, pel_item_key(item), item->hash);

    *cas = 0;
    if (old)
        return put_existing(store, old, item, put, cas);
    if (put->mode == PEL_STORE_CAS)
        return PEL_STORE_NOT_FOUND;
    if (put->mode != PEL_STORE_SET && put->mode != PEL_STORE_ADD)
        return PEL_STORE_NOT_STORED;
    pel__store_link(store, item, put->new_cas);
    *cas = item->cas;
    return PEL_STORE_STORED;
}

struct pel_item *pel_store_create(struct pel_store *store, struct pel_slice key, struct pel_slice value,
                                  uint64_t new_cas)
{
    struct pel_store_put put = {.mode = PEL_STORE_SET, .new_cas = new_cas};
    struct pel_item *item;
    uint64_t cas;

    if (pel_store_allocate(store, key, value.length, 0, 0, &item) < 0)
        return NULL;
    memcpy(pel_item_value(item), value.bytes, value.length);
    memcpy(pel_item_value(item) + value.length, "\r\n", 2);
    pel_store_put(store, item, &put, &cas);
    pel_store_release(store, item);
    return item;
}

static int parse_item_number(struct pel_item *item, uint64_t *number)
{
    struct pel_slice text = {pel_item_value(item), item->length};

    while (text.length && text.bytes[text.length - 1] == ' ')
        text.length--;
    return pel_decimal(text, UINT64_MAX, number) < 0 ? PEL_EARGUMENT : 0;
}

int pel_store_add(struct pel_store *store, struct pel_item **item, int subtract, uint64_t delta, uint64_t new_cas,
                  uint64_t *number)
{
    struct pel_item *old = *item, *longer = old;
    char digits[PEL_DECIMAL_DIGITS], *first;
    uint32_t length;
    uint64_t result;
    int code = 0;

    if (parse_item_number(old, &result) < 0)
        return PEL_EARGUMENT;
    if (subtract)
        result = delta > result ? 0 : result - delta;
    else
        result += delta;
    *number = result;
    first = pel_decimal_before(digits + sizeof digits, result);
    length = (uint32_t)(digits + sizeof digits - first);
    /* Overwrite the value in place if the digits fit, padded with spaces, and no connection is sending the item. */
    if (length <= old->length && old->references == 1) {
        memcpy(pel_item_value(old), first, length);
        memset(pel_item_value(old) + length, ' ', old->length - length);
        pel_store_renew(store, old, new_cas);
        old->accessed = store->now;
        return 0;
    }
    if (!pel_store_retain(old))
        return PEL_EMEMORY;
    code = pel_store_allocate(store, pel_item_key(old), length, old->client_flags, old->expires, &longer);
    if (code == 0) {
        memcpy(pel_item_value(longer), first, length);
        memcpy(pel_item_value(longer) + length, "\r\n", 2);
        longer->state |= old->state & PEL_ITEM_BINARY_KEY;
        replace_item(store, old, longer, new_cas);
        pel_store_release(store, longer);
        *item = longer;
    }
    pel_store_release(store, old);
    return code == 0 ? 0 : PEL_EMEMORY;
}
