#pragma once

#include <stdint.h>

/*
 * Decides whether to spin for a reply before sleeping. Waking a sleeping core costs more than a loopback round trip, so
 * spinning halves the time when client and server have a core each; when they share a core, spinning doubles it. Each
 * connection measures repeatedly which case it is: a few operations sleep, a few spin, and the remaining operations of
 * the period do whichever was faster. As long as the result stays the same, the periods get longer.
 */

#define PEL_SPIN_NS 50000    /* the longest that one operation spins */
#define PEL_SPIN_SAMPLES 8   /* operations in a period that sleep to be measured; as many spin */
#define PEL_SPIN_PERIOD 1024 /* operations in the shortest period; the same result again doubles the next one */
#define PEL_SPIN_LONGEST (16 * PEL_SPIN_PERIOD)

struct pel_spin {
    uint32_t count;  /* the operations done in this period */
    uint32_t period; /* the length of this period, in operations; 0: the first one */
    int faster;      /* whether spinning was faster by at least a tenth at the last measurement */
    int64_t sum[2];  /* the durations of this period's samples in nanoseconds: sleeping, spinning */
};

/* The nanoseconds that the next operation may spin: 0 or PEL_SPIN_NS. */
static inline int64_t pel_spin_next(const struct pel_spin *spin)
{
    if (spin->count < PEL_SPIN_SAMPLES)
        return 0;
    if (spin->count < 2 * PEL_SPIN_SAMPLES)
        return PEL_SPIN_NS;
    return spin->faster ? PEL_SPIN_NS : 0;
}

/* Records the duration of that operation. */
static inline void pel_spin_took(struct pel_spin *spin, int64_t nanoseconds)
{
    /* An operation that a busy machine delayed for long says nothing about how to wait, so samples are capped. */
    int64_t most = 1000000;

    if (spin->count < 2 * PEL_SPIN_SAMPLES)
        spin->sum[spin->count >= PEL_SPIN_SAMPLES] += nanoseconds < most ? nanoseconds : most;
    spin->count++;
    if (spin->count == 2 * PEL_SPIN_SAMPLES) {
        int faster = spin->sum[1] * 10 < spin->sum[0] * 9;
        if (faster != spin->faster || !spin->period)
            spin->period = PEL_SPIN_PERIOD;
        else if (spin->period < PEL_SPIN_LONGEST)
            spin->period *= 2;
        spin->faster = faster;
    }
    if (spin->count == spin->period) {
        spin->count = 0;
        spin->sum[0] = spin->sum[1] = 0;
    }
}
