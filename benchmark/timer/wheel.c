#include "contender.h"

static struct pel_timers timers;

static void start(int64_t now)
{
    pel_timers_init(&timers, now);
}

static void add(struct subject *subject, int64_t deadline)
{
    pel_timer_add(&timers, &subject->as.wheel, deadline);
}

static void cancel(struct subject *subject)
{
    pel_timer_cancel(&timers, &subject->as.wheel);
}

static int64_t next(void)
{
    return pel_timers_next(&timers);
}

static void expire(int64_t now)
{
    pel_timers_expire(&timers, now);
}

static struct subject *pop(void)
{
    return (struct subject *)pel_timers_pop(&timers);
}

static void finish(void)
{
    pel_timers_free(&timers);
}

const struct contender wheel = {"wheel", start, add, cancel, next, expire, pop, finish};
