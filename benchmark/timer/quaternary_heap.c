/* A heap in an array, with four children per entry, as in libev and Go. */
#include "contender.h"

#include <stdlib.h>

struct entry {
    int64_t deadline;
    uint64_t sequence;
    struct subject *subject;
};

static struct entry *entries;
static size_t count, capacity;
static uint64_t sequence;
static struct subject *expired, **expired_tail;

static int entry_before(const struct entry *a, const struct entry *b)
{
    return a->deadline < b->deadline || (a->deadline == b->deadline && a->sequence < b->sequence);
}

static void put_entry(size_t index, struct entry entry)
{
    entries[index] = entry;
    entry.subject->as.heap.index = index + 1;
}

static void sift_up(size_t index, struct entry entry)
{
    while (index > 0 && entry_before(&entry, &entries[(index - 1) / 4])) {
        put_entry(index, entries[(index - 1) / 4]);
        index = (index - 1) / 4;
    }
    put_entry(index, entry);
}

static void sift_down(size_t index, struct entry entry)
{
    for (;;) {
        size_t first = index * 4 + 1, least = first;

        if (first >= count)
            break;
        for (size_t child = first + 1; child < first + 4 && child < count; child++)
            if (entry_before(&entries[child], &entries[least]))
                least = child;
        if (!entry_before(&entries[least], &entry))
            break;
        put_entry(index, entries[least]);
        index = least;
    }
    put_entry(index, entry);
}

static void sift(size_t index, struct entry entry)
{
    if (index > 0 && entry_before(&entry, &entries[(index - 1) / 4]))
        sift_up(index, entry);
    else
        sift_down(index, entry);
}

static void heap_start(int64_t now)
{
    (void)now;
    count = 0;
    expired = NULL;
    expired_tail = &expired;
}

static void heap_cancel(struct subject *subject)
{
    size_t index = subject->as.heap.index;

    if (index == 0)
        return;
    subject->as.heap.index = 0;
    if (--count > index - 1)
        sift(index - 1, entries[count]);
}

static void heap_add(struct subject *subject, int64_t deadline)
{
    struct entry entry = {deadline, sequence++, subject};

    if (subject->as.heap.index) {
        sift(subject->as.heap.index - 1, entry);
        return;
    }
    if (count == capacity) {
        capacity = capacity ? capacity * 2 : 64;
        entries = realloc(entries, capacity * sizeof *entries);
        if (!entries)
            abort();
    }
    count++;
    sift_up(count - 1, entry);
}

static int64_t heap_next(void)
{
    return count ? entries[0].deadline : INT64_MAX;
}

static void heap_expire(int64_t now)
{
    while (count && entries[0].deadline <= now) {
        struct subject *subject = entries[0].subject;

        heap_cancel(subject);
        subject->as.heap.next_expired = NULL;
        *expired_tail = subject;
        expired_tail = &subject->as.heap.next_expired;
    }
}

static struct subject *heap_pop(void)
{
    struct subject *subject = expired;

    if (!subject)
        return NULL;
    expired = subject->as.heap.next_expired;
    if (!expired)
        expired_tail = &expired;
    return subject;
}

static void heap_finish(void)
{
    free(entries);
    entries = NULL;
    count = capacity = 0;
}

const struct contender quaternary_heap = {"4-ary heap", heap_start,  heap_add, heap_cancel,
                                          heap_next,    heap_expire, heap_pop, heap_finish};
