#pragma once

/* Shared by the tests of timers: a wheel whose clock starts at an instant of the test's choice, and some timers. */
#include "check.h"
#include "core/loop/timer.h"

#define MILLISECOND INT64_C(1000000)
#define SECOND (1000 * MILLISECOND)
#define DAY (86400 * SECOND)
#define NOW (1000 * SECOND)

static struct pel_timers timers;
static struct pel_timer a, b, c, many[1000];

static void start_timers(int64_t now)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memset(&c, 0, sizeof c);
    memset(many, 0, sizeof many);
    pel_timers_init(&timers, now);
}

static void add(struct pel_timer *timer, int64_t deadline)
{
    pel_timer_add(&timers, timer, deadline);
}

static void expire(int64_t now)
{
    pel_timers_expire(&timers, now);
}

static struct pel_timer *pop(void)
{
    return pel_timers_pop(&timers);
}

static int64_t next(void)
{
    return pel_timers_next(&timers);
}

#define TIMER_TEST(title) TEST_BETWEEN(start_timers(NOW), title, (void)0)
