#include "core/loop/timer.h"

#include <string.h>

#define DIGIT_BITS 6
#define EXACT_LIMIT 8 /* timers in a slot that are searched for their exact earliest deadline */

static void timer_list_init(struct pel_timer_link *list)
{
    list->next = list->previous = list;
}

static int timer_list_empty(const struct pel_timer_link *list)
{
    return list->next == list;
}

static void timer_link_before(struct pel_timer_link *position, struct pel_timer_link *link)
{
    link->next = position;
    link->previous = position->previous;
    link->previous->next = position->previous = link;
}

static void timer_unlink(struct pel_timer_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link->next = link->previous = NULL;
}

static struct pel_timer *timer_of(struct pel_timer_link *link)
{
    return (struct pel_timer *)link;
}

/* Flips the sign bit, so that negative instants come before positive ones. */
static uint64_t tick_of(int64_t instant)
{
    return ((uint64_t)instant ^ (UINT64_C(1) << 63)) >> PEL_TIMER_TICK_BITS;
}

static int64_t instant_of(uint64_t tick)
{
    return (int64_t)((tick << PEL_TIMER_TICK_BITS) ^ (UINT64_C(1) << 63));
}

/* The highest digit in which the ticks differ; 0 if they are equal. */
static int level_of(uint64_t tick, uint64_t other)
{
    return (63 - __builtin_clzll((tick ^ other) | 1)) / DIGIT_BITS;
}

static int slot_of(uint64_t tick, int level)
{
    return (int)(tick >> (level * DIGIT_BITS)) & (PEL_TIMER_SLOTS - 1);
}

static void place_timer(struct pel_timers *timers, struct pel_timer *timer)
{
    uint64_t tick = tick_of(timer->deadline);
    int level, slot;

    if (tick < timers->tick)
        tick = timers->tick;
    level = level_of(tick, timers->tick);
    slot = slot_of(tick, level);

    timers->occupied[level] |= UINT64_C(1) << slot;
    timer_link_before(&timers->slots[level][slot], &timer->link);
}

void pel_timers_init(struct pel_timers *timers, int64_t now)
{
    memset(timers, 0, sizeof *timers);
    timers->now = now;
    timers->tick = tick_of(now);
    for (int level = 0; level < PEL_TIMER_LEVELS; level++)
        for (int slot = 0; slot < PEL_TIMER_SLOTS; slot++)
            timer_list_init(&timers->slots[level][slot]);
    timer_list_init(&timers->never);
    timer_list_init(&timers->expired);
}

static void visit_timer_list(struct pel_timers *timers, struct pel_timer_link *list,
                             void (*visit)(struct pel_timers *, struct pel_timer *))
{
    for (struct pel_timer_link *link = list->next, *next; link != list; link = next) {
        next = link->next;
        visit(timers, timer_of(link));
    }
}

void pel_timers_each(struct pel_timers *timers, void (*visit)(struct pel_timers *, struct pel_timer *))
{
    for (int level = 0; level < PEL_TIMER_LEVELS; level++)
        for (int slot = 0; slot < PEL_TIMER_SLOTS; slot++)
            visit_timer_list(timers, &timers->slots[level][slot], visit);
    visit_timer_list(timers, &timers->never, visit);
    visit_timer_list(timers, &timers->expired, visit);
}

void pel_timers_free(struct pel_timers *timers)
{
    pel_timers_each(timers, pel_timer_cancel);
}

void pel_timer_add(struct pel_timers *timers, struct pel_timer *timer, int64_t deadline)
{
    pel_timer_cancel(timers, timer);
    timers->count++;
    timer->deadline = deadline;
    timer->sequence = timers->sequence++;
    if (deadline < timers->soonest)
        timers->soonest = deadline;
    if (deadline == INT64_MAX)
        timer_link_before(&timers->never, &timer->link);
    else
        place_timer(timers, timer);
}

/* Leaves the slot's bit set: pel_timers_next and pel_timers_expire clear it when they find the slot empty. */
void pel_timer_cancel(struct pel_timers *timers, struct pel_timer *timer)
{
    if (!pel_timer_active(timer))
        return;
    if (timer->deadline <= timers->soonest || timer->link.next == timer->link.previous)
        timers->known = 0;
    timer_unlink(&timer->link);
    timers->count--;
}

/* The earliest deadline in the list, or `otherwise` if the list has more than `limit` timers. */
static int64_t earliest_deadline(const struct pel_timer_link *list, size_t limit, int64_t otherwise)
{
    int64_t result = INT64_MAX;

    for (struct pel_timer_link *link = list->next; link != list; link = link->next) {
        if (limit-- == 0)
            return otherwise;
        if (timer_of(link)->deadline < result)
            result = timer_of(link)->deadline;
    }
    return result;
}

