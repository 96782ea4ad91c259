#include "whereabouts.h"
#include <signal.h>
#include "check.h"

/* The thread that is asked counts until it is told to end. */
static pthread_t thread;
static uint64_t counter;
static int going;
static __thread int here;
static int bad_moments, last_moments;
static volatile sig_atomic_t strangers;

static size_t tell(char *buffer, size_t size, int last)
{
    last_moments += last;
    if (bad_moments > 0 && !last) {
        bad_moments--;
        return 0;
    }
    return (size_t)snprintf(buffer, size, here ? "in the thread" : "elsewhere");
}

static void *count(void *nothing)
{
    here = 1;
    while (__atomic_load_n(&going, __ATOMIC_RELAXED))
        __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    return nothing;
}

static void on_strange_signal(int number)
{
    strangers++;
}

static void begin(void)
{
    static int prepared;
    struct sigaction action = {.sa_handler = on_strange_signal};

    if (!prepared) {
        CHECK_INT(0, sigaction(SIGURG, &action, NULL));
        pel_whereabouts_prepare();
        prepared = 1;
    }
    going = 1;
    counter = 0;
    strangers = bad_moments = last_moments = 0;
    CHECK_INT(0, pthread_create(&thread, NULL, count, NULL));
    while (!__atomic_load_n(&counter, __ATOMIC_RELAXED))
        usleep(100);
}

static void end(void)
{
    __atomic_store_n(&going, 0, __ATOMIC_RELAXED);
    CHECK_INT(0, pthread_join(thread, NULL));
}

static const struct pel_answer *ask(void)
{
    return pel_whereabouts_ask(thread, tell, &counter);
}

TEST(the_thread_itself_answers)
{
    const struct pel_answer *answer;

    begin();
    answer = ask();
    CHECK(answer);
    CHECK_BYTES("in the thread", answer->text, answer->length);
    CHECK(answer->count > 0 && answer->count <= counter);
    CHECK_INT(0, strangers);
    end();
}

TEST(a_bad_moment_is_waited_for)
{
    begin();
    bad_moments = 3;
    CHECK_BYTES("in the thread", ask()->text, 13);
    CHECK_INT(0, bad_moments);
    CHECK_INT(0, last_moments);
    end();
}

TEST(bad_moments_are_not_waited_for_for_ever)
{
    begin();
    bad_moments = 1000;
    CHECK_BYTES("in the thread", ask()->text, 13);
    CHECK_INT(991, bad_moments);
    CHECK_INT(1, last_moments);
    end();
}

TEST(signals_of_others_go_to_the_handler_that_was_there)
{
    begin();
    raise(SIGURG);
    CHECK_INT(1, strangers);
    end();
}

TEST(a_handler_that_came_later_is_left_alone)
{
    struct sigaction action = {.sa_handler = on_strange_signal}, ours;

    begin();
    CHECK_INT(0, sigaction(SIGURG, &action, &ours));
    CHECK_POINTER(NULL, ask());
    CHECK_INT(0, strangers);
    CHECK_INT(0, sigaction(SIGURG, &ours, NULL));
    CHECK(ask());
    end();
}

/* And its answer, when it comes after all, is the answer to nothing. */
TEST(a_thread_that_does_not_answer_is_given_up)
{
    sigset_t urgent, before;

    begin();
    end();
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    CHECK_INT(0, pthread_sigmask(SIG_BLOCK, &urgent, &before));
    thread = pthread_self();
    CHECK_POINTER(NULL, ask());
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, &before, NULL));
    CHECK_INT(1, strangers);
    begin();
    CHECK(ask());
    end();
}
