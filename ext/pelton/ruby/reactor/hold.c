#include "ruby/reactor/reactor.h"

#define TRUSTED 2    /* short waits after which the next one is expected to be short */
#define MOST_TRUST 4 /* so that two long waits end it */
#define MOST_CREDIT (4 * PEL_HOLD_NS)

void pel_hold_begin(struct pel_hold *hold, int64_t limit)
{
    hold->limit = limit;
    hold->credit = MOST_CREDIT;
    hold->credited = pel_now();
    hold->locked = 0;
}

static void list_wait(struct pel_hold *hold, struct pel_waiter *waiter)
{
    waiter->held.listed = 1;
    waiter->held.previous = hold->last;
    waiter->held.next = NULL;
    *(hold->last ? &hold->last->held.next : &hold->first) = waiter;
    hold->last = waiter;
    hold->count++;
}

static void unlist_wait(struct pel_hold *hold, struct pel_waiter *waiter)
{
    struct pel_held_wait *wait = &waiter->held;

    if (!wait->listed)
        return;
    wait->listed = 0;
    *(wait->previous ? &wait->previous->held.next : &hold->first) = wait->next;
    *(wait->next ? &wait->next->held.previous : &hold->last) = wait->previous;
    hold->count--;
}

static int8_t *trust_in(struct pel_hold *hold, const struct pel_waiter *waiter)
{
    return &hold->trust[waiter->held.source % PEL_HOLD_SOURCES];
}

void pel_hold_begin_wait(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline)
{
    struct pel_hold *hold = &reactor->hold;
    int64_t now = pel_now();
    int is_short = waiter->held.source ? *trust_in(hold, waiter) >= TRUSTED
                                       : deadline != PEL_FOREVER && deadline - now <= hold->limit;

    waiter->held.since = now;
    if (waiter->held.locked)
        hold->locked = now;
    if (is_short)
        list_wait(hold, waiter);
}

void pel_hold_end_wait(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    struct pel_hold *hold = &reactor->hold;
    int8_t *trust;

    if (!waiter->held.since)
        return;
    unlist_wait(hold, waiter);
    if (!waiter->held.source)
        return;
    trust = trust_in(hold, waiter);
    if (reactor->loop.now - waiter->held.since > hold->limit)
        *trust = (int8_t)(*trust > 2 ? *trust - 2 : 0);
    else if (*trust < MOST_TRUST)
        ++*trust;
}

/* Those that have taken too long are short waits no longer. */
static void unlist_late_waits(struct pel_hold *hold, int64_t now)
{
    while (hold->first && hold->first->held.since + hold->limit <= now)
        unlist_wait(hold, hold->first);
}

static void add_credit(struct pel_hold *hold, int64_t now)
{
    int64_t credit = hold->credit + (now - hold->credited) / PEL_HOLD_SHARE;

    hold->credit = credit < MOST_CREDIT ? credit : MOST_CREDIT;
    hold->credited = now;
}

int64_t pel_held_until(struct pel_reactor *reactor)
{
    struct pel_hold *hold = &reactor->hold;
    int64_t now, end;

    if (hold->count < PEL_HOLD_PLACES)
        return 0;
    now = pel_now();
    unlist_late_waits(hold, now);
    add_credit(hold, now);
    if (hold->count < PEL_HOLD_PLACES)
        return 0;
    end = hold->first->held.since + hold->limit;
    if (hold->locked && now - hold->locked <= hold->limit)
        return end;
    if (hold->credit <= 0)
        return 0;
    return end - now < hold->credit ? end : now + hold->credit;
}

void pel_hold_charge(struct pel_reactor *reactor, int64_t idle)
{
    struct pel_hold *hold = &reactor->hold;

    if (!hold->locked || pel_now() - hold->locked > hold->limit)
        hold->credit -= idle;
}
