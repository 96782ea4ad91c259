/*
 * What every backend must do. Included by test_backend_NAME.c, which defines BACKEND.
 */
#include "loop.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#define SECOND INT64_C(1000000000)

struct probe {
    struct pel_handle handle; /* first */
    int told;                 /* times */
    unsigned events;          /* of the last time */
};

static struct pel_loop loop;
static int pair[2], other[2];
static struct probe probe, second;

static void tell(struct pel_handle *handle, unsigned events)
{
    struct probe *told = (struct probe *)handle;
    told->told++;
    told->events = events;
}

static void prepare(struct probe *prepared, int fd)
{
    *prepared = (struct probe){.handle = {.fd = fd, .slot = PEL_UNREGISTERED, .on_event = tell}};
}

static void open_pair(int fds[2])
{
    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
}

static void start(void)
{
    CHECK_INT(0, pel_loop_open(&loop, BACKEND));
    CHECK_STRING(BACKEND, loop.backend->name);
    open_pair(pair);
    open_pair(other);
    prepare(&probe, pair[0]);
    prepare(&second, other[0]);
}

static void stop(void)
{
    pel_loop_close(&loop);
    close(pair[0]);
    close(pair[1]);
    close(other[0]);
    close(other[1]);
}

static void arm(struct probe *armed, unsigned events, enum pel_trigger trigger)
{
    CHECK_INT(0, pel_loop_arm(&loop, &armed->handle, events, trigger));
}

/* Looks once, and dispatches what came. Returns how many events there were. */
static int turn(int64_t timeout)
{
    int count = 0;
    CHECK_INT(0, pel_loop_wait(&loop, timeout));
    while (pel_loop_dispatch(&loop))
        count++;
    return count;
}

static void put(int fd, const char *bytes)
{
    CHECK_INT(strlen(bytes), write(fd, bytes, strlen(bytes)));
}

static void drain(int fd)
{
    char bytes[4096];
    while (read(fd, bytes, sizeof bytes) > 0)
        ;
}

TEST(nothing_is_told_when_nothing_happens)
{
    start();
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_EDGE);
    CHECK_INT(0, turn(0));
    CHECK_INT(0, turn(1000));
    CHECK_INT(2, loop.registered);
    stop();
}

TEST(one_shot_tells_once_until_it_is_armed_again)
{
    start();
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    CHECK_INT(1, turn(SECOND));
    CHECK_INT(PEL_READABLE, probe.events);
    CHECK_INT(0, turn(0));
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    CHECK_INT(1, turn(SECOND)); /* the byte is still there */
    CHECK_INT(2, probe.told);
    stop();
}

TEST(one_shot_tells_both_directions_at_once)
{
    start();
    put(pair[1], "x");
    arm(&probe, PEL_READABLE | PEL_WRITABLE, PEL_ONESHOT);
    CHECK_INT(1, turn(SECOND));
    CHECK_INT(PEL_READABLE | PEL_WRITABLE, probe.events);
    CHECK_INT(0, turn(0));
    stop();
}

TEST(an_edge_tells_each_change_after_it_was_drained)
{
    start();
    arm(&probe, PEL_READABLE, PEL_EDGE);
    for (int round = 1; round <= 3; round++) {
        put(pair[1], "x");
        CHECK_INT(1, turn(SECOND));
        CHECK_INT(round, probe.told);
        CHECK_INT(0, turn(0)); /* the same change, not drained */
        drain(pair[0]);
        CHECK_INT(0, pel_loop_rearm(&loop, &probe.handle, PEL_READABLE));
        CHECK_INT(0, turn(0));
    }
    stop();
}

TEST(an_edge_tells_writable_at_first_and_after_it_was_full)
{
    char bytes[4096] = {0};

    start();
    arm(&probe, PEL_READABLE | PEL_WRITABLE, PEL_EDGE);
    CHECK_INT(1, turn(SECOND));
    CHECK_INT(PEL_WRITABLE, probe.events);
    CHECK_INT(0, turn(0));
    while (write(pair[0], bytes, sizeof bytes) > 0)
        ;
    CHECK_INT(EAGAIN, errno);
    pel_loop_rearm(&loop, &probe.handle, PEL_WRITABLE);
    CHECK_INT(0, turn(0));
    drain(pair[1]);
    CHECK_INT(1, turn(SECOND));
    CHECK(probe.events & PEL_WRITABLE);
    stop();
}

