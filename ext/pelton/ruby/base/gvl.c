#include "ruby/base/gvl.h"

#include <ruby.h>
#include <ruby/thread.h>
#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif
#include "core/base/huge_pages.h"
#include "ruby/base/long_calls.h"

struct gvl_wait {
    struct pel_loop *loop;
    struct pel_watch *watch;
    int64_t timeout;
    int code, ran;
};

static void *wait_nogvl(void *argument)
{
    struct gvl_wait *wait = argument;
    wait->ran = 1;
    wait->code = pel_loop_wait(wait->loop, wait->timeout);
    pel_watch_wake(wait->watch);
    return NULL;
}

static void wake_loop(void *loop)
{
    pel_loop_wake(loop);
}

int pel_gvl_wait(struct pel_loop *loop, int64_t timeout, struct pel_watch *watch)
{
    struct gvl_wait wait = {.loop = loop, .watch = watch, .timeout = timeout};

    loop->event_count = loop->event_next = 0;
    __atomic_store_n(&loop->waiting, 1, __ATOMIC_SEQ_CST);
    /* wake_loop is safe in a signal handler, and UBF_ASYNC_SAFE says so. Without the flag Ruby would call it on a
     * thread of its own, and joining that thread would park this fiber through the scheduler's block hook. */
    pel_long_calls_expect_wait(1);
    rb_nogvl(wait_nogvl, &wait, wake_loop, loop, RB_NOGVL_INTR_FAIL | RB_NOGVL_UBF_ASYNC_SAFE);
    pel_long_calls_expect_wait(0);
    __atomic_store_n(&loop->waiting, 0, __ATOMIC_SEQ_CST);
    if (!wait.ran) {
        loop->now = pel_now();
        pel_watch_wake(watch);
    }
    return wait.code;
}

static void *trim_nogvl(void *nothing)
{
#ifdef HAVE_MALLOC_TRIM
    malloc_trim(0);
#endif
    return nothing;
}

void pel_gvl_trim(void)
{
    rb_thread_call_without_gvl(trim_nogvl, NULL, NULL, NULL);
}

static void *join_nogvl(void *joined)
{
    *(size_t *)joined = pel_huge_pages_join();
    return NULL;
}

size_t pel_gvl_join_huge_pages(void)
{
    size_t joined = 0;

    rb_thread_call_without_gvl(join_nogvl, &joined, NULL, NULL);
    return joined;
}
