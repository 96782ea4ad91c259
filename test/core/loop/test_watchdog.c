#include "core/loop/watchdog.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "check.h"
#include "core/base/alloc.h"

#define THRESHOLD INT64_C(2000000)

static struct pel_watch watch;
static int ends[2];

static size_t sample_stack(char *buffer, size_t size, int last)
{
    memcpy(buffer, "here\nthere\n", 11);
    return 11;
}

/* Watches the calling thread as a loop. */
static void begin(void)
{
    memset(&watch, 0, sizeof watch);
    CHECK_INT(0, pipe(ends));
    pel_watchdog_set(THRESHOLD, ends[1]);
    CHECK_INT(0, pel_watchdog_watch(&watch, sample_stack));
}

static void end(void)
{
    pel_watchdog_unwatch(&watch);
    pel_watchdog_set(0, -1);
    close(ends[0]);
    close(ends[1]);
}

/* Blocks until the watchdog reports it: only the report ends the read. Returns the report. */
static const char *block_until_reported(void)
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

static void wait_until_watchdog_sleeps(void)
{
    while (!pel_watchdog_asleep_p())
        usleep(100);
}

static enum pel_watch_state check_after(int64_t now, int64_t elapsed)
{
    return pel__watchdog_check(&watch, now, elapsed, 100);
}

/* ---- checking ------------------------------------------------------------------------------------------------- */

TEST(a_loop_that_makes_progress_is_never_blocked)
{
    memset(&watch, 0, sizeof watch);
    for (int now = 0; now < 1000; now += 60) {
        pel_watch_step(&watch);
        CHECK_INT(PEL_WATCH_PROGRESSING, check_after(now, 60));
    }
}

TEST(a_loop_that_is_blocked_for_the_threshold_stalls)
{
    memset(&watch, 0, sizeof watch);
    pel_watch_step(&watch);
    CHECK_INT(PEL_WATCH_PROGRESSING, check_after(50, 50));
    CHECK_INT(PEL_WATCH_BLOCKED, check_after(100, 50));
    CHECK_INT(PEL_WATCH_STALLED, check_after(150, 50));
    watch.reported = 1;
    CHECK_INT(PEL_WATCH_BLOCKED, check_after(200, 50));
}

TEST(an_idle_loop_never_stalls)
{
    memset(&watch, 0, sizeof watch);
    pel_watch_idle(&watch);
    for (int now = 0; now < 1000; now += 50)
        CHECK_INT(PEL_WATCH_IDLE, check_after(now, 50));
}

TEST(blocked_time_counts_from_the_end_of_an_idle_period)
{
    memset(&watch, 0, sizeof watch);
    pel_watch_idle(&watch);
    CHECK_INT(PEL_WATCH_IDLE, check_after(50, 50));
    pel_watch_wake(&watch);
    CHECK_INT(PEL_WATCH_PROGRESSING, check_after(100, 50));
    CHECK_INT(PEL_WATCH_BLOCKED, check_after(150, 50));
    CHECK_INT(PEL_WATCH_STALLED, check_after(200, 50));
}

TEST(a_step_resets_the_blocked_time)
{
    memset(&watch, 0, sizeof watch);
    CHECK_INT(PEL_WATCH_BLOCKED, check_after(60, 60));
    pel_watch_step(&watch);
    CHECK_INT(PEL_WATCH_PROGRESSING, check_after(120, 60));
    CHECK_INT(PEL_WATCH_BLOCKED, check_after(180, 60));
}

/* ---- the thread ----------------------------------------------------------------------------------------------- */

#define WATCHDOG_TEST(title) TEST_BETWEEN(begin(), title, end())

WATCHDOG_TEST(the_report_is_written_while_the_loop_is_blocked)
{
    const char *report;

    report = block_until_reported();
    CHECK(strstr(report, "pelton: the loop has been blocked for 0.00"));
    CHECK(strstr(report, "\n    here\n    there\n"));
}

WATCHDOG_TEST(the_step_after_a_stall_gets_the_stall)
{
    struct pel_stall *stall;

    CHECK_INT(0, pel_watch_step(&watch));
    block_until_reported();
    CHECK_INT(1, pel_watch_step(&watch));
    stall = pel_watchdog_end_stall(&watch, 0);
    CHECK(stall);
    CHECK_STRING("here\nthere\n", stall->stack);
    CHECK(stall->nanoseconds >= THRESHOLD);
    pel_free(stall);
    CHECK_INT(0, pel_watch_step(&watch));
    CHECK_POINTER(NULL, pel_watchdog_end_stall(&watch, 0));
}

