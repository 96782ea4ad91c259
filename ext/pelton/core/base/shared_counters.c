#include "core/base/shared_counters.h"

#include <stdbool.h>
#include <sys/mman.h>
#include "core/base/siphash.h"

#define TOGETHER 8                             /* counters among which a new one takes its place */
#define COUNT_BITS 24                          /* of a value; above them is the end in milliseconds, for 34 years */
#define MOST ((UINT64_C(1) << COUNT_BITS) - 1) /* the highest count */
#define LAST (UINT64_MAX >> COUNT_BITS)        /* the latest end */

/* Each word is read and written at once; a value of 0 has ended. */
struct counter {
    uint64_t key; /* the name's hash */
    uint64_t value;
};

struct pel_shared_counters {
    struct pel_siphash_seed seed;
    size_t groups;
    struct counter counters[];
};

static size_t size_of(size_t groups)
{
    return sizeof(struct pel_shared_counters) + groups * TOGETHER * sizeof(struct counter);
}

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Whether the word still was `before`, and is `after` now. */
static bool replace(uint64_t *word, uint64_t before, uint64_t after)
{
    return __atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static uint64_t count_of(uint64_t value)
{
    return value & MOST;
}

static bool ended_p(uint64_t value, uint64_t now)
{
    return value >> COUNT_BITS <= now;
}

struct pel_shared_counters *pel_shared_counters_new(size_t most)
{
    size_t groups = most < TOGETHER ? 1 : most / TOGETHER;
    struct pel_shared_counters *counters;

    if (groups > SIZE_MAX / TOGETHER / sizeof(struct counter) / 2)
        return NULL;
    counters = mmap(NULL, size_of(groups), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counters == MAP_FAILED)
        return NULL;
    counters->groups = groups;
    if (pel_siphash_seed(&counters->seed) == 0)
        return counters;
    pel_shared_counters_free(counters);
    return NULL;
}

void pel_shared_counters_free(struct pel_shared_counters *counters)
{
    if (counters)
        munmap(counters, size_of(counters->groups));
}

static struct counter *find(struct counter *group, uint64_t key)
{
    for (int i = 0; i < TOGETHER; i++)
        if (load(&group[i].key) == key)
            return &group[i];
    return NULL;
}

/* What goes first: a counter that has ended, then the lowest, then the one that ends first. */
static uint64_t rank(uint64_t value, uint64_t now)
{
    return ended_p(value, now) ? 0 : count_of(value) << (64 - COUNT_BITS) | value >> COUNT_BITS;
}

/* The place of a new counter, or NULL: another process has just taken it. The value goes first, so that the new name
 * never has the old count. */
static struct counter *take(struct counter *group, uint64_t key, uint64_t now)
{
    struct counter *least = group;
    uint64_t value = load(&group->value), name;

    for (int i = 1; i < TOGETHER; i++) {
        uint64_t other = load(&group[i].value);
        if (rank(other, now) < rank(value, now)) {
            least = &group[i];
            value = other;
        }
    }
    name = load(&least->key);
    return replace(&least->value, value, 0) && replace(&least->key, name, key) ? least : NULL;
}

uint32_t pel_shared_counters_add(struct pel_shared_counters *counters, struct pel_slice name, uint32_t amount,
                                 uint64_t now, uint64_t ttl)
{
    uint64_t key = pel_siphash(&counters->seed, name.bytes, name.length);
    struct counter *group = &counters->counters[key % counters->groups * TOGETHER], *counter;

    key += !key; /* 0 is no counter's */
    do {
        counter = find(group, key);
        if (!counter)
            counter = take(group, key, now);
    } while (!counter);
    for (;;) {
        uint64_t before = load(&counter->value);
        uint64_t end = ended_p(before, now) ? (ttl > LAST - now ? LAST : now + ttl) : before >> COUNT_BITS;
        uint64_t count = (ended_p(before, now) ? 0 : count_of(before)) + amount;
        if (count > MOST)
            count = MOST;
        if (replace(&counter->value, before, end << COUNT_BITS | count))
            return (uint32_t)count;
    }
}

size_t pel_shared_counters_live(const struct pel_shared_counters *counters, uint64_t now)
{
    size_t live = 0;

    for (size_t i = 0; i < counters->groups * TOGETHER; i++)
        live += !ended_p(load(&counters->counters[i].value), now);
    return live;
}

void pel_shared_counters_clear(struct pel_shared_counters *counters)
{
    for (size_t i = 0; i < counters->groups * TOGETHER; i++)
        __atomic_store_n(&counters->counters[i].value, 0, __ATOMIC_RELEASE);
}
