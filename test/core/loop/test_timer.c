#include "loop/timer_fixture.h"
#include "loop/timer_model.h"

TIMER_TEST(a_zeroed_timer_is_inactive)
{
    CHECK(!pel_timer_active(&a));
    pel_timer_cancel(&timers, &a);
    CHECK(!pel_timer_active(&a));
    CHECK_INT(0, pel_timers_count(&timers));
    CHECK_INT(INT64_MAX, next());
    expire(NOW + DAY);
    CHECK_POINTER(NULL, pop());
}

TEST(a_timer_expires_at_its_deadline_and_not_a_nanosecond_earlier)
{
    for (int64_t delay = 1; delay < 300 * DAY; delay = delay * 3 + 1) {
        start_timers(NOW);
        add(&a, NOW + delay);
        CHECK(pel_timer_active(&a));
        expire(NOW + delay - 1);
        CHECK_POINTER(NULL, pop());
        CHECK(pel_timer_active(&a));
        expire(NOW + delay);
        CHECK_POINTER(&a, pop());
        CHECK(!pel_timer_active(&a));
        CHECK_INT(NOW + delay, a.deadline);
        CHECK_POINTER(NULL, pop());
    }
}

TIMER_TEST(timers_pop_in_the_order_of_their_deadlines)
{
    add(&b, NOW + 2);
    add(&c, NOW + 5 * SECOND);
    add(&a, NOW + 1);
    expire(NOW + 5 * SECOND);
    CHECK_POINTER(&a, pop());
    CHECK_POINTER(&b, pop());
    CHECK_POINTER(&c, pop());
    CHECK_POINTER(NULL, pop());
}

TIMER_TEST(equal_deadlines_pop_in_the_order_of_adding)
{
    for (int i = 0; i < 1000; i++) {
        add(&many[i], NOW + SECOND);
        /* Half of the timers were added earlier, and therefore on another level of the wheel. */
        if (i == 500)
            expire(NOW + SECOND - 1);
    }
    expire(NOW + SECOND);
    for (int i = 0; i < 1000; i++)
        CHECK_POINTER(&many[i], pop());
}

TIMER_TEST(descending_deadlines_pop_ascending)
{
    for (int i = 0; i < 1000; i++)
        add(&many[i], NOW + 1000 - i);
    expire(NOW + SECOND);
    for (int i = 999; i >= 0; i--)
        CHECK_POINTER(&many[i], pop());
}

TIMER_TEST(expired_timers_keep_their_order_relative_to_earlier_ones_not_popped_yet)
{
    add(&a, NOW + 10);
    add(&c, NOW + 30);
    expire(NOW + 30);
    add(&b, NOW + 20);
    expire(NOW + 30);
    CHECK_POINTER(&a, pop());
    CHECK_POINTER(&b, pop());
    CHECK_POINTER(&c, pop());
}

TIMER_TEST(adding_an_active_timer_changes_its_deadline)
{
    add(&a, NOW + SECOND);
    add(&b, NOW + 2 * SECOND);
    add(&a, NOW + 3 * SECOND);
    CHECK_INT(2, pel_timers_count(&timers));
    CHECK_INT(NOW + 2 * SECOND, next());
    expire(NOW + 2 * SECOND);
    CHECK_POINTER(&b, pop());
    CHECK_POINTER(NULL, pop());
    add(&a, NOW + 2 * SECOND + 1);
    CHECK_INT(NOW + 2 * SECOND + 1, next());
    expire(NOW + 2 * SECOND + 1);
    CHECK_POINTER(&a, pop());
}

TIMER_TEST(a_timer_that_was_added_again_comes_last_among_equal_deadlines)
{
    add(&a, NOW + SECOND);
    add(&b, NOW + SECOND);
    add(&a, NOW + SECOND);
    expire(NOW + SECOND);
    CHECK_POINTER(&b, pop());
    CHECK_POINTER(&a, pop());
}

TIMER_TEST(an_expired_timer_that_is_cancelled_is_not_popped)
{
    add(&a, NOW + 1);
    add(&b, NOW + 2);
    add(&c, NOW + 3);
    expire(NOW + 3);
    CHECK_INT(3, pel_timers_count(&timers));
    CHECK_POINTER(&a, pop());
    pel_timer_cancel(&timers, &b);
    CHECK(!pel_timer_active(&b));
    CHECK_POINTER(&c, pop());
    CHECK_POINTER(NULL, pop());
    CHECK_INT(0, pel_timers_count(&timers));
}

TIMER_TEST(an_expired_timer_that_is_added_again_waits_for_its_new_deadline)
{
    add(&a, NOW + 1);
    expire(NOW + 1);
    add(&a, NOW + SECOND);
    CHECK_POINTER(NULL, pop());
    expire(NOW + SECOND);
    CHECK_POINTER(&a, pop());
}

