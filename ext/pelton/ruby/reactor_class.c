#include "reactor.h"

#include <ruby/fiber/scheduler.h>
#include "../core/alloc.h"
#include "descriptor.h"
#include "error.h"
#include "scheduler.h"

VALUE pel_mPelton, pel_cReactor;
static ID id_reactor;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void reactor_mark(void *data)
{
    struct pel_reactor *reactor = data;

    rb_gc_mark(reactor->self); /* pinned: C keeps it */
    rb_gc_mark(reactor->thread);
    rb_gc_mark(reactor->caller);
    rb_gc_mark(reactor->value);
    rb_gc_mark(reactor->fatal);
    rb_gc_mark(reactor->thrown);
    rb_gc_mark(reactor->locals);
    if (!reactor->parked.next)
        return; /* allocated, not initialized */
    pel_queues_mark(reactor);
    pel_list_mark(&reactor->list);
    pel_fibers_mark(reactor);
    pel_timeouts_mark(reactor);
}

static void reactor_free(void *data)
{
    struct pel_reactor *reactor = data;

    pel_loop_close(&reactor->loop);
    pel_descriptors_free(reactor);
    while (reactor->workers) {
        struct pel_worker *worker = reactor->workers;
        reactor->workers = worker->next;
        pel_free(worker);
    }
    if (reactor->sleepers)
        st_free_table(reactor->sleepers);
    pel_free(reactor->ready.jobs);
    pel_free(reactor->due.jobs);
    pel_splice_close(&reactor->splice);
    xfree(reactor->hot_buffer);
    xfree(reactor);
}

static size_t reactor_size(const void *data)
{
    const struct pel_reactor *reactor = data;
    return sizeof *reactor + (reactor->ready.capacity + reactor->due.capacity) * sizeof(struct pel_job) +
           reactor->worker_count * sizeof(struct pel_worker) + (reactor->hot_buffer ? PEL_HOT_BUFFER : 0);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: what it marks lives in C lists that change with each operation. */
static const rb_data_type_t reactor_type = {
    .wrap_struct_name = "Pelton::Reactor",
    .function = {.dmark = reactor_mark, .dfree = reactor_free, .dsize = reactor_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE reactor_allocate(VALUE class)
{
    struct pel_reactor *reactor;
    VALUE self = TypedData_Make_Struct(class, struct pel_reactor, &reactor_type, reactor);

    reactor->self = self;
    reactor->thread = reactor->caller = reactor->value = reactor->fatal = reactor->thrown = reactor->locals = Qnil;
    reactor->loop.wake_handle.fd = -1; /* closed */
    return self;
}

/* ---- one for each thread -------------------------------------------------------------------------------------- */

struct pel_reactor *pel_reactor_peek(VALUE self)
{
    return rb_check_typeddata(self, &reactor_type);
}

struct pel_reactor *pel_reactor_get(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_peek(self);

    if (pel_loop_inherited(&reactor->loop))
        rb_raise(pel_eClosedError, "this reactor belongs to the parent process: call Pelton.run in the child");
    if (reactor->loop.wake_handle.fd < 0)
        rb_raise(pel_eClosedError, "the reactor is closed");
    return reactor;
}

/* While it runs, it is the thread's scheduler, which is quicker to find than the thread's variable. */
struct pel_reactor *pel_reactor_existing(void)
{
    VALUE object = rb_fiber_scheduler_get();
    struct pel_reactor *reactor;

    if (!NIL_P(object) && rb_typeddata_is_kind_of(object, &reactor_type)) {
        reactor = RTYPEDDATA_DATA(object);
        if (reactor->thread == rb_thread_current() && !pel_loop_inherited(&reactor->loop))
            return reactor;
    }
    object = rb_ivar_get(rb_thread_current(), id_reactor);
    if (NIL_P(object))
        return NULL;
    reactor = RTYPEDDATA_DATA(object);
    return pel_loop_inherited(&reactor->loop) ? NULL : reactor;
}

static VALUE reactor_initialize(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_peek(self);
    const char *backend = getenv("PELTON_BACKEND");
    int code;

    if (reactor->parked.next)
        rb_raise(pel_eError, "a reactor is initialized once");
    code = pel_loop_open(&reactor->loop, backend && *backend ? backend : NULL);
    if (code == PEL_EARGUMENT)
        rb_raise(pel_eError, "PELTON_BACKEND=%s is not known: use epoll or poll", backend);
    if (code < 0)
        pel_raise(code, errno, "cannot open a reactor");
    reactor->parked.next = reactor->parked.previous = &reactor->parked;
    reactor->given_up.next = reactor->given_up.previous = &reactor->given_up;
    pel_list_init(&reactor->list);
    reactor->sleepers = st_init_numtable();
    reactor->thread = rb_thread_current();
    reactor->fork_generation = pel_fork_generation;
    reactor->budget = PEL_BUDGET;
    return self;
}

struct pel_reactor *pel_reactor_current(void)
{
    struct pel_reactor *reactor = pel_reactor_existing();
    VALUE object, scheduler;

    if (reactor)
        return reactor;
    object = rb_ivar_get(rb_thread_current(), id_reactor);
    if (!NIL_P(object)) /* inherited through fork: its descriptors are the parent's, too */
        pel_loop_close(&pel_reactor_peek(object)->loop);
    object = rb_class_new_instance(0, NULL, pel_cReactor);
    rb_ivar_set(rb_thread_current(), id_reactor, object);
    /* Ruby goes on calling the inherited one's hooks. */
    scheduler = rb_fiber_scheduler_get();
    if (!NIL_P(scheduler) && rb_typeddata_is_kind_of(scheduler, &reactor_type))
        rb_fiber_scheduler_set(object);
    return pel_reactor_peek(object);
}

struct pel_reactor *pel_reactor_running(const char *what)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (!reactor || reactor->phase == PEL_IDLE)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("NotRunningError")),
                 "%s needs a running reactor: call it inside Pelton.run { }", what);
    return reactor;
}