TEST(the_end_of_a_stream_is_readable_and_a_hangup)
{
    start();
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_EDGE);
    shutdown(pair[1], SHUT_WR);
    shutdown(other[1], SHUT_RDWR);
    CHECK_INT(2, turn(SECOND));
    CHECK_INT(PEL_READABLE | PEL_HANGUP, probe.events);
    CHECK((second.events & (PEL_READABLE | PEL_HANGUP)) == (PEL_READABLE | PEL_HANGUP));
    CHECK_INT(0, turn(0));
    stop();
}

TEST(a_failed_connection_wakes_a_writer)
{
    start();
    arm(&probe, PEL_WRITABLE, PEL_ONESHOT);
    close(pair[1]);
    CHECK_INT(1, turn(SECOND));
    CHECK(probe.events & PEL_WRITABLE);
    CHECK(probe.events & PEL_HANGUP);
    pair[1] = open("/dev/null", O_RDWR);
    stop();
}

TEST(a_disarmed_handle_is_not_told_what_had_come_for_it)
{
    start();
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_EDGE);
    put(pair[1], "x");
    put(other[1], "x");
    CHECK_INT(0, pel_loop_wait(&loop, SECOND));
    pel_loop_disarm(&loop, &probe.handle);
    pel_loop_disarm(&loop, &second.handle);
    CHECK_INT(0, pel_loop_dispatch(&loop));
    CHECK_INT(0, probe.told + second.told);
    CHECK_INT(0, loop.registered);
    CHECK_INT(0, turn(0));
    pel_loop_disarm(&loop, &probe.handle); /* legal */
    stop();
}

/* What the first of two handles does when it is told: the second's descriptor is closed, and its number used again. */
static struct probe third;

static void replace(struct pel_handle *handle, unsigned events)
{
    struct probe *victim = handle == &probe.handle ? &second : &probe;
    int number = victim->handle.fd, fresh[2];

    tell(handle, events);
    if (third.handle.fd)
        return;
    pel_loop_disarm(&loop, &victim->handle);
    close(number);
    open_pair(fresh);
    CHECK_INT(number, fresh[0]);
    close(fresh[1]);
    prepare(&third, number);
    arm(&third, PEL_PRIORITY, PEL_EDGE); /* takes the slot that has become free, too */
}

TEST(an_event_does_not_reach_another_descriptor_of_the_same_number)
{
    start();
    memset(&third, 0, sizeof third);
    probe.handle.on_event = second.handle.on_event = replace;
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    put(other[1], "x");
    CHECK_INT(1, turn(SECOND));
    CHECK_INT(1, probe.told + second.told);
    CHECK_INT(0, third.told);
    stop();
}

TEST(an_event_of_an_earlier_shot_does_not_count_for_the_next_one)
{
    start();
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    CHECK_INT(0, pel_loop_wait(&loop, SECOND));
    drain(pair[0]);
    arm(&probe, PEL_READABLE, PEL_ONESHOT); /* somebody else waits for that number now */
    CHECK_INT(0, pel_loop_dispatch(&loop));
    CHECK_INT(0, turn(0));
    put(pair[1], "y");
    CHECK_INT(1, turn(SECOND)); /* but what comes afterwards is told */
    stop();
}

TEST(a_descriptor_that_somebody_else_replaced_is_armed_anew)
{
    start();
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    CHECK_INT(pair[0], dup2(other[0], pair[0])); /* closes the one that is registered */
    put(other[1], "x");
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    CHECK_INT(1, turn(SECOND));
    CHECK_INT(1, probe.told);
    stop();
}

TEST(a_closed_descriptor_is_refused)
{
    start();
    close(pair[0]);
    CHECK_INT(PEL_ESYSTEM, pel_loop_arm(&loop, &probe.handle, PEL_READABLE, PEL_ONESHOT));
    CHECK_INT(EBADF, errno);
    CHECK_INT(PEL_UNREGISTERED, probe.handle.slot);
    CHECK_INT(0, loop.registered);
    CHECK_INT(0, turn(0));
    pair[0] = open("/dev/null", O_RDWR);
    stop();
}