WATCHDOG_TEST(each_stall_is_reported_once)
{
    for (int i = 0; i < 3; i++) {
        block_until_reported();
        CHECK_INT(1, pel_watch_step(&watch));
        pel_free(pel_watchdog_end_stall(&watch, 0));
    }
}

/* Another stall after as many reports as there may be in a minute. */
WATCHDOG_TEST(a_stall_beyond_the_reports_of_a_minute_is_told_to_the_loop_alone)
{
    struct pel_stall *stall;

    for (int i = 0; i < PEL_WATCHDOG_REPORTS; i++) {
        block_until_reported();
        pel_watch_step(&watch);
        stall = pel_watchdog_end_stall(&watch, 0);
        CHECK_INT(0, stall->unreported);
        pel_free(stall);
    }
    /* The step may come before the sample of the stack, which then tells of no stall. */
    do {
        while (!__atomic_load_n(&watch.reported, __ATOMIC_SEQ_CST))
            usleep(100);
        pel_watch_step(&watch);
        stall = pel_watchdog_end_stall(&watch, 0);
    } while (!stall);
    CHECK_INT(1, stall->unreported);
    pel_free(stall);
    pel_watchdog_set(THRESHOLD, ends[1]);
    block_until_reported();
}

WATCHDOG_TEST(the_watchdog_sleeps_while_all_loops_are_idle_and_wakes_with_them)
{
    pel_watch_idle(&watch);
    wait_until_watchdog_sleeps();
    pel_watch_wake(&watch);
    block_until_reported();
}

WATCHDOG_TEST(the_watchdog_sleeps_without_loops_and_without_a_threshold)
{
    pel_watchdog_set(0, -1);
    wait_until_watchdog_sleeps();
    pel_watchdog_set(THRESHOLD, ends[1]);
    block_until_reported();
    pel_watchdog_unwatch(&watch);
    wait_until_watchdog_sleeps();
    CHECK_INT(0, pel_watchdog_count());
}

WATCHDOG_TEST(a_loop_that_is_not_watched_does_not_wake_the_watchdog)
{
    struct pel_watch other = {0};

    pel_watch_idle(&watch);
    wait_until_watchdog_sleeps();
    pel_watch_idle(&other);
    pel_watch_wake(&other);
    CHECK_INT(0, pel_watch_step(&other));
    CHECK(pel_watchdog_asleep_p());
}

static void *busy_loop(void *going)
{
    struct pel_watch other = {0};

    if (pel_watchdog_watch(&other, sample_stack) < 0)
        return NULL;
    while (__atomic_load_n((int *)going, __ATOMIC_RELAXED)) {
        if (pel_watch_step(&other) || pel_watch_idle(&other))
            pel_free(pel_watchdog_end_stall(&other, 0));
        pel_watch_wake(&other);
    }
    pel_watchdog_unwatch(&other);
    return going; /* not NULL */
}

WATCHDOG_TEST(one_loop_stalls_while_another_makes_progress)
{
    pthread_t thread;
    void *watched;
    int going = 1;

    CHECK_INT(0, pthread_create(&thread, NULL, busy_loop, &going));
    for (int i = 0; i < PEL_WATCHDOG_REPORTS; i++) {
        block_until_reported();
        if (pel_watch_step(&watch))
            pel_free(pel_watchdog_end_stall(&watch, 0));
        pel_watchdog_set(THRESHOLD, ends[1]); /* the other loop's reports count, too, where the machine is busy */
    }
    __atomic_store_n(&going, 0, __ATOMIC_RELAXED);
    pthread_join(thread, &watched);
    CHECK(watched);
    CHECK_INT(1, pel_watchdog_count());
}

WATCHDOG_TEST(a_child_has_a_watchdog_of_its_own)
{
    int status;
    pid_t child;

    block_until_reported();
    child = fork();
    if (child == 0) {
        pel_watchdog_end_stall(&watch, 0); /* frees the parent's stall */
        alarm(20);
        if (pel_watchdog_count() || pel_watchdog_watch(&watch, sample_stack) < 0 ||
            !strstr(block_until_reported(), "there"))
            _exit(1);
        _exit(0);
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK_INT(0, status);
}

WATCHDOG_TEST(without_a_sample_the_report_says_that_the_place_is_unknown)
{
    struct sigaction action = {.sa_handler = SIG_IGN}, ours;

    CHECK_INT(0, sigaction(SIGURG, &action, &ours));
    CHECK(strstr(block_until_reported(), "an unknown place"));
    CHECK_INT(0, sigaction(SIGURG, &ours, NULL));
}