static int64_t find_soonest_instant(struct pel_timers *timers)
{
    for (int level = 0; level < PEL_TIMER_LEVELS; level++) {
        uint64_t over = timers->tick >> (level * DIGIT_BITS) >> DIGIT_BITS << DIGIT_BITS;

        for (; timers->occupied[level]; timers->occupied[level] &= timers->occupied[level] - 1) {
            int slot = __builtin_ctzll(timers->occupied[level]);
            uint64_t start = (over | (uint64_t)slot) << (level * DIGIT_BITS);

            /* The timers of the wheel's current slot cannot move to a lower level, so only the exact deadline is
             * progress. For any other slot its start suffices; but the exact deadline is searched among a few timers,
             * or they would wake the loop once for each level. */
            if (!timer_list_empty(&timers->slots[level][slot]))
                return earliest_deadline(&timers->slots[level][slot], start <= timers->tick ? SIZE_MAX : EXACT_LIMIT,
                                         instant_of(start));
        }
    }
    return INT64_MAX;
}

int64_t pel_timers_next(struct pel_timers *timers)
{
    if (!timers->known) {
        timers->soonest = find_soonest_instant(timers);
        timers->known = 1;
    }
    return timers->soonest > timers->now ? timers->soonest : timers->now;
}

static int expires_before(const struct pel_timer_link *a, const struct pel_timer_link *b)
{
    const struct pel_timer *x = (const struct pel_timer *)a, *y = (const struct pel_timer *)b;

    return x->deadline < y->deadline || (x->deadline == y->deadline && x->sequence < y->sequence);
}

/* Merges two sorted chains; a chain is linked by `next` alone and ended by NULL. */
static struct pel_timer_link *merge_chains(struct pel_timer_link *a, struct pel_timer_link *b)
{
    struct pel_timer_link *head = NULL, **tail = &head;

    while (a && b) {
        struct pel_timer_link **least = expires_before(b, a) ? &b : &a;

        *tail = *least;
        tail = &(*least)->next;
        *least = *tail;
    }
    *tail = a ? a : b;
    return head;
}

/* Sorts a chain by a bottom-up merge of its ascending runs: bins[n] is empty or holds 2^n merged runs. */
static struct pel_timer_link *sort_chain(struct pel_timer_link *chain)
{
    struct pel_timer_link *bins[64] = {NULL}, *sorted = NULL;
    int used = 0, bin;

    while (chain) {
        struct pel_timer_link *run = chain, *last = chain;

        while (last->next && expires_before(last, last->next))
            last = last->next;
        chain = last->next;
        last->next = NULL;
        for (bin = 0; bin < used && bins[bin]; bin++) {
            run = merge_chains(bins[bin], run);
            bins[bin] = NULL;
        }
        if (bin == used)
            used++;
        bins[bin] = run;
    }
    for (bin = 0; bin < used; bin++)
        sorted = merge_chains(bins[bin], sorted);
    return sorted;
}

/* Merges the sorted chain into the expired timers, from the end: new timers nearly always belong after them. */
static void expire_chain(struct pel_timers *timers, struct pel_timer_link *chain)
{
    struct pel_timer_link *position = &timers->expired, *last = NULL;

    for (struct pel_timer_link *link = chain; link; link = link->next) {
        link->previous = last;
        last = link;
    }
    while (last) {
        struct pel_timer_link *link = last;

        last = last->previous;
        while (position->previous != &timers->expired && expires_before(link, position->previous))
            position = position->previous;
        timer_link_before(position, link);
        position = link;
    }
}

/* Appends the slot's due timers to the chain whose end is *due, and moves the other timers to a lower level. */
static void drain_slot(struct pel_timers *timers, int level, int slot, struct pel_timer_link ***due)
{
    struct pel_timer_link *list = &timers->slots[level][slot], *link = list->next;

    timer_list_init(list);
    timers->occupied[level] &= ~(UINT64_C(1) << slot);
    while (link != list) {
        struct pel_timer_link *next = link->next;

        if (timer_of(link)->deadline <= timers->now) {
            **due = link;
            *due = &link->next;
        } else {
            place_timer(timers, timer_of(link));
        }
        link = next;
    }
}

void pel_timers_expire(struct pel_timers *timers, int64_t now)
{
    struct pel_timer_link *chain = NULL, **due = &chain;
    uint64_t then = timers->tick;
    int top;

    if (now > timers->now)
        timers->now = now;
    if (pel_timers_next(timers) > timers->now)
        return; /* the wheel keeps its tick, for which all timers lie in the right slots */
    timers->tick = tick_of(timers->now);
    timers->known = 0;
    top = level_of(then, timers->tick);
    /* Below the level of the highest digit that changed, all slots are over; on that level, those up to the current. */
    for (int level = 0; level <= top; level++) {
        uint64_t over = timers->occupied[level];

        if (level == top)
            over &= ~UINT64_C(0) >> (PEL_TIMER_SLOTS - 1 - slot_of(timers->tick, level));
        for (; over; over &= over - 1)
            drain_slot(timers, level, __builtin_ctzll(over), &due);
    }
    *due = NULL;
    expire_chain(timers, sort_chain(chain));
}

struct pel_timer *pel_timers_pop(struct pel_timers *timers)
{
    struct pel_timer_link *link = timers->expired.next;

    if (link == &timers->expired)
        return NULL;
    timer_unlink(link);
    timers->count--;
    return timer_of(link);
}

size_t pel_timers_count(const struct pel_timers *timers)
{
    return timers->count;
}
