/*
 * Claim: with 100,000 timers, most of them cancelled before they fire, a heap takes two to four times as long as the
 * wheel to cancel, re-arm and replace a timer. The case in which the heap is faster, firing in the order of adding, is
 * included. Run it by benchmark/timer/run. "ratio": the contender's time divided by the wheel's in the same interleaved
 * run.
 */
#include "contender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT 100000
#define ROUNDS 9
#define SECOND INT64_C(1000000000)
#define DAY (86400 * SECOND)

static const struct contender *const contenders[] = {&wheel, &quaternary_heap, &pairing_heap};
#define CONTENDERS (sizeof contenders / sizeof *contenders)

static struct subject *subjects;
static uint32_t order[COUNT];
static int64_t now;
static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % limit;
}

static void shuffle(void)
{
    for (size_t i = 0; i < COUNT; i++)
        order[i] = (uint32_t)i;
    for (size_t i = COUNT - 1; i > 0; i--) {
        size_t other = random_below(i + 1);
        uint32_t swap = order[i];

        order[i] = order[other];
        order[other] = swap;
    }
}

static uint64_t clock_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* A workload returns the number of its operations. *sum depends on the fired timers and their order. */
typedef size_t workload(const struct contender *, uint64_t *sum);

static size_t drain(const struct contender *contender, uint64_t *sum)
{
    struct subject *subject;
    size_t popped = 0;

    contender->expire(now);
    for (; (subject = contender->pop()); popped++)
        *sum = *sum * 31 + (uint64_t)(subject - subjects);
    return popped;
}

/* Timeouts of 5 s, as a client sets them: time advances by 1 us per operation. */
static size_t add_fixed(const struct contender *contender, uint64_t *sum)
{
    (void)sum;
    for (size_t i = 0; i < COUNT; i++)
        contender->add(&subjects[order[i]], (now += 1000) + 5 * SECOND);
    return COUNT;
}

static size_t add_random(const struct contender *contender, uint64_t *sum)
{
    (void)sum;
    for (size_t i = 0; i < COUNT; i++)
        contender->add(&subjects[i], now + (int64_t)random_below(30 * SECOND));
    return COUNT;
}

static size_t cancel_random(const struct contender *contender, uint64_t *sum)
{
    (void)sum;
    for (size_t i = 0; i < COUNT; i++)
        contender->cancel(&subjects[order[i]]);
    return COUNT;
}

static size_t rearm(const struct contender *contender, uint64_t *sum)
{
    (void)sum;
    for (size_t i = 0; i < COUNT; i++)
        contender->add(&subjects[order[i]], (now += 1000) + 5 * SECOND);
    return COUNT;
}

/* The loop sleeps until `next`, and pops. */
static size_t fire_all(const struct contender *contender, uint64_t *sum)
{
    size_t popped = 0;
    int64_t next;

    while ((next = contender->next()) != INT64_MAX) {
        now = next > now ? next : now;
        popped += drain(contender, sum);
    }
    return popped;
}

/* The loop runs every millisecond, regardless of `next`. */
static size_t fire_each_millisecond(const struct contender *contender, uint64_t *sum)
{
    size_t popped = 0;

    while (popped < COUNT) {
        now += SECOND / 1000;
        popped += drain(contender, sum);
    }
    return popped;
}

/* 100,000 operations in flight: in each iteration (20 us) ten complete and ten begin; one in a hundred has a timeout of
 * 50 ms, and mostly fires. */
static size_t mostly_cancelled(const struct contender *contender, uint64_t *sum)
{
    for (size_t i = 0; i < COUNT; i++) {
        struct subject *subject = &subjects[order[i]];

        contender->cancel(subject);
        contender->add(subject, now + (i % 100 ? 5 * SECOND : SECOND / 20));
        if (i % 10 == 0) {
            now += 20000;
            if (contender->next() <= now)
                drain(contender, sum);
        }
    }
    return COUNT;
}

/* A loop iteration without a due timer. */
static size_t idle_iteration(const struct contender *contender, uint64_t *sum)
{
    int64_t next = 0;

    for (size_t i = 0; i < COUNT; i++) {
        next += contender->next() > now;
        contender->expire(now += 100);
    }
    *sum += (uint64_t)next;
    return COUNT;
}

/* The clock jumps by 50 days, a hundred times. */
static size_t gap(const struct contender *contender, uint64_t *sum)
{
    for (size_t i = 0; i < 100; i++) {
        contender->add(&subjects[i], now + 60 * DAY);
        now += 50 * DAY;
        drain(contender, sum);
    }
    return 100;
}

static const struct {
    const char *name;
    workload *prepare, *run;
} workloads[] = {
    {"add, timeout 5 s", NULL, add_fixed},
    {"add, random up to 30 s", NULL, add_random},
    {"cancel, random order", add_random, cancel_random},
    {"re-arm, timeout 5 s", add_random, rearm},
    {"fire, random up to 30 s", add_random, fire_all},
    {"fire, iteration each 1 ms", add_random, fire_each_millisecond},
    {"fire, timeouts 1 us apart", add_fixed, fire_each_millisecond},
    {"cancel + add, 1 % fire", add_random, mostly_cancelled},
    {"iteration, nothing due", add_fixed, idle_iteration},
    {"gap of 50 days", NULL, gap},
};
#define WORKLOADS (sizeof workloads / sizeof *workloads)

static double times[WORKLOADS][CONTENDERS][ROUNDS];

static double measure(size_t row, const struct contender *contender, size_t round, uint64_t *sum)
{
    uint64_t before, after;
    size_t operations;

    memset(subjects, 0, COUNT * sizeof *subjects);
    seed = 88172645463325252u + round * 2 + row * 1000;
    shuffle();
    now = 1000 * SECOND;
    contender->start(now);
    *sum = 0;
    if (workloads[row].prepare)
        workloads[row].prepare(contender, sum);
    before = clock_ns();
    operations = workloads[row].run(contender, sum);
    after = clock_ns();
    /* The remaining timers must fire in the same order, too. */
    now = INT64_MAX - 1;
    drain(contender, sum);
    contender->finish();
    return (double)(after - before) / (double)operations;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    subjects = malloc(COUNT * sizeof *subjects);
    if (!subjects)
        return 1;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t row = 0; row < WORKLOADS; row++) {
            uint64_t sums[CONTENDERS];

            for (size_t i = 0; i < CONTENDERS; i++) {
                size_t which = (i + round) % CONTENDERS;

                times[row][which][round] = measure(row, contenders[which], round, &sums[which]);
            }
            for (size_t i = 1; i < CONTENDERS; i++) {
                if (sums[i] != sums[0]) {
                    fprintf(stderr, "%s: %s and %s differ\n", workloads[row].name, contenders[0]->name,
                            contenders[i]->name);
                    return 1;
                }
            }
        }
    }
    printf("%-26s", "ns an operation");
    for (size_t i = 0; i < CONTENDERS; i++)
        printf(i ? "  %13s  ratio" : "  %13s", contenders[i]->name);
    printf("\n");
    for (size_t row = 0; row < WORKLOADS; row++) {
        printf("%-26s", workloads[row].name);
        for (size_t i = 0; i < CONTENDERS; i++) {
            qsort(times[row][i], ROUNDS, sizeof(double), ascending);
            printf("  %13.1f", times[row][i][ROUNDS / 2]);
            if (i)
                printf("  %5.1f", times[row][i][ROUNDS / 2] / times[row][0][ROUNDS / 2]);
        }
        printf("\n");
    }
    free(subjects);
    return 0;
}
