#include "core/store/store.h"

#include "store/store_fixture.h"

/* Stores key0, key1, ... with values of `length` bytes. */
static void fill(int from, int to, size_t length)
{
    char key[24], value[8192];

    memset(value, 'v', length);
    value[length] = '\0';
    for (int i = from; i < to; i++) {
        snprintf(key, sizeof key, "key%d", i);
        set(&store, key, value);
    }
}

static int count_found(int from, int to)
{
    char key[24];
    int found = 0;

    for (int i = from; i < to; i++) {
        snprintf(key, sizeof key, "key%d", i);
        found += find(&store, key) != NULL;
    }
    return found;
}

STORE_TEST(an_item_is_found_until_it_is_removed)
{
    CHECK_POINTER(NULL, find(&store, "a"));
    set(&store, "a", "one");
    CHECK_VALUE("one", &store, "a");
    set(&store, "a", "two");
    CHECK_VALUE("two", &store, "a");
    CHECK_INT(1, store.table.count);
    pel_store_remove(&store, find(&store, "a"));
    CHECK_POINTER(NULL, find(&store, "a"));
    CHECK_INT(0, store.bytes);
}

static int ends_with_data(struct pel_item *item, const void *data)
{
    struct pel_slice key = pel_item_key(item);
    return key.bytes[key.length - 1] == *(const char *)data;
}

STORE_TEST(items_are_removed_that_are_wanted)
{
    fill(0, 25, 10);
    CHECK_INT(3, pel_store_remove_if(&store, ends_with_data, "2"));
    CHECK_INT(22, count_found(0, 25));
    CHECK_POINTER(NULL, find(&store, "key12"));
    CHECK_INT(0, pel_store_remove_if(&store, ends_with_data, "2"));
}

STORE_TEST(each_change_assigns_a_new_cas)
{
    uint64_t first;

    set(&store, "a", "1");
    first = find(&store, "a")->cas;
    set(&store, "a", "1");
    CHECK(find(&store, "a")->cas > first);
    pel_store_renew(&store, find(&store, "a"), 77);
    CHECK_INT(77, find(&store, "a")->cas);
}

STORE_TEST(an_item_expires_at_its_instant)
{
    set_until(&store, "short", "1", pel_store_instant(&store, 10));
    set_until(&store, "dead", "1", pel_store_instant(&store, -1));
    set_until(&store, "never", "1", pel_store_instant(&store, 0));
    CHECK_POINTER(NULL, find(&store, "dead"));
    CHECK_INT(10, pel_store_ttl(&store, find(&store, "short")));
    CHECK_INT(-1, pel_store_ttl(&store, find(&store, "never")));
    pel_store_set_time(&store, 9, 1800000009);
    CHECK(find(&store, "short"));
    pel_store_set_time(&store, 10, 1800000010);
    CHECK_POINTER(NULL, find(&store, "short"));
    CHECK(find(&store, "never"));
    CHECK_INT(2, store.get_expired);
}

STORE_TEST(an_expiry_beyond_thirty_days_is_a_unix_time)
{
    CHECK_INT(2 + 2592000, pel_store_instant(&store, 2592000));
    CHECK_INT(1, pel_store_instant(&store, 2592001));
    CHECK_INT(1, pel_store_instant(&store, 1800000000));
    CHECK_INT(2 + 60, pel_store_instant(&store, 1800000060));
    CHECK_INT(1, pel_store_instant(&store, INT64_MIN));
    CHECK_INT(UINT32_MAX, pel_store_instant(&store, INT64_MAX));
}

STORE_TEST(time_never_goes_back)
{
    set_until(&store, "a", "1", pel_store_instant(&store, 5));
    pel_store_set_time(&store, 6, 1800000006);
    pel_store_set_time(&store, 0, 1);
    CHECK_POINTER(NULL, find(&store, "a"));
}

#define SMALL_STORE_TEST(title) TEST_BETWEEN(begin(MB), title, end())

SMALL_STORE_TEST(memory_stays_within_its_limit_and_the_oldest_items_are_evicted_first)
{
    fill(0, 3000, 1000);
    CHECK(store.bytes <= MB);
    CHECK(store.evictions > 0);
    CHECK_INT(3000 - store.evictions, store.table.count);
    CHECK_INT(store.table.count, count_found(0, 3000));
    CHECK_INT(0, count_found(0, (int)store.evictions));
}

