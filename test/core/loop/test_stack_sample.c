#include "core/loop/stack_sample.h"
#include <signal.h>
#include "check.h"

/* The sampled thread increments the counter while `going`. */
static pthread_t thread;
static uint64_t counter;
static int going;
static __thread int in_thread;
static int postponements, last_attempts;
static volatile sig_atomic_t foreign_signals;

static size_t sampler(char *buffer, size_t size, int last)
{
    last_attempts += last;
    if (postponements > 0 && !last) {
        postponements--;
        return 0;
    }
    return (size_t)snprintf(buffer, size, in_thread ? "in the thread" : "elsewhere");
}

static void *count_up(void *nothing)
{
    in_thread = 1;
    while (__atomic_load_n(&going, __ATOMIC_RELAXED))
        __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    return nothing;
}

static void on_foreign_signal(int number)
{
    foreign_signals++;
}

static void begin(void)
{
    static int prepared;
    struct sigaction action = {.sa_handler = on_foreign_signal};

    if (!prepared) {
        CHECK_INT(0, sigaction(SIGURG, &action, NULL));
        pel_stack_sample_prepare();
        prepared = 1;
    }
    going = 1;
    counter = 0;
    foreign_signals = postponements = last_attempts = 0;
    CHECK_INT(0, pthread_create(&thread, NULL, count_up, NULL));
    while (!__atomic_load_n(&counter, __ATOMIC_RELAXED))
        usleep(100);
}

static void end(void)
{
    __atomic_store_n(&going, 0, __ATOMIC_RELAXED);
    CHECK_INT(0, pthread_join(thread, NULL));
}

static const struct pel_stack_sample *take_sample(void)
{
    return pel_stack_sample_take(thread, sampler, &counter);
}

#define SAMPLE_TEST(title) TEST_BETWEEN(begin(), title, end())

SAMPLE_TEST(the_sampler_runs_on_the_sampled_thread)
{
    const struct pel_stack_sample *sample;

    sample = take_sample();
    CHECK(sample);
    CHECK_BYTES("in the thread", sample->text, sample->length);
    CHECK(sample->counter > 0 && sample->counter <= counter);
    CHECK_INT(0, foreign_signals);
}

SAMPLE_TEST(a_postponed_sample_is_requested_again)
{
    postponements = 3;
    CHECK_BYTES("in the thread", take_sample()->text, 13);
    CHECK_INT(0, postponements);
    CHECK_INT(0, last_attempts);
}

SAMPLE_TEST(the_last_attempt_cannot_be_postponed)
{
    postponements = 1000;
    CHECK_BYTES("in the thread", take_sample()->text, 13);
    CHECK_INT(991, postponements);
    CHECK_INT(1, last_attempts);
}

SAMPLE_TEST(a_foreign_signal_goes_to_the_previous_handler)
{
    raise(SIGURG);
    CHECK_INT(1, foreign_signals);
}

SAMPLE_TEST(a_handler_that_was_installed_later_is_left_alone)
{
    struct sigaction action = {.sa_handler = on_foreign_signal}, ours;

    CHECK_INT(0, sigaction(SIGURG, &action, &ours));
    CHECK_POINTER(NULL, take_sample());
    CHECK_INT(0, foreign_signals);
    CHECK_INT(0, sigaction(SIGURG, &ours, NULL));
    CHECK(take_sample());
}

/* When the signal is delivered after all, it counts as foreign. */
SAMPLE_TEST(a_thread_that_does_not_respond_yields_no_sample)
{
    sigset_t urgent, before;

    end();
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    CHECK_INT(0, pthread_sigmask(SIG_BLOCK, &urgent, &before));
    thread = pthread_self();
    CHECK_POINTER(NULL, take_sample());
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, &before, NULL));
    CHECK_INT(1, foreign_signals);
    begin();
    CHECK(take_sample());
}
