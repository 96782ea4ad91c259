#include "reactor.h"

/* Ringing the alarms that have expired. */

int pel_ring_alarms(struct pel_reactor *reactor)
{
    struct pel_alarm *alarm;

    while ((alarm = (struct pel_alarm *)pel_timers_peek(&reactor->loop.timers))) {
        if (alarm->calls_ruby)
            return 1;
        pel_timers_pop(&reactor->loop.timers);
        alarm->ring(reactor, alarm);
    }
    return 0;
}

static struct pel_alarm *first_plain_alarm(struct pel_reactor *reactor)
{
    struct pel_timer *timer = pel_timers_peek(&reactor->loop.timers);

    while (timer && ((struct pel_alarm *)timer)->calls_ruby)
        timer = pel_timers_after(&reactor->loop.timers, timer);
    return (struct pel_alarm *)timer;
}

void pel_ring_plain_alarms(struct pel_reactor *reactor)
{
    struct pel_alarm *alarm;

    while ((alarm = first_plain_alarm(reactor))) {
        pel_timer_cancel(&reactor->loop.timers, &alarm->timer);
        alarm->ring(reactor, alarm);
    }
}
