#include "core/loop/spin.h"

#include "check.h"

/* Performs operations that sleep or spin as pel_spin_next requests, with the given durations. Returns the number of
 * operations that spun. */
static int operate(struct pel_spin *spin, int operations, int64_t sleeping, int64_t spinning)
{
    int spun = 0;

    while (operations-- > 0) {
        int spins = pel_spin_next(spin) != 0;
        pel_spin_took(spin, spins ? spinning : sleeping);
        spun += spins;
    }
    return spun;
}

TEST(operations_spin_where_spinning_was_faster)
{
    struct pel_spin spin = {0};

    operate(&spin, 2 * PEL_SPIN_SAMPLES, 60000, 30000);
    CHECK_INT(100, operate(&spin, 100, 60000, 30000));
}

TEST(operations_sleep_where_spinning_was_slower_or_hardly_faster)
{
    struct pel_spin slower = {0}, as_fast = {0};

    operate(&slower, 2 * PEL_SPIN_SAMPLES, 20000, 55000);
    CHECK_INT(0, operate(&slower, 100, 20000, 55000));
    operate(&as_fast, 2 * PEL_SPIN_SAMPLES, 20000, 19000);
    CHECK_INT(0, operate(&as_fast, 100, 20000, 19000));
}

TEST(periods_get_longer_while_the_result_stays_the_same)
{
    struct pel_spin spin = {0};
    int spun = operate(&spin, 20 * PEL_SPIN_LONGEST, 20000, 55000);

    /* Five periods until the longest one, and then one for each longest period. */
    CHECK(spun >= 20 * PEL_SPIN_SAMPLES);
    CHECK(spun <= 26 * PEL_SPIN_SAMPLES);
}

TEST(a_change_is_noticed_within_the_longest_period)
{
    struct pel_spin spin = {0};

    operate(&spin, 20 * PEL_SPIN_LONGEST, 20000, 55000);
    operate(&spin, PEL_SPIN_LONGEST + 2 * PEL_SPIN_SAMPLES, 60000, 30000);
    CHECK_INT(100, operate(&spin, 100, 60000, 30000));
    CHECK(spin.period < PEL_SPIN_LONGEST); /* the result has just changed, and may change again */
}

TEST(one_delayed_operation_does_not_decide)
{
    struct pel_spin spin = {0};

    operate(&spin, 1, INT64_C(5000000000), 0);
    operate(&spin, 2 * PEL_SPIN_SAMPLES - 1, 200000, 400000);
    CHECK_INT(0, operate(&spin, 100, 200000, 400000));
}
