#include "contender.h"

static struct pel_timers timers;

static void wheel_start(int64_t now)
{
    pel_timers_init(&timers, now);
}

static void wheel_add(struct subject *subject, int64_t deadline)
{
    pel_timer_add(&timers, &subject->as.wheel, deadline);
}

static void wheel_cancel(struct subject *subject)
{
    pel_timer_cancel(&timers, &subject->as.wheel);
}

static int64_t wheel_next(void)
{
    return pel_timers_next(&timers);
}

static void wheel_expire(int64_t now)
{
    pel_timers_expire(&timers, now);
}

static struct subject *wheel_pop(void)
{
    return (struct subject *)pel_timers_pop(&timers);
}

static void wheel_finish(void)
{
    pel_timers_free(&timers);
}

const struct contender wheel = {"wheel",    wheel_start,  wheel_add, wheel_cancel,
                                wheel_next, wheel_expire, wheel_pop, wheel_finish};
