#include "ruby/base/garbage.h"

#include <ruby.h>
#include "core/loop/loop.h"

#define SMALLEST_LIMIT ((size_t)2 << 20)
#define LARGEST_LIMIT ((size_t)32 << 20)
/* A collection may cost the time in which the kernel maps and clears as much memory as the collection frees. A page of
 * 4,096 bytes takes the kernel about half a microsecond. */
#define BYTES_PER_NS 8

static size_t garbage_bytes, collections;
/* Nanoseconds that a collection takes: an estimate near the shortest one, because a busy machine prolongs some. */
static int64_t collection_cost;

static size_t collection_limit(void)
{
    size_t bytes = (size_t)collection_cost * BYTES_PER_NS;
    return bytes < SMALLEST_LIMIT ? SMALLEST_LIMIT : bytes > LARGEST_LIMIT ? LARGEST_LIMIT : bytes;
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
    block = malloc(2 * SMALLEST_LIMIT);
    free(block);
}

static void collect_young(void)
{
    VALUE options = rb_hash_new();
    int64_t before = pel_now(), took;

    rb_hash_aset(options, ID2SYM(rb_intern("full_mark")), Qfalse);
    rb_funcallv_kw(rb_mGC, rb_intern("start"), 1, &options, RB_PASS_KEYWORDS);
    took = pel_now() - before;
    collection_cost = took < collection_cost ? took : collection_cost + (took - collection_cost) / 8;
}

void pel_garbage_made(size_t bytes)
{
    garbage_bytes += bytes;
    if (garbage_bytes < collection_limit())
        return;
    garbage_bytes = 0;
    raise_malloc_thresholds();
    if (collections != rb_gc_count()) /* Ruby has collected by itself meanwhile */
        collection_cost -= collection_cost / 8;
    else if (RTEST(rb_gc_enable())) /* the program has disabled GC: leave it disabled */
        rb_gc_disable();
    else
        collect_young();
    collections = rb_gc_count();
}
