#include "watchdog.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "alloc.h"
#include "error.h"
#include "loop.h"

#define MILLISECOND (1000 * 1000)

int pel__watchdog_asleep;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct pel_watch *watches;
static pel_whereabouts *whereabouts;
static int64_t threshold = PEL_WATCHDOG_THRESHOLD;
static int report_fd = STDERR_FILENO;
static int started, resting;
static unsigned generation = 1;

/* ---- looking -------------------------------------------------------------------------------------------------- */

enum pel_sight pel__watchdog_look(struct pel_watch *watch, int64_t now, int64_t elapsed, int64_t limit)
{
    uint64_t progress = __atomic_load_n(&watch->progress, __ATOMIC_RELAXED);

    watch->looked_at = now;
    if (progress != watch->seen) {
        watch->seen = progress;
        watch->moved_at = now - elapsed;
        watch->standing = 0;
        return PEL_MOVES;
    }
    if (__atomic_load_n(&watch->resting, __ATOMIC_RELAXED)) {
        watch->standing = 0;
        return PEL_RESTS;
    }
    watch->standing += elapsed;
    return watch->standing >= limit && !__atomic_load_n(&watch->told, __ATOMIC_RELAXED) ? PEL_STALLS : PEL_STANDS;
}

static int still_stands(struct pel_watch *watch)
{
    return __atomic_load_n(&watch->progress, __ATOMIC_SEQ_CST) == watch->seen &&
           !__atomic_load_n(&watch->resting, __ATOMIC_SEQ_CST);
}

/* NULL when the loop has gone on before it answered. (After it is another matter: the signal may have ended the call
 * that it stood in.) */
static struct pel_stall *question(struct pel_watch *watch)
{
    static const char unknown[] =
        "a place that is not known: SIGURG has another handler, or the thread does not answer\n";
    const struct pel_answer *answer = pel_whereabouts_ask(watch->thread, whereabouts, &watch->progress);
    size_t length = answer ? answer->length : sizeof unknown - 1;
    struct pel_stall *stall;

    if (answer ? answer->count != watch->seen : !still_stands(watch))
        return NULL;
    stall = pel_malloc(sizeof *stall + length + 1);
    if (!stall)
        return NULL;
    stall->nanoseconds = watch->standing;
    memcpy(stall->place, answer ? answer->text : unknown, length);
    stall->place[length] = '\0';
    return stall;
}

/* The loop may go on at any moment. If it sees that it was told, it waits for our lock before it asks what. */
static int tell(struct pel_watch *watch)
{
    __atomic_store_n(&watch->told, 1, __ATOMIC_SEQ_CST);
    watch->stall = still_stands(watch) ? question(watch) : NULL;
    if (!watch->stall)
        __atomic_store_n(&watch->told, 0, __ATOMIC_SEQ_CST);
    return watch->stall != NULL;
}

static void write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(fd, text, length);
        if (written < 0)
            return; /* all signals are blocked here: no EINTR */
        text += written;
        length -= (size_t)written;
    }
}

/* Without the lock: the descriptor may be a pipe that nobody reads. */
static void report(const struct pel_stall *stall)
{
    static char text[PEL_WHEREABOUTS_SIZE * 2];
    const char *line = stall->place;
    int fd = report_fd;
    size_t length = (size_t)snprintf(text, 100, "pelton: the loop has been blocked for %.3g s in\n",
                                     (double)stall->nanoseconds / 1e9);

    while (*line && length < sizeof text - 8) {
        size_t size = strcspn(line, "\n");
        size_t room = sizeof text - length - 6, shown = size < room ? size : room;
        memcpy(text + length, "    ", 4);
        memcpy(text + length + 4, line, shown);
        text[length + 4 + shown] = '\n';
        length += shown + 5;
        line += size + (line[size] == '\n');
    }
    if (fd < 0)
        return;
    pthread_mutex_unlock(&lock);
    write_all(fd, text, length);
    pthread_mutex_lock(&lock);
}

/* Returns whether a loop works. Reporting gives the lock away, so it ends the round. */
static int look_around(int64_t now, int64_t elapsed)
{
    struct pel_watch *watch, *stalled = NULL;
    int busy = 0;

    for (watch = watches; watch; watch = watch->next) {
        enum pel_sight sight = pel__watchdog_look(watch, now, elapsed, threshold);
        if (sight == PEL_STALLS)
            stalled = watch;
        if (sight != PEL_RESTS)
            busy = 1;
    }
    if (stalled && tell(stalled))
        report(stalled->stall);
    return busy;
}

/* ---- the thread ----------------------------------------------------------------------------------------------- */

static void sleep_until_told(void)
{
    resting = 1;
    pthread_cond_wait(&changed, &lock);
    resting = 0;
}

