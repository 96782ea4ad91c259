#include "core/loop/watchdog.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/link.h"
#include "core/loop/loop.h"

#define MILLISECOND (1000 * 1000)
#define MINUTE (INT64_C(60) * 1000 * MILLISECOND)

int pel__watchdog_needs_wake;

static pthread_mutex_t watchdog_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watchdog_changed;
static struct pel_watch *watches;
static pel_stack_sampler *sampler;
static int64_t threshold = PEL_WATCHDOG_THRESHOLD;
static int report_fd = STDERR_FILENO;
static int thread_started, thread_asleep;
static unsigned fork_generation = 1;

/* Where each page computes for longer than the threshold, the log would have nothing else. */
static struct {
    int64_t since; /* the minute's beginning, 0: none was reported since the settings were changed */
    unsigned reported, unreported;
} reports;

/* ---- checking ------------------------------------------------------------------------------------------------- */

enum pel_watch_state pel__watchdog_check(struct pel_watch *watch, int64_t now, int64_t elapsed, int64_t limit)
{
    uint64_t progress = __atomic_load_n(&watch->progress, __ATOMIC_RELAXED);

    watch->checked_at = now;
    if (progress != watch->last_progress) {
        watch->last_progress = progress;
        watch->progressed_at = now - elapsed;
        watch->blocked_for = 0;
        return PEL_WATCH_PROGRESSING;
    }
    if (__atomic_load_n(&watch->idle, __ATOMIC_RELAXED)) {
        watch->blocked_for = 0;
        return PEL_WATCH_IDLE;
    }
    watch->blocked_for += elapsed;
    return watch->blocked_for >= limit && !__atomic_load_n(&watch->reported, __ATOMIC_RELAXED) ? PEL_WATCH_STALLED
                                                                                               : PEL_WATCH_BLOCKED;
}

static int still_blocked(struct pel_watch *watch)
{
    return __atomic_load_n(&watch->progress, __ATOMIC_SEQ_CST) == watch->last_progress &&
           !__atomic_load_n(&watch->idle, __ATOMIC_SEQ_CST);
}

/* Returns NULL when the loop has made progress before the sample was taken. Progress after it does not count, since the
 * signal itself may have ended the blocking call. */
static struct pel_stall *sample_stall(struct pel_watch *watch)
{
    static const char unknown[] = "an unknown place: SIGURG has another handler, or the thread does not respond\n";
    const struct pel_stack_sample *sample = pel_stack_sample_take(watch->thread, sampler, &watch->progress);
    size_t length = sample ? sample->length : sizeof unknown - 1;
    struct pel_stall *stall;

    if (sample ? sample->counter != watch->last_progress : !still_blocked(watch))
        return NULL;
    stall = pel_malloc(sizeof *stall + length + 1);
    if (!stall)
        return NULL;
    stall->nanoseconds = watch->blocked_for;
    memcpy(stall->stack, sample ? sample->text : unknown, length);
    stall->stack[length] = '\0';
    return stall;
}

/* The loop may make progress at any moment. If it sees the `reported` flag, it takes watchdog_lock before it reads the
 * stall. */
static int record_stall(struct pel_watch *watch)
{
    __atomic_store_n(&watch->reported, 1, __ATOMIC_SEQ_CST);
    watch->stall = still_blocked(watch) ? sample_stall(watch) : NULL;
    if (!watch->stall)
        __atomic_store_n(&watch->reported, 0, __ATOMIC_SEQ_CST);
    return watch->stall != NULL;
}

/* Whether the stall may be reported; returns how many were not in the minute before. */
static int count_report(int64_t now, unsigned *unreported)
{
    *unreported = 0;
    if (!reports.since || now - reports.since >= MINUTE) {
        *unreported = reports.unreported;
        reports.since = now;
        reports.reported = reports.unreported = 0;
    }
    if (reports.reported == PEL_WATCHDOG_REPORTS) {
        reports.unreported++;
        return 0;
    }
    reports.reported++;
    return 1;
}

static void write_report(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(fd, text, length);
        if (written < 0)
            return; /* EINTR is impossible: all signals are blocked here */
        text += written;
        length -= (size_t)written;
    }
}

