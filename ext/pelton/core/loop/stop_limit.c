#include "core/loop/stop_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/base/alloc.h"
#include "core/base/error.h"

#define SIGNALS 65 /* the highest number of a signal is 64 */

struct limit {
    int64_t nanoseconds;
    int signalled; /* the descriptor on which the thread waits for a signal, or -1 */
};

static struct sigaction before[SIGNALS]; /* the handlers that were set */
static int signalled_by = -1;            /* the pipe's other end */
static pid_t owner;                      /* the process with the thread that waits for a signal; 0: none */

static void on_signal(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = &before[number];
    int saved = errno;

    if (getpid() == owner) {
        ssize_t written = write(signalled_by, "", 1); /* unless the pipe is full of earlier signals */
        (void)written;
    }
    errno = saved;
    if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(number, info, context);
    else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
        old->sa_handler(number);
}

static void chain(int number)
{
    struct sigaction action;

    if (number <= 0 || number >= SIGNALS || sigaction(number, NULL, &action) || action.sa_sigaction == on_signal)
        return;
    before[number] = action;
    action.sa_sigaction = on_signal;
    action.sa_flags |= SA_SIGINFO;
    sigaction(number, &action, NULL);
}

/* Nobody may read what the process writes: then nothing is said. */
static void report(double seconds)
{
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
    char text[120];
    int length =
        snprintf(text, sizeof text, "pelton: the process has not stopped within %.3g s, so it is ended\n", seconds);

    if (poll(&output, 1, 0) == 1) {
        ssize_t written = write(STDERR_FILENO, text, (size_t)length);
        (void)written;
    }
}

static void *limit_thread(void *argument)
{
    struct limit *limit = argument;
    struct timespec left = {.tv_sec = (time_t)(limit->nanoseconds / 1000000000),
                            .tv_nsec = (long)(limit->nanoseconds % 1000000000)};
    char byte;

    if (limit->signalled >= 0 && read(limit->signalled, &byte, 1) != 1)
        return NULL;
    nanosleep(&left, NULL);
    report((double)limit->nanoseconds / 1e9);
    _exit(1);
}

/* The thread takes no signals: they are for the threads of the program. */
static int start_thread(struct limit *limit)
{
    sigset_t all, mask;
    pthread_t thread;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    error = pthread_create(&thread, NULL, limit_thread, limit);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (!error)
        pthread_detach(thread);
    return error ? PEL_ESYSTEM : 0;
}

static int open_pipe(int ends[2])
{
    if (pipe(ends))
        return PEL_ESYSTEM;
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFL, O_NONBLOCK); /* a handler must not wait */
    return 0;
}

int pel_stop_limit(int64_t nanoseconds, const int *signals, size_t count)
{
    struct limit *limit;
    int ends[2] = {-1, -1}, result;

    if (count && owner == getpid())
        return 0;
    limit = pel_malloc(sizeof *limit);
    if (!limit)
        return PEL_EMEMORY;
    result = count ? open_pipe(ends) : 0;
    if (result)
        goto done;
    *limit = (struct limit){.nanoseconds = nanoseconds, .signalled = ends[0]};
    result = start_thread(limit);
    if (result)
        goto done;
    limit = NULL; /* the thread's, as long as the process lives */
    if (count) {
        signalled_by = ends[1];
        owner = getpid();
    }
    for (size_t i = 0; i < count; i++)
        chain(signals[i]);
    return 0;

done:
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    pel_free(limit);
    return result;
}
