#include "core/base/slab.h"

#include <stdint.h>
#include "check.h"

struct record {
    void *first;
    uint64_t numbers[6];
};

static void need_slabs(void)
{
#ifdef PEL_SLAB_IS_MALLOC
    SKIP("the records are malloc's");
#endif
}

TEST(a_reused_record_is_zeroed)
{
    struct pel_slab slab = PEL_SLAB(struct record);
    struct record *record;

    need_slabs();
    record = pel_slab_take(&slab);
    record->numbers[3] = 7;
    record->first = record;
    pel_slab_give(&slab, record);
    CHECK_POINTER(record, pel_slab_take(&slab)); /* the record returned last is reused first: it is in the cache */
    CHECK(record->first == NULL);
    CHECK_INT(0, record->numbers[3]);
    pel_slab_free(&slab);
}

TEST(records_do_not_overlap_and_are_aligned)
{
    struct pel_slab slab = PEL_SLAB(struct record);
    static struct record *records[5000];

    need_slabs();
    for (int i = 0; i < 5000; i++) {
        records[i] = pel_slab_take(&slab);
        CHECK_INT(0, (uintptr_t)records[i] % sizeof(void *));
        records[i]->numbers[0] = records[i]->numbers[5] = (uint64_t)i;
    }
    for (int i = 0; i < 5000; i++) {
        CHECK_INT(i, records[i]->numbers[0]);
        CHECK_INT(i, records[i]->numbers[5]);
    }
    for (int i = 0; i < 5000; i += 2)
        pel_slab_give(&slab, records[i]);
    for (int i = 0; i < 2500; i++)
        ((struct record *)pel_slab_take(&slab))->numbers[0] = UINT64_MAX;
    for (int i = 1; i < 5000; i += 2)
        CHECK_INT(i, records[i]->numbers[0]);
    pel_slab_free(&slab);
}

TEST(a_freed_slab_can_be_used_again)
{
    struct pel_slab slab = PEL_SLAB(struct record);

    need_slabs();
    pel_slab_take(&slab);
    pel_slab_free(&slab);
    pel_slab_free(&slab);
    CHECK(pel_slab_take(&slab) != NULL);
    pel_slab_free(&slab);
}