TEST(a_plain_file_is_ready_or_refused_with_EPERM)
{
    char path[] = "/tmp/backend_suite_XXXXXX";
    int fd = mkstemp(path), code;

    unlink(path);
    start();
    prepare(&probe, fd);
    code = pel_loop_arm(&loop, &probe.handle, PEL_READABLE, PEL_ONESHOT);
    if (code < 0)
        CHECK_INT(EPERM, errno);
    else
        CHECK_INT(1, turn(SECOND));
    close(fd);
    stop();
}

TEST(more_descriptors_than_fit_one_wait_are_all_told)
{
    enum { COUNT = 700 };
    static struct probe many[COUNT];
    struct rlimit limit;
    int fds[2], told = 0;

    CHECK_INT(0, getrlimit(RLIMIT_NOFILE, &limit));
    if (limit.rlim_cur < COUNT + 100) {
        limit.rlim_cur = COUNT + 100;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            SKIP("too few descriptors may be open");
    }
    start();
    open_pair(fds);
    put(fds[1], "x");
    for (int i = 0; i < COUNT; i++) {
        prepare(&many[i], dup(fds[0]));
        arm(&many[i], PEL_READABLE, PEL_ONESHOT);
    }
    CHECK_INT(COUNT, loop.registered);
    for (int turns = 0; turns < 10; turns++)
        told += turn(0);
    CHECK_INT(COUNT, told);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(1, many[i].told);
        pel_loop_disarm(&loop, &many[i].handle);
        close(many[i].handle.fd);
    }
    close(fds[0]);
    close(fds[1]);
    stop();
}

TEST(it_works_when_hardly_any_descriptor_may_be_open)
{
    struct rlimit limit, few;

    start();
    CHECK_INT(0, getrlimit(RLIMIT_NOFILE, &limit));
    few = limit;
    few.rlim_cur = 20; /* fewer than the loop's table has slots */
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &few));
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    CHECK_INT(1, turn(SECOND));
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
    stop();
}

static void on_alarm(int signal)
{
    (void)signal;
}

TEST(a_signal_ends_a_wait_without_an_event)
{
    struct sigaction action = {.sa_handler = on_alarm}, before;
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    sigset_t set;

    start();
    sigaction(SIGALRM, &action, &before);
    sigemptyset(&set);
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK_INT(0, turn(PEL_FOREVER)); /* the harness's own alarm would end it, too, but as a failure */
    sigaction(SIGALRM, &before, NULL);
    alarm(CHECK_SECONDS);
    stop();
}

static void *wake_soon(void *argument)
{
    while (!__atomic_load_n(&loop.waiting, __ATOMIC_SEQ_CST))
        usleep(100);
    for (int i = 0; i < 100; i++)
        pel_loop_wake(&loop); /* a burst writes once */
    return argument;
}

TEST(a_wake_up_from_another_thread_ends_each_wait)
{
    start();
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        uint64_t left;
        CHECK_INT(0, pthread_create(&thread, NULL, wake_soon, NULL));
        __atomic_store_n(&loop.waiting, 1, __ATOMIC_SEQ_CST);
        CHECK_INT(1, turn(PEL_FOREVER));
        CHECK_INT(0, pthread_join(thread, NULL));
        CHECK_INT(0, loop.waiting);
        CHECK_INT(-1, read(loop.wake_handle.fd, &left, sizeof left));
    }
    CHECK_INT(0, turn(0));
    stop();
}

TEST(a_wake_up_writes_nothing_while_nobody_waits)
{
    start();
    pel_loop_wake(&loop);
    CHECK_INT(0, turn(0));
    stop();
}

TEST(a_child_forgets_its_parents_handles_without_touching_them)
{
    int status;
    pid_t child;

    start();
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
    CHECK_INT(2, turn(SECOND));
    CHECK_INT(2, probe.told + second.told);
    stop();
}

TEST(closing_forgets_all_handles_and_keeps_their_descriptors)
{
    start();
    arm(&probe, PEL_READABLE, PEL_EDGE);
    pel_loop_close(&loop);
    pel_loop_close(&loop); /* legal */
    CHECK_INT(PEL_UNREGISTERED, probe.handle.slot);
    put(pair[1], "x");
    stop();
}
