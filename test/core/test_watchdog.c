#include "watchdog.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "alloc.h"
#include "check.h"

#define THRESHOLD INT64_C(2000000)

static struct pel_watch watch;
static int ends[2];

static size_t place(char *buffer, size_t size, int last)
{
    memcpy(buffer, "here\nthere\n", 11);
    return 11;
}

/* The calling thread is the loop. */
static void begin(void)
{
    memset(&watch, 0, sizeof watch);
    CHECK_INT(0, pipe(ends));
    pel_watchdog_set(THRESHOLD, ends[1]);
    CHECK_INT(0, pel_watchdog_watch(&watch, place));
}

static void end(void)
{
    pel_watchdog_forget(&watch);
    pel_watchdog_set(0, -1);
    close(ends[0]);
    close(ends[1]);
}

/* Stands until the watchdog says so: it ends by the report alone. */
static const char *stand(void)
{
    static char report[1000];
    ssize_t length;

    do
        length = read(ends[0], report, sizeof report - 1);
    while (length < 0 && errno == EINTR);
    CHECK(length > 0);
    report[length] = '\0';
    return report;
}

static void wait_for_rest(void)
{
    while (!pel_watchdog_resting())
        usleep(100);
}

static enum pel_sight look(int64_t now, int64_t elapsed)
{
    return pel__watchdog_look(&watch, now, elapsed, 100);
}

/* ---- what it sees --------------------------------------------------------------------------------------------- */

TEST(a_loop_that_moves_stands_nowhere)
{
    memset(&watch, 0, sizeof watch);
    for (int now = 0; now < 1000; now += 60) {
        pel_watch_step(&watch);
        CHECK_INT(PEL_MOVES, look(now, 60));
    }
}

TEST(a_loop_that_stands_for_the_threshold_stalls)
{
    memset(&watch, 0, sizeof watch);
    pel_watch_step(&watch);
    CHECK_INT(PEL_MOVES, look(50, 50));
    CHECK_INT(PEL_STANDS, look(100, 50));
    CHECK_INT(PEL_STALLS, look(150, 50));
    watch.told = 1;
    CHECK_INT(PEL_STANDS, look(200, 50));
}

TEST(a_loop_that_rests_never_stalls)
{
    memset(&watch, 0, sizeof watch);
    pel_watch_rest(&watch);
    for (int now = 0; now < 1000; now += 50)
        CHECK_INT(PEL_RESTS, look(now, 50));
}

TEST(standing_counts_from_the_end_of_a_rest)
{
    memset(&watch, 0, sizeof watch);
    pel_watch_rest(&watch);
    CHECK_INT(PEL_RESTS, look(50, 50));
    pel_watch_wake(&watch);
    CHECK_INT(PEL_MOVES, look(100, 50));
    CHECK_INT(PEL_STANDS, look(150, 50));
    CHECK_INT(PEL_STALLS, look(200, 50));
}

TEST(a_step_ends_the_standing)
{
    memset(&watch, 0, sizeof watch);
    CHECK_INT(PEL_STANDS, look(60, 60));
    pel_watch_step(&watch);
    CHECK_INT(PEL_MOVES, look(120, 60));
    CHECK_INT(PEL_STANDS, look(180, 60));
}

/* ---- the thread ----------------------------------------------------------------------------------------------- */

TEST(the_report_is_written_while_the_loop_stands)
{
    const char *report;

    begin();
    report = stand();
    CHECK(strstr(report, "pelton: the loop has been blocked for 0.00"));
    CHECK(strstr(report, "\n    here\n    there\n"));
    end();
}

TEST(the_step_after_a_stall_gets_it)
{
    struct pel_stall *stall;

    begin();
    CHECK_INT(0, pel_watch_step(&watch));
    stand();
    CHECK_INT(1, pel_watch_step(&watch));
    stall = pel_watchdog_end(&watch, 0);
    CHECK(stall);
    CHECK_STRING("here\nthere\n", stall->place);
    CHECK(stall->nanoseconds >= THRESHOLD);
    pel_free(stall);
    CHECK_INT(0, pel_watch_step(&watch));
    CHECK_POINTER(NULL, pel_watchdog_end(&watch, 0));
    end();
}

TEST(each_stall_is_reported_once)
{
    begin();
    for (int i = 0; i < 3; i++) {
        stand();
        CHECK_INT(1, pel_watch_step(&watch));
        pel_free(pel_watchdog_end(&watch, 0));
    }
    end();
}

TEST(it_sleeps_while_all_loops_rest_and_wakes_with_them)
{
    begin();
    pel_watch_rest(&watch);
    wait_for_rest();
    pel_watch_wake(&watch);
    stand();
    end();
}

TEST(it_sleeps_without_loops_and_without_a_threshold)
{
    begin();
    pel_watchdog_set(0, -1);
    wait_for_rest();
    pel_watchdog_set(THRESHOLD, ends[1]);
    stand();
    pel_watchdog_forget(&watch);
    wait_for_rest();
    CHECK_INT(0, pel_watchdog_count());
    end();
}

/* It wakes nobody, and nobody wakes it. */
TEST(a_loop_that_is_not_watched_disturbs_nobody)
{
    struct pel_watch other = {0};

    begin();
    pel_watch_rest(&watch);
    wait_for_rest();
    pel_watch_rest(&other);
    pel_watch_wake(&other);
    CHECK_INT(0, pel_watch_step(&other));
    CHECK(pel_watchdog_resting());
    end();
}

static void *busy_loop(void *going)
{
    struct pel_watch other = {0};

    if (pel_watchdog_watch(&other, place) < 0)
        return NULL;
    while (__atomic_load_n((int *)going, __ATOMIC_RELAXED)) {
        if (pel_watch_step(&other) || pel_watch_rest(&other))
            pel_free(pel_watchdog_end(&other, 0));
        pel_watch_wake(&other);
    }
    pel_watchdog_forget(&other);
    return going; /* not NULL */
}

TEST(one_loop_stalls_while_another_works)
{
    pthread_t thread;
    void *watched;
    int going = 1;

    begin();
    CHECK_INT(0, pthread_create(&thread, NULL, busy_loop, &going));
    for (int i = 0; i < 20; i++) {
        stand();
        if (pel_watch_step(&watch))
            pel_free(pel_watchdog_end(&watch, 0));
    }
    __atomic_store_n(&going, 0, __ATOMIC_RELAXED);
    pthread_join(thread, &watched);
    CHECK(watched);
    CHECK_INT(1, pel_watchdog_count());
    end();
}

TEST(a_child_has_a_watchdog_of_its_own)
{
    int status;
    pid_t child;

    begin();
    stand();
    child = fork();
    if (child == 0) {
        pel_watchdog_end(&watch, 0); /* the parent's */
        alarm(20);
        if (pel_watchdog_count() || pel_watchdog_watch(&watch, place) < 0 || !strstr(stand(), "there"))
            _exit(1);
        _exit(0);
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK_INT(0, status);
    end();
}

TEST(a_place_that_nobody_tells_is_not_known)
{
    struct sigaction action = {.sa_handler = SIG_IGN}, ours;

    begin();
    CHECK_INT(0, sigaction(SIGURG, &action, &ours));
    CHECK(strstr(stand(), "a place that is not known"));
    CHECK_INT(0, sigaction(SIGURG, &ours, NULL));
    end();
}