static void sleep_until_a_loop_wakes(void)
{
    struct pel_watch *watch;

    /* A loop first says that it works and then looks whether we sleep; we say that we sleep and then look once more. */
    __atomic_store_n(&pel__watchdog_asleep, 1, __ATOMIC_SEQ_CST);
    for (watch = watches; watch; watch = watch->next)
        if (!__atomic_load_n(&watch->resting, __ATOMIC_SEQ_CST))
            __atomic_store_n(&pel__watchdog_asleep, 0, __ATOMIC_RELAXED);
    while (__atomic_load_n(&pel__watchdog_asleep, __ATOMIC_RELAXED))
        sleep_until_told();
}

void pel__watchdog_wake(void)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&pel__watchdog_asleep, 0, __ATOMIC_RELAXED);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_until(int64_t time)
{
    struct timespec until = {.tv_sec = (time_t)(time / 1000000000), .tv_nsec = (long)(time % 1000000000)};

    pthread_cond_timedwait(&changed, &lock, &until);
}

static void *watch_loops(void *unused)
{
    int64_t last = pel_now();

#ifdef __linux__
    pthread_setname_np(pthread_self(), "pelton-watchdog");
#endif
    pthread_mutex_lock(&lock);
    for (;;) {
        int64_t interval = threshold / 2 > MILLISECOND ? threshold / 2 : MILLISECOND, now = pel_now();
        if (!threshold || !watches) {
            sleep_until_told();
            last = pel_now() - interval;
        } else if (now < last + interval) {
            wait_until(last + interval);
        } else {
            /* When the process was stopped meanwhile, or the machine is overloaded, that time is not the loop's. */
            int64_t elapsed = now - last < 2 * interval ? now - last : interval;
            last = now;
            if (look_around(now, elapsed))
                continue;
            sleep_until_a_loop_wakes();
            last = pel_now() - interval; /* look at once */
        }
    }
    return NULL;
}

static void after_fork_in_child(void)
{
    static const pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

    /* Whoever held the lock, or was asked, exists in the parent alone. */
    lock = open_lock;
    pel_whereabouts_forget();
    pel__watchdog_asleep = started = resting = 0;
    watches = NULL;
    generation++;
}

static int start(void)
{
    static int prepared;
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_condattr_t monotonic;
    pthread_t thread;
    int code;

    if (!prepared) {
        pel_whereabouts_prepare();
        pthread_atfork(NULL, NULL, after_fork_in_child);
        prepared = 1;
    }
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, &attributes, watch_loops, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    started = code == 0;
    return started ? 0 : PEL_ESYSTEM;
}

/* ---- for the loops -------------------------------------------------------------------------------------------- */

void pel_watchdog_set(int64_t new_threshold, int fd)
{
    pthread_mutex_lock(&lock);
    threshold = new_threshold;
    report_fd = fd;
    __atomic_store_n(&pel__watchdog_asleep, 0, __ATOMIC_RELAXED);
    if (started)
        pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

int pel_watchdog_watch(struct pel_watch *watch, pel_whereabouts *tell_place)
{
    int code = 0;

    pthread_mutex_lock(&lock);
    if (started || (code = start()) == 0) {
        whereabouts = tell_place;
        watch->thread = pthread_self();
        watch->generation = generation;
        watch->seen = watch->progress - 1;
        watch->resting = watch->told = 0;
        watch->next = watches;
        watches = watch;
        __atomic_store_n(&pel__watchdog_asleep, 0, __ATOMIC_RELAXED);
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

void pel_watchdog_forget(struct pel_watch *watch)
{
    struct pel_watch **link = &watches;

    if (!watch->generation)
        return;
    pthread_mutex_lock(&lock);
    while (*link && *link != watch)
        link = &(*link)->next;
    if (*link)
        *link = watch->next;
    pthread_mutex_unlock(&lock);
    watch->generation = 0;
    watch->told = 0;
    pel_free(watch->stall);
    watch->stall = NULL;
}

struct pel_stall *pel_watchdog_end(struct pel_watch *watch, int64_t since)
{
    struct pel_stall *stall;
    int64_t now = pel_now(), lasted, seen;

    pthread_mutex_lock(&lock);
    lasted = now - (since > watch->moved_at ? since : watch->moved_at);
    seen = watch->standing + now - watch->looked_at;
    if (lasted < seen) /* the loop looked for events without turning */
        lasted = seen;
    stall = watch->stall;
    watch->stall = NULL;
    __atomic_store_n(&watch->told, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    if (stall && watch->generation != generation) { /* the parent's */
        pel_free(stall);
        return NULL;
    }
    if (stall && stall->nanoseconds < lasted)
        stall->nanoseconds = lasted;
    return stall;
}

int pel_watchdog_resting(void)
{
    int answer;

    pthread_mutex_lock(&lock);
    answer = resting;
    pthread_mutex_unlock(&lock);
    return answer;
}

size_t pel_watchdog_count(void)
{
    size_t count = 0;

    pthread_mutex_lock(&lock);
    for (struct pel_watch *watch = watches; watch; watch = watch->next)
        count++;
    pthread_mutex_unlock(&lock);
    return count;
}
