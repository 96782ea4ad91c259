#include "loop/timer_fixture.h"

TEST(next_is_exact_for_a_lone_timer)
{
    for (int64_t delay = 1; delay < 300 * DAY; delay = delay * 3 + 1) {
        start_timers(NOW);
        add(&a, NOW + delay);
        CHECK_INT(NOW + delay, next());
        expire(NOW + delay / 2);
        CHECK_INT(NOW + delay, next());
    }
}

TIMER_TEST(next_ignores_cancelled_timers)
{
    add(&a, NOW + SECOND);
    add(&b, NOW + 2 * SECOND);
    CHECK_INT(NOW + SECOND, next());
    pel_timer_cancel(&timers, &a);
    CHECK_INT(NOW + 2 * SECOND, next());
    pel_timer_cancel(&timers, &b);
    CHECK_INT(INT64_MAX, next());
    add(&c, NOW + 3 * SECOND);
    CHECK_INT(NOW + 3 * SECOND, next());
}

TIMER_TEST(next_ignores_many_cancelled_timers_of_one_slot)
{
    for (int i = 0; i < 1000; i++)
        add(&many[i], NOW + 30 * DAY + i);
    CHECK(next() <= NOW + 30 * DAY);
    for (int i = 0; i < 1000; i++)
        pel_timer_cancel(&timers, &many[i]);
    CHECK_INT(INT64_MAX, next());
}

TIMER_TEST(next_ignores_expired_timers_that_wait_for_pop)
{
    add(&a, NOW + 1);
    expire(NOW + 1);
    CHECK_INT(INT64_MAX, next());
    add(&b, NOW + SECOND);
    CHECK_INT(NOW + SECOND, next());
    CHECK_POINTER(&a, pop());
}

/* A slot with many timers is not searched, so the loop wakes before their deadlines; but not once for each of them. */
TIMER_TEST(next_reaches_many_timers_of_one_slot_in_few_steps)
{
    struct pel_timer *first;
    int steps = 0;

    for (int i = 0; i < 1000; i++)
        add(&many[i], NOW + 30 * DAY + i);
    while (!(first = pop())) {
        int64_t instant = next();

        CHECK(instant <= NOW + 30 * DAY);
        expire(instant);
        steps++;
    }
    CHECK(steps <= PEL_TIMER_LEVELS);
    CHECK_POINTER(&many[0], first);
    CHECK_POINTER(NULL, pop());
    CHECK_INT(NOW + 30 * DAY + 1, next());
}
