#include "core/store/store.h"

#include "store/store_fixture.h"

static enum pel_store_result put_mode(enum pel_store_mode mode, const char *key, const char *value)
{
    return put(&store, key, value, (struct pel_store_put){.mode = mode});
}

static int add(const char *key, int subtract, uint64_t delta, uint64_t *number)
{
    struct pel_item *item = find(&store, key);
    int code = pel_store_add(&store, &item, subtract, delta, 0, number);

    CHECK_POINTER(find(&store, key), item);
    return code;
}

STORE_TEST(add_needs_an_absent_item_and_replace_a_present_one)
{
    CHECK_INT(PEL_STORE_NOT_STORED, put_mode(PEL_STORE_REPLACE, "a", "1"));
    CHECK_INT(PEL_STORE_STORED, put_mode(PEL_STORE_ADD, "a", "2"));
    CHECK_INT(PEL_STORE_NOT_STORED, put_mode(PEL_STORE_ADD, "a", "3"));
    CHECK_VALUE("2", &store, "a");
    CHECK_INT(PEL_STORE_STORED, put_mode(PEL_STORE_REPLACE, "a", "4"));
    CHECK_VALUE("4", &store, "a");
}

STORE_TEST(an_expired_item_counts_as_absent)
{
    set_until(&store, "a", "1", 1);
    CHECK_INT(PEL_STORE_NOT_STORED, put_mode(PEL_STORE_APPEND, "a", "2"));
    set_until(&store, "a", "1", 1);
    CHECK_INT(PEL_STORE_STORED, put_mode(PEL_STORE_ADD, "a", "2"));
    CHECK_VALUE("2", &store, "a");
}

STORE_TEST(append_and_prepend_keep_flags_and_expiry)
{
    CHECK_INT(PEL_STORE_NOT_STORED, put_mode(PEL_STORE_APPEND, "a", "x"));
    CHECK_INT(PEL_STORE_NOT_STORED, put_mode(PEL_STORE_PREPEND, "a", "x"));
    set_until(&store, "a", "b", 100);
    find(&store, "a")->client_flags = 5;
    find(&store, "a")->state |= PEL_ITEM_BINARY_KEY;
    CHECK_INT(PEL_STORE_STORED, put_mode(PEL_STORE_APPEND, "a", "c"));
    CHECK_INT(PEL_STORE_STORED, put_mode(PEL_STORE_PREPEND, "a", "a"));
    CHECK_VALUE("abc", &store, "a");
    CHECK_INT(100, find(&store, "a")->expires);
    CHECK_INT(5, find(&store, "a")->client_flags);
    CHECK(find(&store, "a")->state & PEL_ITEM_BINARY_KEY);
    CHECK_INT(PEL_STORE_STORED, put_mode(PEL_STORE_APPEND, "a", ""));
    CHECK_VALUE("abc", &store, "a");
}

STORE_TEST(an_append_that_would_exceed_the_item_limit_changes_nothing)
{
    static char large[700 * 1024];

    memset(large, 'x', sizeof large - 1);
    set(&store, "a", large);
    CHECK_INT(PEL_STORE_NOT_STORED, put_mode(PEL_STORE_APPEND, "a", large));
    CHECK_INT(sizeof large - 1, find(&store, "a")->length);
}

TEST(an_append_may_evict_the_very_item_that_it_extends)
{
    static char large[800 * 1024];

    CHECK_INT(0, pel_store_init(&store, 2 * MB, MB));
    memset(large, 'x', sizeof large - 1);
    set(&store, "a", large);
    set(&store, "b", large);
    CHECK_INT(PEL_STORE_STORED, put_mode(PEL_STORE_APPEND, "a", "tail"));
    CHECK_INT(sizeof large - 1 + 4, find(&store, "a")->length);
    CHECK(!memcmp("xtail\r\n", pel_item_value(find(&store, "a")) + sizeof large - 2, 7));
    CHECK_POINTER(NULL, find(&store, "b"));
    CHECK_INT(2, store.evictions);
    end();
}

STORE_TEST(cas_stores_only_over_the_item_with_that_cas)
{
    uint64_t cas;

    CHECK_INT(PEL_STORE_NOT_FOUND, put(&store, "a", "1", (struct pel_store_put){PEL_STORE_CAS, .compare = 1}));
    set(&store, "a", "1");
    cas = find(&store, "a")->cas;
    CHECK_INT(PEL_STORE_EXISTS, put(&store, "a", "2", (struct pel_store_put){PEL_STORE_CAS, .compare = cas + 1}));
    CHECK_INT(PEL_STORE_EXISTS, put(&store, "a", "2", (struct pel_store_put){PEL_STORE_CAS, .compare = 0}));
    CHECK_INT(PEL_STORE_STORED, put(&store, "a", "2", (struct pel_store_put){PEL_STORE_CAS, .compare = cas}));
    CHECK_INT(PEL_STORE_EXISTS, put(&store, "a", "3", (struct pel_store_put){PEL_STORE_CAS, .compare = cas}));
    CHECK_VALUE("2", &store, "a");
    cas = find(&store, "a")->cas;
    CHECK_INT(PEL_STORE_EXISTS, put(&store, "a", "3", (struct pel_store_put){PEL_STORE_APPEND, .compare = cas + 1}));
    CHECK_INT(PEL_STORE_STORED, put(&store, "a", "3", (struct pel_store_put){PEL_STORE_APPEND, .compare = cas}));
    CHECK_VALUE("23", &store, "a");
    pel_store_remove(&store, find(&store, "a"));
    CHECK_INT(PEL_STORE_NOT_FOUND, put(&store, "a", "4", (struct pel_store_put){PEL_STORE_CAS, .compare = cas}));
}

