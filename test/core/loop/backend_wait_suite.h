/*
 * How every backend waits: many descriptors and few, signals, wake-ups, forks. Included by test_backend_NAME.c, which
 * defines BACKEND.
 */
#include "loop/backend_fixture.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

TEST(more_descriptors_than_one_wait_reports_are_all_reported)
{
    enum { COUNT = 700 };
    static struct probe many[COUNT];
    struct rlimit limit;
    int fds[2], count = 0;

    CHECK_INT(0, getrlimit(RLIMIT_NOFILE, &limit));
    if (limit.rlim_cur < COUNT + 100) {
        limit.rlim_cur = COUNT + 100;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            SKIP("the limit of open descriptors is too low");
    }
    open_loop();
    open_pair(fds);
    put(fds[1], "x");
    for (int i = 0; i < COUNT; i++) {
        prepare(&many[i], dup(fds[0]));
        arm(&many[i], PEL_READABLE, PEL_ONESHOT);
    }
    CHECK_INT(COUNT, loop.registered);
    for (int waits = 0; waits < 10; waits++)
        count += poll_once(0);
    CHECK_INT(COUNT, count);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(1, many[i].count);
        pel_loop_disarm(&loop, &many[i].handle);
        close(many[i].handle.fd);
    }
    close(fds[0]);
    close(fds[1]);
    close_loop();
}

LOOP_TEST(a_backend_works_with_a_low_limit_of_open_descriptors)
{
    struct rlimit limit, few;

    CHECK_INT(0, getrlimit(RLIMIT_NOFILE, &limit));
    few = limit;
    few.rlim_cur = 20; /* fewer than the loop's table has slots */
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &few));
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    CHECK_INT(1, poll_once(SECOND));
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
}

static void on_alarm(int signal)
{
    (void)signal;
}

LOOP_TEST(a_signal_ends_a_wait_without_an_event)
{
    struct sigaction action = {.sa_handler = on_alarm}, before;
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    sigset_t set;

    sigaction(SIGALRM, &action, &before);
    sigemptyset(&set);
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK_INT(0, poll_once(PEL_FOREVER)); /* the harness's own alarm would end the wait, too, but as a failure */
    sigaction(SIGALRM, &before, NULL);
    alarm(CHECK_SECONDS);
}

static void *wake_soon(void *argument)
{
    while (!__atomic_load_n(&loop.waiting, __ATOMIC_SEQ_CST))
        usleep(100);
    for (int i = 0; i < 100; i++)
        pel_loop_wake(&loop); /* a burst writes once */
    return argument;
}

LOOP_TEST(a_wake_up_from_another_thread_ends_each_wait)
{
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        uint64_t left;
        CHECK_INT(0, pthread_create(&thread, NULL, wake_soon, NULL));
        __atomic_store_n(&loop.waiting, 1, __ATOMIC_SEQ_CST);
        CHECK_INT(1, poll_once(PEL_FOREVER));
        CHECK_INT(0, pthread_join(thread, NULL));
        CHECK_INT(0, loop.waiting);
        CHECK_INT(-1, read(loop.wake_handle.fd, &left, sizeof left));
    }
    CHECK_INT(0, poll_once(0));
}

LOOP_TEST(a_wake_up_writes_nothing_while_the_loop_does_not_wait)
{
    pel_loop_wake(&loop);
    CHECK_INT(0, poll_once(0));
}

LOOP_TEST(a_child_drops_its_parents_handles_without_touching_them)
{
    int status;
    pid_t child;

    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_EDGE);
    child = fork();
    if (child == 0) {
        int wrong = !pel_loop_inherited(&loop);
        wrong |= pel_loop_arm(&loop, &probe.handle, PEL_WRITABLE, PEL_ONESHOT) != PEL_ECLOSED;
        wrong |= pel_loop_rearm(&loop, &second.handle, PEL_READABLE) != PEL_ECLOSED;
        wrong |= pel_loop_wait(&loop, PEL_FOREVER) != PEL_ECLOSED;
        pel_loop_disarm(&loop, &probe.handle);
        close(pair[0]);
        pel_loop_close(&loop);
        wrong |= pel_loop_open(&loop, BACKEND) != 0 || pel_loop_inherited(&loop);
        _exit(wrong);
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK_INT(0, status);
    put(pair[1], "x");
    put(other[1], "x");
    CHECK_INT(2, poll_once(SECOND));
    CHECK_INT(2, probe.count + second.count);
}

LOOP_TEST(closing_a_loop_unregisters_all_handles_and_keeps_their_descriptors)
{
    arm(&probe, PEL_READABLE, PEL_EDGE);
    pel_loop_close(&loop);
    pel_loop_close(&loop); /* legal */
    CHECK_INT(PEL_UNREGISTERED, probe.handle.slot);
    put(pair[1], "x");
}
