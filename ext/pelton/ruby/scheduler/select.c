#include "ruby/reactor/reactor.h"

#include <errno.h>
#include <poll.h>
#include <ruby/io.h>
#include "ruby/base/protect.h"
#include "ruby/reactor/yield.h"
#include "ruby/scheduler/scheduler.h"

/* The hook io_select. Ruby calls it from 3.2 on; Pelton.select calls it on every Ruby. */

enum { KINDS = 3 }; /* readable, writable, exceptional: the arrays of IO.select, in their order */

static const unsigned loop_events[KINDS] = {PEL_READABLE, PEL_WRITABLE, PEL_PRIORITY};
static const short poll_events[KINDS] = {POLLIN, POLLOUT, POLLPRI};
static const short poll_results[KINDS] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};

struct selection {
    VALUE lists[KINDS]; /* Arrays, frozen copies */
    long counts[KINDS], total;
    struct pel_awaited *awaited; /* one for each element, list after list */
    struct pollfd *polled;
};

/* Polls all elements without waiting. Returns how many are ready. */
static int poll_selection(struct selection *selection)
{
    int found = 0;
    long at = 0;

    if (poll(selection->polled, (nfds_t)selection->total, 0) <= 0)
        return 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (long i = 0; i < selection->counts[kind]; i++, at++) {
            struct pollfd *polled = &selection->polled[at];
            if (polled->revents & POLLNVAL)
                rb_syserr_fail(EBADF, "select");
            polled->revents &= poll_results[kind];
            found += polled->revents != 0;
        }
    return found;
}

/* Marks the elements that poll has found ready. replace: unmarks the others; otherwise they stay as they are. */
static void mark_ready(struct selection *selection, int replace)
{
    for (long at = 0; at < selection->total; at++)
        if (selection->polled[at].revents)
            selection->awaited[at].ready = selection->awaited[at].events;
        else if (replace)
            selection->awaited[at].ready = 0;
}

/* Fills in the descriptors. Marks the IOs that have data in Ruby's own buffer, and returns how many they are. */
static int fill_selection(struct selection *selection)
{
    int buffered = 0;
    long at = 0;

    for (int kind = 0; kind < KINDS; kind++)
        for (long i = 0; i < selection->counts[kind]; i++, at++) {
            struct pel_awaited *awaited = &selection->awaited[at];
            VALUE io = rb_io_get_io(RARRAY_AREF(selection->lists[kind], i));
            rb_io_t *pointer;
            if (kind == 1)
                io = rb_io_get_write_io(io);
            GetOpenFile(io, pointer);
            awaited->fd = rb_io_descriptor(io);
            awaited->events = loop_events[kind];
            selection->polled[at] = (struct pollfd){.fd = awaited->fd, .events = poll_events[kind]};
            if (kind == 0 && rb_io_read_pending(pointer)) {
                awaited->ready = awaited->events;
                buffered++;
            }
        }
    return buffered;
}

static VALUE ready_lists(struct selection *selection)
{
    VALUE lists = rb_ary_new_capa(KINDS);
    int found = 0;
    long at = 0;

    for (int kind = 0; kind < KINDS; kind++) {
        VALUE list = rb_ary_new();
        for (long i = 0; i < selection->counts[kind]; i++, at++)
            if (selection->awaited[at].ready) {
                rb_ary_push(list, RARRAY_AREF(selection->lists[kind], i));
                found = 1;
            }
        rb_ary_push(lists, list);
    }
    return found ? lists : Qnil;
}

static VALUE scheduler_io_select(int argc, VALUE *argv, VALUE self)
{
    struct pel_reactor *reactor = pel_scheduler_reactor(self);
    struct selection selection = {.total = 0};
    VALUE memory_awaited, memory_polled;
    int64_t deadline;
    int buffered, state;

    rb_check_arity(argc, 1, 4);
    deadline = pel_deadline(argc > KINDS ? argv[KINDS] : Qnil);
    for (int kind = 0; kind < KINDS; kind++) {
        VALUE list = kind < argc ? rb_check_array_type(argv[kind]) : Qnil;
        if (NIL_P(list) && kind < argc && !NIL_P(argv[kind]))
            Check_Type(argv[kind], T_ARRAY);
        selection.lists[kind] = NIL_P(list) ? rb_ary_new() : rb_ary_dup(list);
        selection.total += selection.counts[kind] = RARRAY_LEN(selection.lists[kind]);
    }
    selection.awaited = ALLOCV_N(struct pel_awaited, memory_awaited, selection.total + 1);
    selection.polled = ALLOCV_N(struct pollfd, memory_polled, selection.total + 1);
    MEMZERO(selection.awaited, struct pel_awaited, selection.total + 1);

    pel_spend(reactor, 1);
    buffered = fill_selection(&selection);
    if (poll_selection(&selection)) {
        mark_ready(&selection, 0);
    } else if (!buffered && deadline > pel_now()) {
        if ((state = pel_descriptors_wait(reactor, selection.awaited, (int)selection.total, deadline)))
            pel_rethrow(state);
        if (poll_selection(&selection)) /* more elements may be ready than the one that ended the wait, and a hang-up
                                           ends every wait */
            mark_ready(&selection, 1);
    }
    ALLOCV_END(memory_polled);
    ALLOCV_END(memory_awaited);
    return ready_lists(&selection);
}

void pel_init_scheduler_select(VALUE module)
{
    rb_define_method(module, "io_select", scheduler_io_select, -1);
}
