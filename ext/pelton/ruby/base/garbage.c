#include "ruby/base/garbage.h"

#include <ruby.h>
#include "core/loop/loop.h"

#define MB ((size_t)1 << 20)
#define OLD_LIMIT (32 * MB) /* bytes held by old objects that a full collection is not worth */
/* A collection may cost the time in which the kernel maps and clears as much memory as the collection frees. A page of
 * 4,096 bytes takes the kernel about half a microsecond. */
#define BYTES_PER_NS 8

/* One of the two ways to collect. A full collection also frees the strings that have survived a few minor ones, because
 * their peers read slowly. */
struct way {
    const size_t smallest, largest; /* limits of the bytes that one collection is worth */
    size_t bytes;                   /* since the last collection of this way or a fuller one */
    size_t collections;             /* Ruby's count, when it was read last */
    int64_t cost; /* nanoseconds of a collection: near the shortest one, because a busy machine prolongs some */
};

static struct way young = {.smallest = 2 * MB, .largest = 32 * MB};
static struct way full = {.smallest = 32 * MB, .largest = 512 * MB};

static size_t limit_of(const struct way *way)
{
    size_t bytes = (size_t)way->cost * BYTES_PER_NS;

    return bytes < way->smallest ? way->smallest : bytes > way->largest ? way->largest : bytes;
}

static size_t statistic(const char *name)
{
    return rb_gc_stat(ID2SYM(rb_intern(name)));
}

/* glibc's malloc adapts its thresholds when a mapped block is freed: from then on it keeps twice the block's size at
 * the top of its heap before it returns memory to the kernel, instead of 128 KB, and no longer maps blocks smaller than
 * that block. */
static void raise_malloc_thresholds(void)
{
    static char raised;
    char *volatile block;

    if (raised)
        return;
    raised = 1;
    block = malloc(4 * MB);
    free(block);
}

static void collect(struct way *way)
{
    VALUE options = rb_hash_new();
    int64_t before = pel_now(), took;

    rb_hash_aset(options, ID2SYM(rb_intern("full_mark")), way == &full ? Qtrue : Qfalse);
    rb_funcallv_kw(rb_mGC, rb_intern("start"), 1, &options, RB_PASS_KEYWORDS);
    took = pel_now() - before;
    way->cost = took < way->cost ? took : way->cost + (took - way->cost) / 8;
}

/* Whether Ruby has collected by itself since the last look, and this way need not. */
static int collected_meanwhile(struct way *way, const char *name)
{
    size_t before = way->collections;

    way->collections = statistic(name);
    return way->collections != before;
}

static int full_due(void)
{
    if (full.bytes < limit_of(&full))
        return 0;
    full.bytes = 0;
    return !collected_meanwhile(&full, "major_gc_count") && statistic("oldmalloc_increase_bytes") >= OLD_LIMIT;
}

void pel_garbage_expected(size_t bytes)
{
    young.bytes += bytes;
    full.bytes += bytes;
}

int pel_garbage_due(void)
{
    return young.bytes >= young.smallest && young.bytes >= limit_of(&young);
}

void pel_garbage_collect(void)
{
    if (!pel_garbage_due())
        return;
    young.bytes = 0;
    raise_malloc_thresholds();
    if (RTEST(rb_gc_enable())) /* the program has disabled GC: leave it disabled */
        rb_gc_disable();
    else if (full_due())
        collect(&full);
    else if (collected_meanwhile(&young, "count"))
        young.cost -= young.cost / 8;
    else
        collect(&young);
    young.collections = statistic("count");
}

void pel_garbage_made(size_t bytes)
{
    pel_garbage_expected(bytes);
    pel_garbage_collect();
}
