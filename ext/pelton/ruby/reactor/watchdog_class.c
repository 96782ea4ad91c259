#include "ruby/reactor/reactor.h"

#include <fcntl.h>
#include <ruby/debug.h>
#include <unistd.h>
#include "core/base/alloc.h"
#include "core/base/decimal.h"
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

/* Pelton::Watchdog, stack samples of Ruby code for the watchdog of core/loop/watchdog.c, and its reports to Ruby. */

#define SAMPLE_FRAMES 128

/* The reactor that runs on this thread, for the signal handler. */
static __thread struct pel_reactor *watched;

/* ---- stack samples, taken in a signal handler ----------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t size, length;
};

static void add_text(struct text *text, const char *bytes, size_t length)
{
    size_t free = text->size - text->length, count = length < free ? length : free;

    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
}

static void add_string(struct text *text, VALUE string)
{
    if (RB_TYPE_P(string, T_STRING))
        add_text(text, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
}

static void add_number(struct text *text, unsigned number)
{
    char digits[PEL_DECIMAL_DIGITS], *end = digits + sizeof digits, *first = pel_decimal_before(end, number);

    add_text(text, first, (size_t)(end - first));
}

/* Adds a line as in Ruby's own backtraces, where a method in C has the file and line of its caller. Calls only
 * functions that return existing objects, and allocates nothing, because this runs in a signal handler. */
static void add_frame(struct text *text, const VALUE *frames, const int *lines, int index, int count)
{
    VALUE label = rb_profile_frame_label(frames[index]), path = Qnil;
    size_t begin = text->length;
    int caller;

    if (NIL_P(label))
        label = rb_profile_frame_method_name(frames[index]);
    for (caller = index; caller < count; caller++)
        if (!NIL_P(path = rb_profile_frame_path(frames[caller])))
            break;
    if (NIL_P(path) || NIL_P(label))
        return;
    add_string(text, path);
    add_text(text, ":", 1);
    add_number(text, (unsigned)lines[caller]);
    add_text(text, ":in `", 5);
    add_string(text, label);
    add_text(text, "'\n", 2);
    if (text->length == text->size)
        text->length = begin; /* drop a line that may be cut off */
}

static size_t sample_stack(char *buffer, size_t size, int last)
{
    static VALUE frames[SAMPLE_FRAMES]; /* static: one sample is taken at a time, and signal stacks are small */
    static int lines[SAMPLE_FRAMES];
    struct text text = {.bytes = buffer, .size = size};
    int count;

    if (rb_during_gc()) { /* objects may be moving */
        if (last)
            add_text(&text, "garbage collection\n", 19);
        return text.length;
    }
    if (watched)
        watched->stalls.task = watched->workers.current ? watched->workers.current->task_object : Qfalse;
    count = rb_profile_frames(0, SAMPLE_FRAMES, frames, lines);
    for (int i = 0; i < count; i++)
        add_frame(&text, frames, lines, i, count);
    return text.length;
}

/* ---- for the reactor ------------------------------------------------------------------------------------------ */

void pel_watch(struct pel_reactor *reactor)
{
    watched = reactor;
    pel_watchdog_watch(&reactor->stalls.watch,
                       sample_stack); /* if there can be no thread, the reactor runs unwatched */
}

void pel_stalls_mark(struct pel_reactor *reactor)
{
    if (reactor->stalls.task)
        rb_gc_mark(reactor->stalls.task);
    for (struct pel_stall *stall = reactor->stalls.past; stall; stall = stall->next)
        if (stall->task)
            rb_gc_mark((VALUE)stall->task);
}

static void drop_stalls(struct pel_reactor *reactor)
{
    while (reactor->stalls.past) {
        struct pel_stall *stall = reactor->stalls.past;
        reactor->stalls.past = stall->next;
        pel_free(stall);
    }
}

void pel_unwatch(struct pel_reactor *reactor)
{
    pel_watchdog_unwatch(&reactor->stalls.watch);
    watched = NULL;
    drop_stalls(reactor);
}

/* Counts the stall that is over, and returns it, or NULL. */
static struct pel_stall *count_stall(struct pel_reactor *reactor)
{
    struct pel_stall *stall = pel_watchdog_end_stall(&reactor->stalls.watch, reactor->loop.now);

    if (!stall)
        return NULL;
    stall->task = (void *)reactor->stalls.task;
    reactor->stalls.task = Qfalse;
    reactor->stalls.count++;
    if (reactor->stalls.longest < stall->nanoseconds)
        reactor->stalls.longest = stall->nanoseconds;
    return stall;
}

static VALUE report_stall(VALUE argument)
{
    struct pel_stall *stall = (struct pel_stall *)argument;
    VALUE seconds = DBL2NUM((double)stall->nanoseconds / 1e9), place = rb_utf8_str_new_cstr(stall->stack);

    return pel_upcall(report_stall, seconds, place, stall->unreported ? Qfalse : Qtrue,
                      stall->task ? (VALUE)stall->task : Qnil);
}

static void report_stalls(struct pel_reactor *reactor, void *data)
{
    struct pel_stall *stall = reactor->stalls.past;
    uint64_t before = reactor->stalls.watch.progress;
    int state;

    if (!stall)
        return;
    reactor->stalls.past = stall->next;
    pel_protect(report_stall, (VALUE)stall, &state);
    pel_free(stall);
    /* A logger that stalls itself would otherwise have a new stall to report each time. */
    if (reactor->stalls.watch.progress == before && pel_watch_step(&reactor->stalls.watch))
        pel_free(count_stall(reactor));
    if (state)
        pel_rethrow(state);
}

void pel_end_stall(struct pel_reactor *reactor)
{
    struct pel_stall *stall = count_stall(reactor), **last = &reactor->stalls.past;

    if (!stall)
        return;
    while (*last)
        last = &(*last)->next;
    stall->next = NULL;
    *last = stall;
    pel_enqueue(reactor, (struct pel_job){.run = report_stalls});
}

/* ---- Pelton::Watchdog ----------------------------------------------------------------------------------------- */

/* _set(seconds or nil, descriptor or nil). The watchdog's thread writes to a descriptor of its own, a duplicate whose
 * number never changes: the given one may be closed at any time, and its number reused. */
static VALUE watchdog_s_set(VALUE module, VALUE seconds, VALUE descriptor)
{
    static int own = -1;
    int fd = NIL_P(descriptor) ? -1 : NUM2INT(descriptor);
    int64_t threshold = NIL_P(seconds) ? 0 : pel_nanoseconds(seconds);

    if (fd > STDERR_FILENO) {
        int given = own < 0 ? own = fcntl(fd, F_DUPFD_CLOEXEC, 3) : dup2(fd, own);
        if (given < 0)
            rb_sys_fail("the logger's descriptor");
        fcntl(own, F_SETFD, FD_CLOEXEC);
        fd = own;
    }
    pel_watchdog_set(threshold, fd);
    return Qnil;
}

/* resting?: whether the watchdog sleeps until a reactor has work again. */
static VALUE watchdog_s_resting_p(VALUE module)
{
    return pel_watchdog_asleep_p() ? Qtrue : Qfalse;
}

/* count: the number of running reactors that the watchdog watches. */
static VALUE watchdog_s_count(VALUE module)
{
    return SIZET2NUM(pel_watchdog_count());
}

void pel_init_watchdog(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Watchdog");

    rb_define_singleton_method(module, "_set", watchdog_s_set, 2);
    rb_define_singleton_method(module, "resting?", watchdog_s_resting_p, 0);
    rb_define_singleton_method(module, "count", watchdog_s_count, 0);
}
