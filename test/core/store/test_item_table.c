#include "core/store/item_table.h"

#include "check.h"

#define ITEMS 20000

static struct pel_item *items[ITEMS];

/* A small number of hashes makes long chains, in which keys must be compared. */
static struct pel_item *new_item(uint32_t number, uint32_t hashes)
{
    char key[16];
    int length = snprintf(key, sizeof key, "key%u", number);
    struct pel_item *item = calloc(1, sizeof *item + (size_t)length);

    memcpy(item->bytes, key, (size_t)length);
    item->key_length = (uint8_t)length;
    item->hash = hashes ? number % hashes : number * 2654435761u;
    return item;
}

static void fill(struct pel_item_table *table, uint32_t count, uint32_t hashes)
{
    for (uint32_t i = 0; i < count; i++) {
        items[i] = new_item(i, hashes);
        pel_item_table_insert(table, items[i]);
    }
}

static void free_items(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(items[i]);
}

static struct pel_item *find(const struct pel_item_table *table, const struct pel_item *item)
{
    return pel_item_table_find(table, pel_item_key(item), item->hash);
}

static void check_all_found(uint32_t count, uint32_t hashes)
{
    struct pel_item_table table;
    uint32_t size;

    CHECK_INT(0, pel_item_table_init(&table));
    size = pel_item_table_size(&table);
    fill(&table, count, hashes);
    CHECK_INT(count, table.count);
    for (uint32_t i = 0; i < count; i++)
        CHECK_POINTER(items[i], find(&table, items[i]));
    CHECK(count < size || pel_item_table_size(&table) > size);
    pel_item_table_free(&table);
    free_items(count);
}

TEST(inserted_items_are_found)
{
    check_all_found(1, 0);
    check_all_found(500, 7);
    check_all_found(ITEMS, 0);
}

TEST(all_items_are_found_at_each_step_of_a_growth)
{
    struct pel_item_table table;
    uint32_t count = 0;
    int growing = 0;

    pel_item_table_init(&table);
    while (count < ITEMS) {
        items[count] = new_item(count, 0);
        pel_item_table_insert(&table, items[count++]);
        growing += table.old != NULL;
        CHECK_POINTER(items[0], find(&table, items[0]));
        CHECK_POINTER(items[count / 2], find(&table, items[count / 2]));
        CHECK_POINTER(items[count - 1], find(&table, items[count - 1]));
    }
    CHECK(growing > 0);
    pel_item_table_free(&table);
    free_items(count);
}

TEST(only_removed_items_are_gone)
{
    struct pel_item_table table;

    pel_item_table_init(&table);
    fill(&table, ITEMS, 3000);
    for (uint32_t i = 0; i < ITEMS; i += 3)
        pel_item_table_remove(&table, items[i]);
    for (uint32_t i = 0; i < ITEMS; i++)
        CHECK_POINTER(i % 3 ? items[i] : NULL, find(&table, items[i]));
    pel_item_table_free(&table);
    free_items(ITEMS);
}

TEST(a_walk_through_the_buckets_visits_each_item_also_during_a_growth)
{
    struct pel_item_table table;
    uint32_t count = 0, visited = 0;

    pel_item_table_init(&table);
    while (!table.old || table.moved < 100) {
        items[count] = new_item(count, 0);
        pel_item_table_insert(&table, items[count++]);
    }
    for (uint32_t bucket = 0; bucket < pel_item_table_size(&table); bucket++)
        for (struct pel_item *item = pel_item_table_bucket(&table, bucket); item; item = item->chain)
            item->state = 1;
    for (uint32_t i = 0; i < count; i++)
        visited += items[i]->state;
    CHECK_INT(count, visited);
    pel_item_table_free(&table);
    free_items(count);
}

TEST(after_a_clear_no_item_is_found_and_each_can_be_inserted_again)
{
    struct pel_item_table table;

    pel_item_table_init(&table);
    fill(&table, ITEMS, 0);
    pel_item_table_clear(&table);
    CHECK_INT(0, table.count);
    CHECK_POINTER(NULL, find(&table, items[5]));
    pel_item_table_insert(&table, items[5]);
    CHECK_POINTER(items[5], find(&table, items[5]));
    pel_item_table_free(&table);
    free_items(ITEMS);
}
