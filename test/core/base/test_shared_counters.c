#include "core/base/shared_counters.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define NAME(text) ((struct pel_slice){(text), strlen(text)})

static int add(struct pel_shared_counters *counters, const char *name, uint64_t now)
{
    return (int)pel_shared_counters_add(counters, NAME(name), 1, now, 1000);
}

TEST(a_counter_begins_anew_when_its_time_has_passed)
{
    struct pel_shared_counters *counters = pel_shared_counters_new(100);

    CHECK_INT(1, add(counters, "a", 5000));
    CHECK_INT(2, add(counters, "a", 5999));
    CHECK_INT(1, add(counters, "b", 5999));
    CHECK_INT(2, (int)pel_shared_counters_live(counters, 5999));
    CHECK_INT(1, (int)pel_shared_counters_live(counters, 6000));
    CHECK_INT(1, add(counters, "a", 6000));
    CHECK_INT(2, add(counters, "a", 6999));
    pel_shared_counters_clear(counters);
    CHECK_INT(0, (int)pel_shared_counters_live(counters, 6999));
    CHECK_INT(1, add(counters, "a", 6999));
    pel_shared_counters_free(counters);
}

TEST(large_numbers_stop_at_the_highest)
{
    struct pel_shared_counters *counters = pel_shared_counters_new(8);

    CHECK_INT(0xffffff, (int)pel_shared_counters_add(counters, NAME("a"), UINT32_MAX, 1, UINT64_MAX));
    CHECK_INT(0xffffff, (int)pel_shared_counters_add(counters, NAME("a"), 1, UINT64_C(1) << 39, 1));
    pel_shared_counters_free(counters);
}

TEST(of_many_counters_those_that_have_ended_and_the_lowest_go)
{
    struct pel_shared_counters *counters = pel_shared_counters_new(8);
    char name[20];

    add(counters, "ended", 0);
    CHECK_INT(10, (int)pel_shared_counters_add(counters, NAME("high"), 10, 1000, 1000));
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "low %d", i);
        add(counters, name, 1001);
    }
    CHECK_INT(8, (int)pel_shared_counters_live(counters, 1001)); /* the one that had ended made room */
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "new %d", i);
        CHECK_INT(1, add(counters, name, 1002));
    }
    CHECK_INT(8, (int)pel_shared_counters_live(counters, 1002));
    CHECK_INT(11, add(counters, "high", 1003));
    CHECK_INT(1, add(counters, "low 0", 1003));
    pel_shared_counters_free(counters);
}

TEST(processes_count_together)
{
    struct pel_shared_counters *counters = pel_shared_counters_new(100);
    int status;

    add(counters, "a", 0);
    for (int child = 0; child < 4; child++)
        if (fork() == 0) {
            for (int i = 0; i < 10000; i++)
                add(counters, "a", 0);
            _exit(0);
        }
    for (int child = 0; child < 4; child++)
        CHECK(wait(&status) > 0 && status == 0);
    CHECK_INT(40002, add(counters, "a", 0));
    pel_shared_counters_free(counters);
}

TEST(what_cannot_be_had_is_null)
{
    CHECK(!pel_shared_counters_new(SIZE_MAX));
    pel_shared_counters_free(NULL);
}
