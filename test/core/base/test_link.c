#include "core/base/link.h"

#include "check.h"

struct record {
    int number;
    struct pel_link link;
};

static int first_of(struct pel_link *list)
{
    return PEL_LINKED(struct record, link, list)->number;
}

TEST(a_link_can_be_removed_from_every_position)
{
    for (int removed = 0; removed < 3; removed++) {
        struct record records[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
        struct pel_link *list = NULL;
        for (int i = 0; i < 3; i++)
            pel_link_insert(&records[i].link, &list);

        pel_link_remove(&records[removed].link);
        for (int i = 2; i >= 0; i--) {
            if (i == removed)
                continue;
            CHECK_INT(i, first_of(list));
            pel_link_remove(list);
        }
        CHECK_POINTER(NULL, list);
    }
}

TEST(removing_a_link_that_is_on_no_list_does_nothing)
{
    struct record record = {0};
    struct pel_link *list = NULL;

    pel_link_remove(&record.link);
    pel_link_insert(&record.link, &list);
    pel_link_remove(&record.link);
    pel_link_remove(&record.link);
    CHECK_POINTER(NULL, list);
}

TEST(a_list_moves_as_a_whole)
{
    struct record records[2] = {{.number = 0}, {.number = 1}};
    struct pel_link *from = NULL, *to = NULL;

    pel_link_insert(&records[0].link, &from);
    pel_link_insert(&records[1].link, &from);
    pel_link_move(&from, &to);
    CHECK_POINTER(NULL, from);
    CHECK_INT(1, first_of(to));
    pel_link_remove(&records[1].link);
    CHECK_INT(0, first_of(to));
    pel_link_move(&from, &to);
    CHECK_POINTER(NULL, to);
}

TEST(an_element_leaves_a_chain_from_any_position_or_was_not_there)
{
    struct entry {
        struct entry *after;
    } third = {NULL}, second = {&third}, first = {&second}, other = {NULL}, *chain = &first;

    PEL_CHAIN_REMOVE(chain, &other, after);
    PEL_CHAIN_REMOVE(chain, &second, after);
    CHECK_POINTER(&first, chain);
    CHECK_POINTER(&third, first.after);
    PEL_CHAIN_REMOVE(chain, &first, after);
    PEL_CHAIN_REMOVE(chain, &third, after);
    PEL_CHAIN_REMOVE(chain, &third, after);
    CHECK(chain == NULL);
}
