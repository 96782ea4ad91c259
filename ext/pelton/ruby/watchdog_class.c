#include "reactor.h"

#include <fcntl.h>
#include <ruby/debug.h>
#include <unistd.h>
#include "../core/alloc.h"
#include "protect.h"

/* Pelton::Watchdog: what the watchdog needs of Ruby, and what Ruby learns of it. The rest is in core/watchdog.c. */

#define DEPTH 128

/* ---- where a fiber stands, in a signal handler ---------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t size, length;
};

static void add(struct text *text, const char *bytes, size_t length)
{
    size_t room = text->size - text->length;

    memcpy(text->bytes + text->length, bytes, length < room ? length : room);
    text->length += length < room ? length : room;
}

static void add_string(struct text *text, VALUE string)
{
    if (RB_TYPE_P(string, T_STRING))
        add(text, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
}

static void add_number(struct text *text, unsigned number)
{
    char digits[12], *first = digits + sizeof digits;

    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    add(text, first, (size_t)(digits + sizeof digits - first));
}

/* As Ruby's own backtraces: a method in C has the place of its caller. Only functions that return what exists: nothing
 * is allocated here, nothing is kept. */
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
    add(text, ":", 1);
    add_number(text, (unsigned)lines[caller]);
    add(text, ":in `", 5);
    add_string(text, label);
    add(text, "'\n", 2);
    if (text->length == text->size)
        text->length = begin; /* no half lines */
}

static size_t place(char *buffer, size_t size, int last)
{
    static VALUE frames[DEPTH]; /* one question is asked at a time; signal stacks are small */
    static int lines[DEPTH];
    struct text text = {.bytes = buffer, .size = size};
    int count;

    if (rb_during_gc()) { /* objects may be on the move */
        if (last)
            add(&text, "garbage collection\n", 19);
        return text.length;
    }
    count = rb_profile_frames(0, DEPTH, frames, lines);
    for (int i = 0; i < count; i++)
        add_frame(&text, frames, lines, i, count);
    return text.length;
}

/* ---- for the reactor ------------------------------------------------------------------------------------------ */

void pel_watch(struct pel_reactor *reactor)
{
    pel_watchdog_watch(&reactor->watch, place); /* without a thread it runs unwatched, but it runs */
}

static void drop_stalls(struct pel_reactor *reactor)
{
    while (reactor->past_stalls) {
        struct pel_stall *stall = reactor->past_stalls;
        reactor->past_stalls = stall->next;
        pel_free(stall);
    }
}

void pel_unwatch(struct pel_reactor *reactor)
{
    pel_watchdog_forget(&reactor->watch);
    drop_stalls(reactor);
}

/* The stall that is over, counted, or NULL. */
static struct pel_stall *count_stall(struct pel_reactor *reactor)
{
    struct pel_stall *stall = pel_watchdog_end(&reactor->watch, reactor->loop.now);

    if (!stall)
        return NULL;
    reactor->stalls++;
    if (reactor->longest_stall < stall->nanoseconds)
        reactor->longest_stall = stall->nanoseconds;
    return stall;
}

static VALUE report(VALUE argument)
{
    struct pel_stall *stall = (struct pel_stall *)argument;
    VALUE seconds = DBL2NUM((double)stall->nanoseconds / 1e9), place = rb_utf8_str_new_cstr(stall->place);

    return rb_funcall(pel_mPelton, rb_intern("report_stall"), 2, seconds, place);
}

static void tell(struct pel_reactor *reactor, void *data)
{
    struct pel_stall *stall = reactor->past_stalls;
    uint64_t before = reactor->watch.progress;
    int state;

    if (!stall)
        return;
    reactor->past_stalls = stall->next;
    pel_protect(report, (VALUE)stall, &state);
    pel_free(stall);
    /* A logger that stalls itself would have something to tell for ever. */
    if (reactor->watch.progress == before && pel_watch_step(&reactor->watch))
        pel_free(count_stall(reactor));
    if (state)
        pel_rethrow(state);
}

void pel_end_stall(struct pel_reactor *reactor)
{
    struct pel_stall *stall = count_stall(reactor), **last = &reactor->past_stalls;

    if (!stall)
        return;
    while (*last)
        last = &(*last)->next;
    stall->next = NULL;
    *last = stall;
    pel_enqueue(reactor, (struct pel_job){.run = tell});
}

/* ---- Pelton::Watchdog ----------------------------------------------------------------------------------------- */

/* _set(seconds or nil, descriptor or nil). The watchdog writes without asking anybody, so its descriptor is its own:
 * the same number for good, never one that somebody closes and gives a new meaning. */
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

/* Whether it sleeps until a reactor has something to do. */
static VALUE watchdog_s_resting_p(VALUE module)
{
    return pel_watchdog_resting() ? Qtrue : Qfalse;
}

/* The number of running reactors that it watches. */
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