/* Writes without watchdog_lock: the descriptor may be a pipe without a reader. */
static void report_stall(const struct pel_stall *stall, unsigned unreported)
{
    static char text[PEL_STACK_SAMPLE_SIZE * 2];
    const char *line = stall->stack;
    int fd = report_fd;
    size_t length = 0;

    if (unreported)
        length += (size_t)snprintf(text, 100, "pelton: %u more stalls were not reported\n", unreported);
    length += (size_t)snprintf(text + length, 100, "pelton: the loop has been blocked for %.3g s in\n",
                               (double)stall->nanoseconds / 1e9);

    while (*line && length < sizeof text - 8) {
        size_t size = strcspn(line, "\n");
        size_t space = sizeof text - length - 6, shown = size < space ? size : space;
        memcpy(text + length, "    ", 4);
        memcpy(text + length + 4, line, shown);
        text[length + 4 + shown] = '\n';
        length += shown + 5;
        line += size + (line[size] == '\n');
    }
    if (fd < 0)
        return;
    pthread_mutex_unlock(&watchdog_lock);
    write_report(fd, text, length);
    pthread_mutex_lock(&watchdog_lock);
}

/* Returns whether any loop is busy. Reporting releases watchdog_lock, so a round reports one stall at most. */
static int check_loops(int64_t now, int64_t elapsed)
{
    struct pel_watch *watch, *stalled = NULL;
    int busy = 0;

    for (watch = watches; watch; watch = watch->next) {
        enum pel_watch_state state = pel__watchdog_check(watch, now, elapsed, threshold);
        if (state == PEL_WATCH_STALLED)
            stalled = watch;
        if (state != PEL_WATCH_IDLE)
            busy = 1;
    }
    if (stalled && record_stall(stalled)) {
        unsigned unreported;
        stalled->stall->unreported = !count_report(now, &unreported);
        if (!stalled->stall->unreported)
            report_stall(stalled->stall, unreported);
    }
    return busy;
}

/* ---- the thread ----------------------------------------------------------------------------------------------- */

static void sleep_until_signalled(void)
{
    thread_asleep = 1;
    pthread_cond_wait(&watchdog_changed, &watchdog_lock);
    thread_asleep = 0;
}

static void sleep_until_a_loop_wakes(void)
{
    struct pel_watch *watch;

    /* A loop clears its idle flag and then reads needs_wake; we set needs_wake and then read the idle flags once more.
     * So at least one side sees the other's store. */
    __atomic_store_n(&pel__watchdog_needs_wake, 1, __ATOMIC_SEQ_CST);
    for (watch = watches; watch; watch = watch->next)
        if (!__atomic_load_n(&watch->idle, __ATOMIC_SEQ_CST))
            __atomic_store_n(&pel__watchdog_needs_wake, 0, __ATOMIC_RELAXED);
    while (__atomic_load_n(&pel__watchdog_needs_wake, __ATOMIC_RELAXED))
        sleep_until_signalled();
}

void pel__watchdog_wake(void)
{
    pthread_mutex_lock(&watchdog_lock);
    __atomic_store_n(&pel__watchdog_needs_wake, 0, __ATOMIC_RELAXED);
    pthread_cond_signal(&watchdog_changed);
    pthread_mutex_unlock(&watchdog_lock);
}

