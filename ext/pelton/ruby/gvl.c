#include "gvl.h"

#include <ruby.h>
#include <ruby/thread.h>

struct wait {
    struct pel_loop *loop;
    int64_t timeout;
    int code, ran;
};

static void *wait_nogvl(void *argument)
{
    struct wait *wait = argument;
    wait->ran = 1;
    wait->code = pel_loop_wait(wait->loop, wait->timeout);
    return NULL;
}

static void unblock(void *loop)
{
    pel_loop_wake(loop);
}

int pel_gvl_wait(struct pel_loop *loop, int64_t timeout)
{
    struct wait wait = {.loop = loop, .timeout = timeout};

    loop->event_count = loop->event_next = 0;
    __atomic_store_n(&loop->waiting, 1, __ATOMIC_SEQ_CST);
    /* unblock is safe in a signal handler. Unless Ruby is told so, it starts a thread for it, and the join of that
     * thread parks this fiber by the scheduler's own block hook. */
    rb_nogvl(wait_nogvl, &wait, unblock, loop, RB_NOGVL_INTR_FAIL | RB_NOGVL_UBF_ASYNC_SAFE);
    __atomic_store_n(&loop->waiting, 0, __ATOMIC_SEQ_CST);
    if (!wait.ran)
        loop->now = pel_now();
    return wait.code;
}