/* Reactor.current: this thread's, made when there is none. */
static VALUE reactor_s_current(VALUE class)
{
    return pel_reactor_current()->self;
}

/* Reactor.running?: whether this thread is inside run. */
static VALUE reactor_s_running_p(VALUE class)
{
    struct pel_reactor *reactor = pel_reactor_existing();
    return reactor && reactor->phase != PEL_IDLE ? Qtrue : Qfalse;
}

int pel_spare(struct pel_reactor *reactor)
{
    for (struct pel_spare *spare = reactor->spares; spare; spare = spare->next)
        if (spare->close_some(spare))
            return 1;
    return 0;
}

/* ---- the class ------------------------------------------------------------------------------------------------- */

static VALUE reactor_next_tick(VALUE self, VALUE block)
{
    pel_enqueue_proc(pel_reactor_get(self), block);
    return Qnil;
}

/* raise_in(fiber, exception): as Fiber#raise, but for a fiber that is parked in this reactor. Whether it is. */
static VALUE reactor_raise_in(int argc, VALUE *argv, VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE exception;

    rb_check_arity(argc, 1, UNLIMITED_ARGUMENTS);
    exception = rb_make_exception(argc - 1, argv + 1);
    if (NIL_P(exception))
        exception = rb_exc_new_cstr(rb_eRuntimeError, "unhandled exception");
    if (argv[0] == rb_fiber_current())
        rb_exc_raise(exception);
    return pel_raise_in(reactor, argv[0], exception) ? Qtrue : Qfalse;
}

/* Lets all that is ready go first, and the loop turn once. Parks. */
static VALUE reactor_yield(VALUE self)
{
    pel_yield(pel_reactor_get(self));
    return Qnil;
}

/* Keeps the reactor running while something outside it, such as a thread, is to come back to it. */
static VALUE reactor_hold(VALUE self)
{
    pel_reactor_get(self)->references++;
    return Qnil;
}

static VALUE reactor_release(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);

    if (reactor->references)
        reactor->references--;
    if (__atomic_load_n(&reactor->loop.waiting, __ATOMIC_RELAXED))
        pel_loop_wake(&reactor->loop);
    return Qnil;
}

/* The fibers that are parked, the last to park first. */
static VALUE reactor_parked(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE fibers = rb_ary_new();

    for (struct pel_waiter *waiter = reactor->parked.next; waiter != &reactor->parked; waiter = waiter->next)
        rb_ary_push(fibers, waiter->fiber);
    return fibers;
}

static VALUE reactor_stats(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE stats = rb_hash_new();
    int64_t run = reactor->ran_ns + (reactor->phase == PEL_IDLE ? 0 : pel_now() - reactor->began_at);

#define STAT(name, value) rb_hash_aset(stats, ID2SYM(rb_intern(name)), value)
    STAT("backend", ID2SYM(rb_intern(reactor->loop.backend->name)));
    STAT("turns", ULL2NUM(reactor->turns));
    STAT("switches", ULL2NUM(reactor->switches));
    STAT("ready", UINT2NUM(reactor->ready.count + reactor->due.count));
    STAT("parked", UINT2NUM(reactor->parked_count));
    STAT("workers", UINT2NUM(reactor->worker_count));
    STAT("timers", SIZET2NUM(pel_timers_count(&reactor->loop.timers)));
    STAT("connections", SIZET2NUM(reactor->loop.streams));
    STAT("descriptors", SIZET2NUM(reactor->loop.registered));
    STAT("busy", DBL2NUM((double)(run - reactor->idle_ns) / 1e9));
    STAT("idle", DBL2NUM((double)reactor->idle_ns / 1e9));
    STAT("stalls", ULL2NUM(reactor->stalls));
    STAT("longest_stall", DBL2NUM((double)reactor->longest_stall / 1e9));
#undef STAT
    return stats;
}

void pel_init_reactor(void)
{
    id_reactor = rb_intern("pelton_reactor"); /* no "@": hidden from Ruby */
    pel_cReactor = rb_define_class_under(pel_mPelton, "Reactor", rb_cObject);
    rb_define_alloc_func(pel_cReactor, reactor_allocate);
    rb_define_singleton_method(pel_cReactor, "current", reactor_s_current, 0);
    rb_define_singleton_method(pel_cReactor, "running?", reactor_s_running_p, 0);
    rb_undef_method(rb_singleton_class(pel_cReactor), "new"); /* a thread has one, Reactor.current */
    rb_define_private_method(pel_cReactor, "initialize", reactor_initialize, 0);
    rb_define_method(pel_cReactor, "_next_tick", reactor_next_tick, 1);
    rb_define_method(pel_cReactor, "raise_in", reactor_raise_in, -1);
    rb_define_method(pel_cReactor, "yield", reactor_yield, 0);
    rb_define_method(pel_cReactor, "hold", reactor_hold, 0);
    rb_define_method(pel_cReactor, "release", reactor_release, 0);
    rb_define_method(pel_cReactor, "parked", reactor_parked, 0);
    rb_define_method(pel_cReactor, "stats", reactor_stats, 0);
}