static void sleep_until(int64_t time)
{
#ifndef HAVE_PTHREAD_CONDATTR_SETCLOCK
    struct timespec now;

    /* The condition goes by the clock that may be set: then a wait is too long or too short once. */
    clock_gettime(CLOCK_REALTIME, &now);
    time += (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - pel_now();
#endif
    struct timespec until = {.tv_sec = (time_t)(time / 1000000000), .tv_nsec = (long)(time % 1000000000)};

    pthread_cond_timedwait(&watchdog_changed, &watchdog_lock, &until);
}

static void *watchdog_thread(void *unused)
{
    int64_t last = pel_now();

#ifdef __linux__
    pthread_setname_np(pthread_self(), "pelton-watchdog");
#endif
    pthread_mutex_lock(&watchdog_lock);
    for (;;) {
        int64_t interval = threshold / 2 > MILLISECOND ? threshold / 2 : MILLISECOND, now = pel_now();
        if (!threshold || !watches) {
            sleep_until_signalled();
            last = pel_now() - interval;
        } else if (now < last + interval) {
            sleep_until(last + interval);
        } else {
            /* Time during which the process was stopped, or the machine was overloaded, is not charged to the loop. */
            int64_t elapsed = now - last < 2 * interval ? now - last : interval;
            last = now;
            if (check_loops(now, elapsed))
                continue;
            sleep_until_a_loop_wakes();
            last = pel_now() - interval; /* check at once */
        }
    }
    return NULL;
}

static void reset_watchdog_in_child(void)
{
    static const pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

    /* The thread that held the lock, or that was to be sampled, exists only in the parent. */
    watchdog_lock = open_lock;
    pel_stack_sample_reset();
    pel__watchdog_needs_wake = thread_started = thread_asleep = 0;
    watches = NULL;
    fork_generation++;
}

static int start_watchdog_thread(void)
{
    static int prepared;
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_condattr_t monotonic;
    pthread_t thread;
    int code;

    if (!prepared) {
        pel_stack_sample_prepare();
        pthread_atfork(NULL, NULL, reset_watchdog_in_child);
        prepared = 1;
    }
    pthread_condattr_init(&monotonic);
#ifdef HAVE_PTHREAD_CONDATTR_SETCLOCK
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(&watchdog_changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, &attributes, watchdog_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    thread_started = code == 0;
    return thread_started ? 0 : PEL_ESYSTEM;
}

/* ---- for the loops -------------------------------------------------------------------------------------------- */

void pel_watchdog_set(int64_t new_threshold, int fd)
{
    pthread_mutex_lock(&watchdog_lock);
    threshold = new_threshold;
    report_fd = fd;
    reports.since = 0;
    reports.unreported = 0;
    __atomic_store_n(&pel__watchdog_needs_wake, 0, __ATOMIC_RELAXED);
    if (thread_started)
        pthread_cond_signal(&watchdog_changed);
    pthread_mutex_unlock(&watchdog_lock);
}

int pel_watchdog_watch(struct pel_watch *watch, pel_stack_sampler *new_sampler)
{
    int code = 0;

    pthread_mutex_lock(&watchdog_lock);
    if (thread_started || (code = start_watchdog_thread()) == 0) {
        sampler = new_sampler;
        watch->thread = pthread_self();
        watch->fork_generation = fork_generation;
        watch->last_progress = watch->progress - 1;
        watch->idle = watch->reported = 0;
        watch->next = watches;
        watches = watch;
        __atomic_store_n(&pel__watchdog_needs_wake, 0, __ATOMIC_RELAXED);
        pthread_cond_signal(&watchdog_changed);
    }
    pthread_mutex_unlock(&watchdog_lock);
    return code;
}

void pel_watchdog_unwatch(struct pel_watch *watch)
{
    if (!watch->fork_generation)
        return;
    pthread_mutex_lock(&watchdog_lock);
    PEL_CHAIN_REMOVE(watches, watch, next);
    pthread_mutex_unlock(&watchdog_lock);
    watch->fork_generation = 0;
    watch->reported = 0;
    pel_free(watch->stall);
    watch->stall = NULL;
}

struct pel_stall *pel_watchdog_end_stall(struct pel_watch *watch, int64_t since)
{
    struct pel_stall *stall;
    int64_t now = pel_now(), lasted, observed;

    pthread_mutex_lock(&watchdog_lock);
    lasted = now - (since > watch->progressed_at ? since : watch->progressed_at);
    observed = watch->blocked_for + now - watch->checked_at;
    if (lasted < observed) /* the loop has polled for events without completing an iteration */
        lasted = observed;
    stall = watch->stall;
    watch->stall = NULL;
    __atomic_store_n(&watch->reported, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&watchdog_lock);
    if (stall && watch->fork_generation != fork_generation) { /* the parent's */
        pel_free(stall);
        return NULL;
    }
    if (stall && stall->nanoseconds < lasted)
        stall->nanoseconds = lasted;
    return stall;
}

int pel_watchdog_asleep_p(void)
{
    int asleep;

    pthread_mutex_lock(&watchdog_lock);
    asleep = thread_asleep;
    pthread_mutex_unlock(&watchdog_lock);
    return asleep;
}

size_t pel_watchdog_count(void)
{
    size_t count = 0;

    pthread_mutex_lock(&watchdog_lock);
    for (struct pel_watch *watch = watches; watch; watch = watch->next)
        count++;
    pthread_mutex_unlock(&watchdog_lock);
    return count;
}