TIMER_TEST(a_timer_added_while_popping_waits_for_the_next_expire)
{
    add(&a, NOW);
    expire(NOW);
    for (int round = 0; round < 3; round++) {
        CHECK_POINTER(&a, pop());
        add(&a, NOW);
        CHECK_POINTER(NULL, pop());
        CHECK_INT(NOW, next());
        expire(NOW);
    }
}

TIMER_TEST(deadlines_in_the_past_are_due_at_the_next_expire)
{
    add(&a, NOW - SECOND);
    add(&b, -1);
    add(&c, INT64_MIN);
    CHECK_INT(NOW, next());
    expire(NOW);
    CHECK_POINTER(&c, pop());
    CHECK_POINTER(&b, pop());
    CHECK_POINTER(&a, pop());
}

TIMER_TEST(a_timer_with_the_largest_deadline_never_expires)
{
    add(&a, INT64_MAX);
    add(&b, INT64_MAX - 1);
    CHECK(pel_timer_active(&a));
    CHECK_INT(2, pel_timers_count(&timers));
    expire(INT64_MAX);
    CHECK_POINTER(&b, pop());
    CHECK_POINTER(NULL, pop());
    CHECK_INT(INT64_MAX, next());
    CHECK_INT(1, pel_timers_count(&timers));
    pel_timer_cancel(&timers, &a);
    CHECK(!pel_timer_active(&a));
    CHECK_INT(0, pel_timers_count(&timers));
}

TEST(a_clock_may_be_negative_and_pass_zero)
{
    start_timers(-SECOND);
    add(&b, SECOND);
    add(&a, -1);
    expire(-2);
    CHECK_POINTER(NULL, pop());
    expire(-1);
    CHECK_POINTER(&a, pop());
    expire(SECOND - 1);
    CHECK_POINTER(NULL, pop());
    expire(SECOND);
    CHECK_POINTER(&b, pop());
}

TIMER_TEST(a_clock_that_goes_back_is_ignored)
{
    add(&a, NOW + SECOND);
    expire(NOW + SECOND / 2);
    expire(0);
    CHECK_POINTER(NULL, pop());
    add(&b, NOW + SECOND / 4);
    expire(0);
    CHECK_POINTER(&b, pop());
    expire(NOW + SECOND);
    CHECK_POINTER(&a, pop());
}

/* A wheel that advanced tick by tick would take hours. */
TEST(a_jump_of_fifty_days_is_one_step)
{
    start_timers(NOW);
    for (int i = 0; i < 1000; i++) {
        int64_t before = NOW + i * 50 * DAY;

        add(&a, before + 50 * DAY - 1);
        add(&b, before + 50 * DAY + 1);
        expire(before + 50 * DAY);
        CHECK_POINTER(&a, pop());
        CHECK_POINTER(NULL, pop());
        CHECK(pel_timer_active(&b));
    }
}

TIMER_TEST(free_makes_every_timer_inactive)
{
    add(&a, NOW);
    expire(NOW);
    add(&b, NOW + DAY);
    add(&c, INT64_MAX);
    pel_timers_free(&timers);
    CHECK(!pel_timer_active(&a));
    CHECK(!pel_timer_active(&b));
    CHECK(!pel_timer_active(&c));
    CHECK_INT(0, pel_timers_count(&timers));
    pel_timer_cancel(&timers, &a);
}

/* The seeds are fixed, so that a failure can be repeated. */
TEST(random_programs_agree_with_the_model)
{
    static struct model model;
    static uint8_t program[4096];
    uint64_t random = 88172645463325252u;

    for (int seed = 0; seed < 2000; seed++) {
        const char *wrong;

        for (size_t i = 0; i < sizeof program; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            program[i] = (uint8_t)(random >> 32);
        }
        wrong = model_run(&model, program, sizeof program);
        if (wrong)
            CHECK_FAIL("program %d: %s, %zu bytes before the end", seed, wrong, model.left);
    }
}

static int visits;

static void count_visit(struct pel_timers *visited, struct pel_timer *timer)
{
    CHECK_POINTER(&timers, visited);
    CHECK(pel_timer_active(timer));
    visits++;
}

static void cancel_odd(struct pel_timers *visited, struct pel_timer *timer)
{
    if ((timer - many) % 2)
        pel_timer_cancel(visited, timer);
}

TIMER_TEST(each_visits_every_active_timer_and_lets_it_be_cancelled)
{
    for (int i = 0; i < 1000; i++)
        add(&many[i], NOW + i * i * MILLISECOND);
    add(&a, INT64_MAX);
    expire(NOW + 100 * MILLISECOND); /* some of them wait for pop */
    visits = 0;
    pel_timers_each(&timers, count_visit);
    CHECK_INT(1001, visits);
    pel_timer_cancel(&timers, &a);
    pel_timers_each(&timers, cancel_odd);
    CHECK_INT(500, pel_timers_count(&timers));
    expire(NOW + 2000 * SECOND);
    for (int i = 0; i < 1000; i += 2)
        CHECK_POINTER(&many[i], pop());
    CHECK_POINTER(NULL, pop());
}
