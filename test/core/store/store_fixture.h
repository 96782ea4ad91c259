#pragma once

#include "check.h"
#include "core/store/store.h"

/* Shared by the store's tests: a store, and short forms of its commands. */

#define MB (UINT64_C(1) << 20)

__attribute__((unused)) static struct pel_slice text(const char *bytes)
{
    return (struct pel_slice){bytes, strlen(bytes)};
}

__attribute__((unused)) static struct pel_item *allocate(struct pel_store *store, const char *key, const char *value,
                                                         uint32_t expires)
{
    struct pel_item *item;

    CHECK_INT(0, pel_store_allocate(store, text(key), strlen(value), 0, expires, &item));
    memcpy(pel_item_value(item), value, strlen(value));
    memcpy(pel_item_value(item) + strlen(value), "\r\n", 2);
    return item;
}

__attribute__((unused)) static enum pel_store_result put(struct pel_store *store, const char *key, const char *value,
                                                         struct pel_store_put how)
{
    struct pel_item *item = allocate(store, key, value, 0);
    uint64_t cas;
    enum pel_store_result result = pel_store_put(store, item, &how, &cas);

    CHECK((result == PEL_STORE_STORED) == (cas != 0));
    pel_store_release(store, item);
    return result;
}

__attribute__((unused)) static void set_until(struct pel_store *store, const char *key, const char *value,
                                              uint32_t expires)
{
    struct pel_item *item = allocate(store, key, value, expires);
    uint64_t cas;

    CHECK_INT(PEL_STORE_STORED, pel_store_put(store, item, &(struct pel_store_put){.mode = PEL_STORE_SET}, &cas));
    pel_store_release(store, item);
}

__attribute__((unused)) static void set(struct pel_store *store, const char *key, const char *value)
{
    set_until(store, key, value, 0);
}

__attribute__((unused)) static struct pel_item *find(struct pel_store *store, const char *key)
{
    return pel_store_find(store, text(key));
}

static struct pel_store store;

static void begin(uint64_t memory)
{
    CHECK_INT(0, pel_store_init(&store, memory, MB));
    pel_store_set_time(&store, 0, 1800000000);
}

/* Frees the store and checks that no memory is left. */
static void end(void)
{
    pel_store_free(&store);
    CHECK_INT(0, store.bytes);
    CHECK_INT(0, store.linked_bytes);
}

#define STORE_TEST(title) TEST_BETWEEN(begin(8 * MB), title, end())

#define CHECK_VALUE(expected, store, key)                                                                              \
    do {                                                                                                               \
        struct pel_item *check_item = find(store, key);                                                                \
        CHECK(check_item);                                                                                             \
        CHECK_BYTES(expected "\r\n", pel_item_value(check_item), check_item->length + 2);                              \
    } while (0)
