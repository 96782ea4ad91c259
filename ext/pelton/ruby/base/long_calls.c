#include "ruby/base/long_calls.h"

#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/thread.h>
#include <sys/resource.h>
#include "core/loop/loop.h"
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

#if defined(HAVE_RB_INTERNAL_THREAD_ADD_EVENT_HOOK) && defined(HAVE_RB_POSTPONED_JOB_PREREGISTER) &&                   \
    defined(RUSAGE_THREAD)

#define LONG_SLEEP ((int64_t)1000000)        /* nanoseconds */
#define LONG_COMPUTATION ((int64_t)10000000) /* nanoseconds */

struct usage {
    int64_t computed; /* nanoseconds */
    long slept;       /* how often */
};

static __thread struct {
    int64_t count;
    int64_t since; /* when the thread gave the GVL away; 0: it has it, or this time does not count */
    struct usage before;
    uint8_t watched, expects_wait;
} calls;

static rb_postponed_job_handle_t job;

static int64_t nanoseconds(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

static struct usage usage_of_thread(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return (struct usage){.computed = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
                          .slept = usage.ru_nvcsw};
}

static int long_p(int64_t took)
{
    struct usage after;
    int64_t computed;

    if (took < LONG_SLEEP)
        return 0;
    after = usage_of_thread();
    computed = after.computed - calls.before.computed;
    return computed >= LONG_COMPUTATION || (after.slept != calls.before.slept && took - computed >= LONG_SLEEP);
}

/* Ruby calls this on the thread itself, which does not hold the GVL: so it may not use Ruby. */
static void on_event(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *nothing)
{
    if (!calls.watched)
        return;
    if (event == RUBY_INTERNAL_THREAD_EVENT_SUSPENDED && !calls.expects_wait) {
        calls.before = usage_of_thread();
        calls.since = pel_now();
    } else if (event == RUBY_INTERNAL_THREAD_EVENT_READY && calls.since) {
        if (long_p(pel_now() - calls.since)) {
            calls.count++;
            rb_postponed_job_trigger(job);
        }
        calls.since = 0;
    }
}

static VALUE tell(VALUE nothing)
{
    return pel_upcallv(PEL_UPCALL_long_call, 0, NULL);
}

static void run_job(void *nothing)
{
    int state;

    pel_protect(tell, Qnil, &state);
    if (state)
        pel_take_error(state);
}

void pel_long_calls_watch(int on)
{
    static rb_internal_thread_event_hook_t *hook;

    calls.watched = on != 0;
    calls.since = 0;
    if (hook || !on)
        return;
    job = rb_postponed_job_preregister(0, run_job, NULL);
    hook = rb_internal_thread_add_event_hook(
        on_event, RUBY_INTERNAL_THREAD_EVENT_SUSPENDED | RUBY_INTERNAL_THREAD_EVENT_READY, NULL);
}

void pel_long_calls_expect_wait(int yes)
{
    calls.expects_wait = yes != 0;
}

int64_t pel_long_calls_count(void)
{
    return calls.count;
}

#else

void pel_long_calls_watch(int on)
{
    (void)on;
}

void pel_long_calls_expect_wait(int yes)
{
    (void)yes;
}

int64_t pel_long_calls_count(void)
{
    return -1;
}

#endif
