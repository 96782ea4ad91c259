#include "core/loop/stop_limit.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#define MILLISECOND INT64_C(1000000)
#define HOUR (INT64_C(3600) * 1000 * MILLISECOND)

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

/* The status of a child that calls the function; its standard error is closed. */
static int status_of(void (*function)(void))
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        close(STDERR_FILENO);
        function();
        _exit(7);
    }
    CHECK_INT(pid, waitpid(pid, &status, 0));
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void wait_for_ever(void)
{
    for (;;)
        ;
}

static void set_and_signal(void)
{
    const int signals[] = {SIGTERM, SIGINT};

    signal(SIGTERM, handle);
    if (pel_stop_limit(20 * MILLISECOND, signals, 2))
        _exit(2);
    kill(getpid(), SIGTERM);
    while (handled != SIGTERM)
        ;
    wait_for_ever();
}

TEST(a_process_that_does_not_stop_is_ended)
{
    CHECK_INT(1, status_of(set_and_signal));
}

static void set_and_hang_up(void)
{
    const int signals[] = {SIGHUP}; /* of all signals the first */

    signal(SIGHUP, handle);
    if (pel_stop_limit(MILLISECOND, signals, 1))
        _exit(2);
    kill(getpid(), SIGHUP);
    alarm(10);
    wait_for_ever();
}

TEST(any_signal_may_begin_the_time)
{
    CHECK_INT(1, status_of(set_and_hang_up));
}

static void set_for_now(void)
{
    if (pel_stop_limit(MILLISECOND, NULL, 0))
        _exit(2);
    wait_for_ever();
}

TEST(the_time_may_begin_at_once)
{
    CHECK_INT(1, status_of(set_for_now));
}

static void fill_standard_error(void)
{
    int ends[2];

    if (pipe(ends) || dup(ends[0]) < 0 || dup2(ends[1], STDERR_FILENO) < 0 || fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK))
        _exit(2);
    while (write(STDERR_FILENO, "x", 1) == 1)
        ;
    if (fcntl(STDERR_FILENO, F_SETFL, 0) || pel_stop_limit(MILLISECOND, NULL, 0))
        _exit(3);
    wait_for_ever();
}

TEST(it_does_not_wait_for_whoever_reads_its_report)
{
    CHECK_INT(1, status_of(fill_standard_error));
}

static void stop_in_time(void)
{
    const int signals[] = {SIGTERM};

    signal(SIGTERM, handle);
    if (pel_stop_limit(HOUR, signals, 1) || pel_stop_limit(HOUR, signals, 1))
        _exit(2);
    kill(getpid(), SIGTERM);
    _exit(handled == SIGTERM ? 0 : 3);
}

TEST(a_process_that_stops_in_time_ends_as_it_would)
{
    CHECK_INT(0, status_of(stop_in_time));
}

/* A signal that a child gets must not end its parent. */
static void fork_a_child(void)
{
    const int signals[] = {SIGTERM};
    int status;
    pid_t pid;

    signal(SIGTERM, handle);
    if (pel_stop_limit(MILLISECOND, signals, 1))
        _exit(2);
    pid = fork();
    if (!pid) {
        kill(getpid(), SIGTERM);
        while (handled != SIGTERM)
            ;
        usleep(20000);
        _exit(4);
    }
    waitpid(pid, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
}

TEST(a_child_has_no_limit)
{
    CHECK_INT(4, status_of(fork_a_child));
}