STORE_TEST(an_older_cas_may_store_a_stale_item)
{
    uint64_t cas;

    set(&store, "a", "1");
    cas = find(&store, "a")->cas;
    set_until(&store, "a", "2", 100);
    find(&store, "a")->state |= PEL_ITEM_WON;
    CHECK_INT(PEL_STORE_STORED,
              put(&store, "a", "3", (struct pel_store_put){PEL_STORE_CAS, .compare = cas, .stale = 1}));
    CHECK_VALUE("3", &store, "a");
    CHECK_INT(100, find(&store, "a")->expires);
    CHECK(find(&store, "a")->state & PEL_ITEM_STALE && find(&store, "a")->state & PEL_ITEM_WON);
    cas = find(&store, "a")->cas;
    CHECK_INT(PEL_STORE_EXISTS,
              put(&store, "a", "4", (struct pel_store_put){PEL_STORE_CAS, .compare = cas + 1, .stale = 1}));
    CHECK_INT(PEL_STORE_STORED,
              put(&store, "a", "5", (struct pel_store_put){PEL_STORE_CAS, .compare = cas, .stale = 1}));
    CHECK(!(find(&store, "a")->state & PEL_ITEM_STALE));
}

STORE_TEST(a_new_cas_may_be_given)
{
    CHECK_INT(PEL_STORE_STORED, put(&store, "a", "1", (struct pel_store_put){PEL_STORE_SET, .new_cas = 1000}));
    CHECK_INT(1000, find(&store, "a")->cas);
    CHECK_INT(PEL_STORE_STORED,
              put(&store, "a", "2", (struct pel_store_put){PEL_STORE_CAS, .compare = 1000, .new_cas = 2000}));
    CHECK_INT(2000, find(&store, "a")->cas);
    CHECK_INT(PEL_STORE_STORED, put(&store, "a", "2", (struct pel_store_put){PEL_STORE_APPEND, .new_cas = 3000}));
    CHECK_INT(3000, find(&store, "a")->cas);
}

STORE_TEST(a_shorter_number_is_padded_in_place)
{
    uint64_t number, cas;

    set(&store, "n", "9");
    cas = find(&store, "n")->cas;
    CHECK_INT(0, add("n", 0, 1, &number));
    CHECK_INT(10, number);
    CHECK_VALUE("10", &store, "n");
    CHECK(find(&store, "n")->cas > cas);
    CHECK_INT(0, add("n", 1, 3, &number));
    CHECK_VALUE("7 ", &store, "n");
    CHECK_INT(0, add("n", 0, 5, &number));
    CHECK_VALUE("12", &store, "n");
    CHECK_INT(0, add("n", 1, 100, &number));
    CHECK_INT(0, number);
    CHECK_VALUE("0 ", &store, "n");
}

STORE_TEST(numbers_wrap_at_two_to_the_64th)
{
    uint64_t number;

    set(&store, "n", "18446744073709551615");
    CHECK_INT(0, add("n", 0, 0, &number));
    CHECK(number == UINT64_MAX);
    CHECK_INT(0, add("n", 0, 3, &number));
    CHECK_INT(2, number);
    set(&store, "n", "18446744073709551616");
    CHECK_INT(PEL_EARGUMENT, add("n", 0, 1, &number));
    CHECK_VALUE("18446744073709551616", &store, "n");
}

STORE_TEST(a_value_that_is_no_number_is_not_changed)
{
    static const char *const values[] = {
        "", " ", "a", "-1", "+1", " 1", "1a", "1 1", "0x10", "1.5", "99999999999999999999"};
    uint64_t number;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        set(&store, "n", values[i]);
        CHECK_INT(PEL_EARGUMENT, add("n", 0, 1, &number));
        CHECK_BYTES(values[i], pel_item_value(find(&store, "n")), find(&store, "n")->length);
    }
}

STORE_TEST(a_number_that_is_being_sent_is_replaced_and_not_overwritten)
{
    struct pel_item *sent;
    uint64_t number;

    set_until(&store, "n", "100", 50);
    sent = find(&store, "n");
    pel_store_retain(sent);
    CHECK_INT(0, add("n", 0, 1, &number));
    CHECK_BYTES("100\r\n", pel_item_value(sent), 5);
    CHECK_VALUE("101", &store, "n");
    CHECK_INT(50, find(&store, "n")->expires);
    pel_store_release(&store, sent);
}
