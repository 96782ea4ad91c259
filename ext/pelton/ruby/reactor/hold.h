#pragma once

#include <stdint.h>

/*
 * Requests are held: while PEL_HOLD_PLACES requests that have begun wait for something that is expected within
 * PEL_HOLD_NS, such as a reply of a cache, no other request begins. So pages are finished one after the other, and few
 * objects of unfinished pages are alive at once. What is waited for tells whether a wait will be short: a sleep knows
 * its length, and a descriptor is expected to take as long as its last waits did. The loop idles for this in at most a
 * 32nd of its time, and without this limit in the 2 ms after a request began to wait for a Mutex: where requests queue
 * for one, such as a connection that all share, a further one would only make the queue longer. Include reactor.h.
 */

#define PEL_HOLD_NS (2 * 1000 * 1000) /* but in tests */
#define PEL_HOLD_PLACES 1
#define PEL_HOLD_SHARE 32
#define PEL_HOLD_SOURCES 1024

struct pel_reactor;
struct pel_waiter;

struct pel_hold {
    struct pel_waiter *first, *last; /* waits that are expected to be short, the one that began first in front */
    uint32_t count;
    int64_t locked;                 /* when a request last began to wait for a Mutex */
    int64_t credit;                 /* nanoseconds for which the loop may idle while it holds requests */
    int64_t credited;               /* when the credit was computed */
    int64_t limit;                  /* nanoseconds up to which a wait is short */
    int8_t trust[PEL_HOLD_SOURCES]; /* by the descriptor's number: whether its last waits were short */
};

/* What a waiter knows of its wait; all zero where nothing is expected of it. */
struct pel_held_wait {
    struct pel_waiter *previous, *next; /* in the list of short waits */
    int64_t since;                      /* when it began, 0: it does not matter */
    uint32_t source;                    /* 1 + the number of the awaited descriptor, 0: none */
    uint8_t listed;
    uint8_t locked; /* what is awaited is a Mutex */
};

/* Begins, or begins anew, with all the time that the loop may idle. */
void pel_hold_begin(struct pel_hold *hold, int64_t limit);

/* A request that has begun begins to wait; its deadline is PEL_FOREVER if there is none. */
void pel_hold_begin_wait(struct pel_reactor *reactor, struct pel_waiter *waiter, int64_t deadline);

/* The wait is over, however. */
void pel_hold_end_wait(struct pel_reactor *reactor, struct pel_waiter *waiter);

/* When the next request may begin, as far as others wait; 0: now. */
int64_t pel_held_until(struct pel_reactor *reactor);

/* The loop has idled while it held requests. */
void pel_hold_charge(struct pel_reactor *reactor, int64_t idle);
