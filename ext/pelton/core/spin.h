#ifndef PEL_SPIN_H
#define PEL_SPIN_H

#include <stdint.h>

/*
 * Whether to spin for a reply before sleeping. Waking a sleeping core costs more than a loopback round trip, so
 * spinning halves the time when client and server have a core each; when they share one it doubles it. Which of the two
 * holds is measured on each connection, again and again: a few operations sleep, a few spin, and the others do what was
 * faster. While the answer stays the same it is asked more and more rarely.
 */

#define PEL_SPIN_NS 50000    /* for one operation at most */
#define PEL_SPIN_SAMPLES 8   /* of each kind in a period */
#define PEL_SPIN_PERIOD 1024 /* operations, the shortest; each one that changes nothing doubles the next */
#define PEL_SPIN_LONGEST (16 * PEL_SPIN_PERIOD)

struct pel_spin {
    uint32_t count;  /* operations of this period */
    uint32_t period; /* its operations; 0: the first one */
    int faster;      /* spinning was faster by a tenth, the last time */
    int64_t sum[2];  /* nanoseconds of this period's samples: sleeping, spinning */
};

/* Nanoseconds the next operation may spin: 0 or PEL_SPIN_NS. */
static inline int64_t pel_spin_next(const struct pel_spin *spin)
{
    if (spin->count < PEL_SPIN_SAMPLES)
        return 0;
    if (spin->count < 2 * PEL_SPIN_SAMPLES)
        return PEL_SPIN_NS;
    return spin->faster ? PEL_SPIN_NS : 0;
}

/* That operation took so many nanoseconds. */
static inline void pel_spin_took(struct pel_spin *spin, int64_t nanoseconds)
{
    /* An operation that a busy machine held up for long says nothing of how to wait. */
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

#endif
