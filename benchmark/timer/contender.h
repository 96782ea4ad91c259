#ifndef PELTON_BENCHMARK_TIMER_CONTENDER_H
#define PELTON_BENCHMARK_TIMER_CONTENDER_H

#include "core/loop/timer.h"

/* A timer of each contender; 128 bytes, as large as an operation that embeds a timer. */
struct subject {
    union {
        struct pel_timer wheel;
        struct {
            size_t index; /* the index in the heap + 1; 0: not in the heap */
            struct subject *next_expired;
        } heap;
        struct {
            struct subject *child, *next, *previous; /* previous: the parent, for a first child */
            int active;
            struct subject *next_expired;
        } pairing;
    } as;
    int64_t deadline;
    uint64_t sequence;
    char rest[56];
};

/* The operations of core/timer.h. `add` also re-arms. */
struct contender {
    const char *name;
    void (*start)(int64_t now);
    void (*add)(struct subject *, int64_t deadline);
    void (*cancel)(struct subject *);
    int64_t (*next)(void);
    void (*expire)(int64_t now);
    struct subject *(*pop)(void);
    void (*finish)(void);
};

extern const struct contender wheel, quaternary_heap, pairing_heap;

static inline int subject_before(const struct subject *a, const struct subject *b)
{
    return a->deadline < b->deadline || (a->deadline == b->deadline && a->sequence < b->sequence);
}

#endif