SMALL_STORE_TEST(a_fetched_item_is_spared_once_and_eviction_never_scans_all_items)
{
    fill(0, 900, 1000);
    CHECK_INT(0, store.evictions);
    for (int i = 0; i < 30; i++)
        pel_store_fetched(&store, store.oldest->newer);
    pel_store_fetched(&store, find(&store, "key0"));
    fill(900, 1200, 1000);
    CHECK(store.evictions > 100);
    CHECK(find(&store, "key0"));
    CHECK(find(&store, "key1"));
    CHECK_POINTER(NULL, find(&store, "key2"));
    for (struct pel_item *item = store.newest; item; item = item->older)
        pel_store_fetched(&store, item);
    fill(1200, 1210, 1000); /* all are active: some are evicted nevertheless */
    CHECK(store.bytes <= MB);
    CHECK_INT(10, count_found(1200, 1210));
}

SMALL_STORE_TEST(expired_items_are_reclaimed_before_others_are_evicted)
{
    for (int i = 0; i < 100; i++) {
        char key[24];
        snprintf(key, sizeof key, "old%d", i);
        set_until(&store, key, "x", 3);
    }
    fill(0, 930, 1000);
    CHECK_INT(0, store.evictions);
    pel_store_set_time(&store, 1, 1800000001);
    while (!store.evictions)
        fill(0, 930, 1000), fill(930, 1100, 1000);
    CHECK_INT(100, store.reclaimed);
    CHECK_INT(100, store.expired_unfetched);
}

TEST(a_too_large_item_is_refused_by_its_own_code)
{
    struct pel_item *item;

    begin(2 * MB);
    CHECK_INT(PEL_ELIMIT, pel_store_allocate(&store, text("a"), MB, 0, 0, &item));
    CHECK_INT(PEL_ELIMIT, pel_store_allocate(&store, text("a"), UINT32_MAX, 0, 0, &item));
    CHECK_INT(PEL_ELIMIT, pel_store_allocate(&store, text("a"), UINT64_MAX / 2, 0, 0, &item));
    CHECK_INT(0, pel_store_allocate(&store, text("a"), MB - 100, 0, 0, &item));
    pel_store_release(&store, item);
    end();
}

TEST(an_item_may_be_as_large_as_the_limit)
{
    size_t most = MB - sizeof(struct pel_item) - 1 - 2; /* its key, and the line end after the value */
    struct pel_item *item;

    begin(2 * MB);
    CHECK_INT(PEL_ELIMIT, pel_store_allocate(&store, text("a"), most + 1, 0, 0, &item));
    CHECK_INT(0, pel_store_allocate(&store, text("a"), most, 0, 0, &item));
    pel_store_release(&store, item);
    end();
}

STORE_TEST(announced_values_cannot_empty_the_store)
{
    struct pel_item *announced[64];
    int count = 0;

    fill(0, 1000, 1000);
    while (pel_store_allocate(&store, text("upload"), MB / 2, 0, 0, &announced[count]) == 0)
        count++;
    CHECK_INT(7, count);
    CHECK_INT(1000, count_found(0, 1000));
    set(&store, "small", "values are stored nevertheless");
    CHECK(find(&store, "small"));
    while (count > 0)
        pel_store_release(&store, announced[--count]);
}

SMALL_STORE_TEST(an_item_that_is_being_sent_outlives_its_eviction)
{
    struct pel_item *sent;

    set(&store, "sent", "the whole value");
    sent = find(&store, "sent");
    CHECK(pel_store_retain(sent));
    fill(0, 2000, 1000);
    CHECK_POINTER(NULL, find(&store, "sent"));
    CHECK_BYTES("the whole value\r\n", pel_item_value(sent), sent->length + 2);
    CHECK(store.bytes > store.linked_bytes);
    pel_store_release(&store, sent);
    CHECK_INT(store.bytes, store.linked_bytes);
}

SMALL_STORE_TEST(an_item_has_a_limit_of_references)
{
    struct pel_item *item;
    int references = 1;

    set(&store, "a", "1");
    item = find(&store, "a");
    while (pel_store_retain(item))
        references++;
    CHECK_INT(PEL_ITEM_REFERENCES, references);
    while (--references > 0)
        pel_store_release(&store, item);
    CHECK_VALUE("1", &store, "a");
}

