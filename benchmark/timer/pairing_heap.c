/* Intrusive like the wheel: adding is O(1), and removing a timer pairs up its children. */
#include "contender.h"

static struct subject *root, *expired, **expired_tail;
static uint64_t sequence;

static struct subject *meld(struct subject *a, struct subject *b)
{
    struct subject *parent, *child;

    if (!a || !b)
        return a ? a : b;
    parent = subject_before(b, a) ? b : a;
    child = parent == a ? b : a;
    child->as.pairing.previous = parent;
    child->as.pairing.next = parent->as.pairing.child;
    if (child->as.pairing.next)
        child->as.pairing.next->as.pairing.previous = child;
    parent->as.pairing.child = child;
    parent->as.pairing.next = parent->as.pairing.previous = NULL;
    return parent;
}

/* Pairs from left to right, then melds the pairs from right to left. */
static struct subject *pair_up(struct subject *first)
{
    struct subject *pairs = NULL, *result = NULL;

    while (first) {
        struct subject *second = first->as.pairing.next, *rest = second ? second->as.pairing.next : NULL, *pair;

        first->as.pairing.next = first->as.pairing.previous = NULL;
        if (second)
            second->as.pairing.next = second->as.pairing.previous = NULL;
        pair = meld(first, second);
        pair->as.pairing.next = pairs;
        pairs = pair;
        first = rest;
    }
    while (pairs) {
        struct subject *rest = pairs->as.pairing.next;

        pairs->as.pairing.next = NULL;
        result = meld(result, pairs);
        pairs = rest;
    }
    return result;
}

static void pairing_start(int64_t now)
{
    (void)now;
    root = expired = NULL;
    expired_tail = &expired;
}

static void pairing_cancel(struct subject *subject)
{
    struct subject *previous = subject->as.pairing.previous, *next = subject->as.pairing.next;
    struct subject *children = pair_up(subject->as.pairing.child);

    if (!subject->as.pairing.active)
        return;
    subject->as.pairing.active = 0;
    subject->as.pairing.child = NULL;
    if (subject == root) {
        root = children;
        return;
    }
    if (previous->as.pairing.child == subject)
        previous->as.pairing.child = next;
    else
        previous->as.pairing.next = next;
    if (next)
        next->as.pairing.previous = previous;
    root = meld(root, children);
}

static void pairing_add(struct subject *subject, int64_t deadline)
{
    pairing_cancel(subject);
    subject->deadline = deadline;
    subject->sequence = sequence++;
    subject->as.pairing.active = 1;
    subject->as.pairing.child = subject->as.pairing.next = subject->as.pairing.previous = NULL;
    root = meld(root, subject);
}

static int64_t pairing_next(void)
{
    return root ? root->deadline : INT64_MAX;
}

static void pairing_expire(int64_t now)
{
    while (root && root->deadline <= now) {
        struct subject *subject = root;

        pairing_cancel(subject);
        subject->as.pairing.next_expired = NULL;
        *expired_tail = subject;
        expired_tail = &subject->as.pairing.next_expired;
    }
}

static struct subject *pairing_pop(void)
{
    struct subject *subject = expired;

    if (!subject)
        return NULL;
    expired = subject->as.pairing.next_expired;
    if (!expired)
        expired_tail = &expired;
    return subject;
}

static void pairing_finish(void)
{
}

const struct contender pairing_heap = {"pairing heap", pairing_start,  pairing_add, pairing_cancel,
                                       pairing_next,   pairing_expire, pairing_pop, pairing_finish};
