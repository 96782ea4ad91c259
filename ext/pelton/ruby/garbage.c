#include "garbage.h"

#include <ruby.h>
#include "../core/loop.h"

#define LEAST ((size_t)2 << 20)
#define MOST ((size_t)32 << 20)
/* What a collection may cost: the time in which the kernel maps and clears as much memory as it gives back. A page's
 * 4,096 bytes take about half a microsecond. */
#define BYTES_PER_NS 8

static size_t made, collections;
static int64_t cost; /* nanoseconds of a collection: near the least, since a busy machine makes some of them long */

static size_t limit(void)
{
    size_t bytes = (size_t)cost * BYTES_PER_NS;
    return bytes < LEAST ? LEAST : bytes > MOST ? MOST : bytes;
}

/* glibc's malloc learns from a block that is mapped and freed: it then keeps twice as much of its heap before it
 * returns memory to the kernel, instead of 128 KB at first, and smaller blocks are not mapped any more. */
static void teach_malloc(void)
{
    static char taught;
    char *volatile block;

    if (taught)
        return;
    taught = 1;
    block = malloc(2 * LEAST);
    free(block);
}

static void collect(void)
{
    VALUE options = rb_hash_new();
    int64_t before = pel_now(), took;

    rb_hash_aset(options, ID2SYM(rb_intern("full_mark")), Qfalse);
    rb_funcallv_kw(rb_mGC, rb_intern("start"), 1, &options, RB_PASS_KEYWORDS);
    took = pel_now() - before;
    cost = took < cost ? took : cost + (took - cost) / 8;
}

void pel_garbage_made(size_t bytes)
{
    made += bytes;
    if (made < limit())
        return;
    made = 0;
    teach_malloc();
    if (collections != rb_gc_count()) /* Ruby did it itself meanwhile */
        cost -= cost / 8;
    else if (RTEST(rb_gc_enable())) /* it was switched off: so it stays */
        rb_gc_disable();
    else
        collect();
    collections = rb_gc_count();
}