STORE_TEST(a_flush_removes_all_items_at_once_and_frees_them_a_few_at_a_time)
{
    fill(0, 2000, 100);
    pel_store_flush(&store, 0);
    CHECK_INT(0, store.table.count);
    CHECK_INT(0, count_found(0, 2000));
    CHECK(store.bytes > 0);
    fill(0, 10, 100);
    pel_store_flush(&store, 0); /* a second one, before the first one's items are freed */
    fill(0, 10, 100);
    for (int i = 0; i < 30; i++)
        pel_store_crawl(&store, 100);
    CHECK_INT(store.linked_bytes, store.bytes);
    CHECK_INT(10, count_found(0, 2000));
}

STORE_TEST(a_delayed_flush_is_performed_when_it_is_due)
{
    set(&store, "before", "1");
    pel_store_flush(&store, pel_store_instant(&store, 5));
    CHECK(find(&store, "before"));
    pel_store_set_time(&store, 4, 1800000004);
    set(&store, "meanwhile", "1");
    CHECK(find(&store, "before"));
    pel_store_set_time(&store, 5, 1800000005);
    CHECK_POINTER(NULL, find(&store, "before"));
    CHECK_POINTER(NULL, find(&store, "meanwhile"));
    set(&store, "after", "1");
    pel_store_set_time(&store, 60, 1800000060);
    CHECK(find(&store, "after"));
}

STORE_TEST(a_flush_replaces_a_delayed_one)
{
    pel_store_flush(&store, pel_store_instant(&store, 5));
    pel_store_flush(&store, 0);
    set(&store, "a", "1");
    pel_store_set_time(&store, 6, 1800000006);
    CHECK(find(&store, "a"));
}

SMALL_STORE_TEST(a_flush_frees_memory_for_new_items)
{
    fill(0, 900, 1000);
    pel_store_flush(&store, 0);
    fill(0, 900, 1000);
    CHECK_INT(0, store.evictions);
    CHECK_INT(900, count_found(0, 900));
}

STORE_TEST(the_crawler_frees_expired_items_that_nobody_looks_up)
{
    fill(0, 3000, 100);
    for (int i = 0; i < 3000; i += 2) {
        char key[24];
        snprintf(key, sizeof key, "key%d", i);
        find(&store, key)->expires = store.now + 1;
    }
    pel_store_set_time(&store, 1, 1800000001);
    for (int i = 0; i < 100; i++)
        pel_store_crawl(&store, 100);
    CHECK_INT(1500, store.crawler_reclaimed);
    CHECK_INT(1500, store.table.count);
}

/* Compares the number of items and their cost with the store's counters. */
SMALL_STORE_TEST(the_counters_are_right_after_random_commands)
{
    uint32_t seed = 7;

    for (int i = 0; i < 50000; i++) {
        char key[24];
        seed = seed * 1664525 + 1013904223;
        snprintf(key, sizeof key, "key%d", seed >> 8 & 1023);
        switch (seed >> 20 & 7) {
        case 0:
            if (find(&store, key))
                pel_store_remove(&store, find(&store, key));
            break;
        case 1:
            pel_store_set_time(&store, (uint32_t)i / 1000, 1800000000);
            pel_store_crawl(&store, 50);
            break;
        case 2:
            if (seed >> 28 == 3)
                pel_store_flush(&store, 0);
            break;
        case 3:
            if (find(&store, key))
                pel_store_fetched(&store, find(&store, key));
            break;
        default:
            set_until(&store, key, seed & 1 << 18 ? "a value of some length, which is longer than the other" : "short",
                      pel_store_instant(&store, seed >> 24 & 3));
        }
    }
    for (int i = 0; i < 1000; i++)
        pel_store_crawl(&store, 1000);
    uint64_t bytes = 0;
    size_t count = 0;
    for (struct pel_item *item = store.newest; item; item = item->older, count++)
        bytes += pel_store_cost(item->key_length, item->length);
    CHECK_INT(count, store.table.count);
    CHECK_INT(bytes, store.linked_bytes);
    CHECK_INT(bytes, store.bytes);
}
