#include "reactor.h"

#include <pthread.h>
#include <ruby/fiber/scheduler.h>
#include "../core/alloc.h"
#include "descriptor.h"
#include "error.h"
#include "operation.h"
#include "protect.h"
#include "scheduler.h"

VALUE pel_mPelton, pel_cReactor;
unsigned pel_fork_generation;

/* A hint: threads of Ruby may move between native ones, so the owner is always checked. */
static __thread struct pel_reactor *here;
static ID id_reactor;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void reactor_mark(void *data)
{
    struct pel_reactor *reactor = data;
    struct pel_listed *listed;

    rb_gc_mark(reactor->thread);
    rb_gc_mark(reactor->caller);
    rb_gc_mark(reactor->value);
    rb_gc_mark(reactor->fatal);
    if (!reactor->parked.next)
        return; /* allocated, not initialized */
    for (uint32_t i = 0; i < reactor->job_count; i++) {
        struct pel_job *job = &reactor->jobs[(reactor->job_head + i) & (reactor->job_capacity - 1)];
        if (job->mark)
            job->mark(job->data);
    }
    for (listed = reactor->listed.next; listed != &reactor->listed; listed = listed->next)
        rb_gc_mark(listed->object);
    pel_mark_fibers(reactor);
}

static void reactor_free(void *data)
{
    struct pel_reactor *reactor = data;

    if (here == reactor)
        here = NULL;
    pel_unwatch(reactor);
    pel_loop_close(&reactor->loop);
    pel_descriptors_free(reactor);
    while (reactor->workers) {
        struct pel_worker *worker = reactor->workers;
        reactor->workers = worker->next;
        xfree(worker);
    }
    xfree(reactor->retired);
    if (reactor->sleepers)
        st_free_table(reactor->sleepers);
    pel_free(reactor->jobs);
    xfree(reactor->hot_buffer);
    xfree(reactor);
}

static size_t reactor_size(const void *data)
{
    const struct pel_reactor *reactor = data;
    return sizeof *reactor + reactor->job_capacity * sizeof *reactor->jobs +
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
    reactor->thread = reactor->caller = reactor->value = reactor->fatal = Qnil;
    reactor->loop.wake_handle.fd = -1; /* closed */
    return self;
}

/* ---- one for each thread -------------------------------------------------------------------------------------- */

struct pel_reactor *pel_reactor_get(VALUE self)
{
    struct pel_reactor *reactor = rb_check_typeddata(self, &reactor_type);

    if (reactor->loop.wake_handle.fd < 0)
        rb_raise(pel_eClosedError, "the reactor is closed");
    if (reactor->fork_generation != pel_fork_generation)
        rb_raise(pel_eClosedError, "this reactor belongs to the parent process: call Pelton.run in the child");
    return reactor;
}

struct pel_reactor *pel_reactor_existing(void)
{
    VALUE thread = rb_thread_current(), object;

    if (here && here->thread == thread && here->fork_generation == pel_fork_generation)
        return here;
    object = rb_ivar_get(thread, id_reactor);
    if (NIL_P(object))
        return NULL;
    here = rb_check_typeddata(object, &reactor_type);
    return here->fork_generation == pel_fork_generation ? here : NULL;
}

static VALUE reactor_initialize(VALUE self)
{
    struct pel_reactor *reactor = rb_check_typeddata(self, &reactor_type);
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
    reactor->listed.next = reactor->listed.previous = &reactor->listed;
    reactor->sleepers = st_init_numtable();
    reactor->thread = rb_thread_current();
    reactor->fork_generation = pel_fork_generation;
    reactor->started_at = reactor->loop.now;
    reactor->budget = PEL_BUDGET;
    return self;
}

struct pel_reactor *pel_reactor_current(void)
{
    struct pel_reactor *reactor = pel_reactor_existing();
    VALUE object;

    if (reactor)
        return reactor;
    object = rb_ivar_get(rb_thread_current(), id_reactor);
    if (!NIL_P(object)) /* inherited through fork: its descriptors are the parent's, too */
        pel_loop_close(&((struct pel_reactor *)rb_check_typeddata(object, &reactor_type))->loop);
    object = rb_class_new_instance(0, NULL, pel_cReactor);
    rb_ivar_set(rb_thread_current(), id_reactor, object);
    here = rb_check_typeddata(object, &reactor_type);
    return here;
}

int pel_can_park(struct pel_reactor *reactor)
{
    return reactor->phase != PEL_IDLE && !NIL_P(rb_fiber_scheduler_current());
}

struct pel_reactor *pel_reactor_running(const char *what)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (!reactor || reactor->phase == PEL_IDLE)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("NotRunningError")),
                 "%s needs a running reactor: call it inside Pelton.run { }", what);
    return reactor;
}

static void after_fork_in_child(void)
{
    pel_fork_generation++;
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

/* ---- listed objects ------------------------------------------------------------------------------------------- */

void pel_list_add(struct pel_reactor *reactor, struct pel_listed *listed, VALUE object)
{
    if (listed->next)
        return;
    listed->object = object;
    listed->next = &reactor->listed;
    listed->previous = reactor->listed.previous;
    listed->previous->next = listed;
    reactor->listed.previous = listed;
}

void pel_list_remove(struct pel_reactor *reactor, struct pel_listed *listed)
{
    if (!listed->next)
        return;
    listed->previous->next = listed->next;
    listed->next->previous = listed->previous;
    listed->next = listed->previous = NULL;
}

/* ---- run and stop --------------------------------------------------------------------------------------------- */

static void leave(struct pel_reactor *reactor)
{
    pel_unwatch(reactor);
    reactor->phase = PEL_IDLE;
    reactor->grace_deadline = 0;
    pel_timer_cancel(&reactor->loop.timers, &reactor->grace_alarm.timer);
    while (reactor->job_count)
        pel_dequeue(reactor);
    reactor->caller = Qnil;
    reactor->current_worker = NULL;
}

static VALUE set_scheduler(VALUE scheduler)
{
    return rb_fiber_scheduler_set(scheduler);
}

/* Turns the loop on workers until the reactor leaves. Fibers that end land here as well: the loop is handed on again.
 */
static void turn_until_left(struct pel_reactor *reactor)
{
    while (reactor->phase != PEL_LEAVING) {
        int state = pel_hand_over(reactor);
        VALUE error;
        if (!state)
            continue;
        error = pel_take_error(state);
        if (NIL_P(error)) { /* Thread#kill: there is no time for the parked fibers */
            leave(reactor);
            pel_rethrow(state);
        }
        pel_fail_run(reactor, error);
    }
}

static VALUE reactor_run(VALUE self, VALUE grace, VALUE block)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE result, fatal, scheduler;
    int state = 0;

    if (reactor->thread != rb_thread_current())
        rb_raise(pel_eError, "a reactor runs on the thread that made it");
    if (reactor->phase != PEL_IDLE)
        return rb_proc_call_with_block(block, 0, NULL, Qnil); /* nested: it is running already */
    scheduler = rb_fiber_scheduler_get();
    if (!NIL_P(scheduler) && scheduler != self) {
        if (!rb_obj_is_kind_of(scheduler, pel_cReactor))
            rb_raise(pel_eError, "this thread has another fiber scheduler: run Pelton on a thread of its own");
        rb_fiber_scheduler_set(Qnil); /* the parent's, inherited through fork */
    }
    reactor->grace = (int64_t)(NUM2DBL(grace) * 1e9);
    reactor->grace_deadline = 0;
    reactor->caller = rb_fiber_current();
    reactor->value = reactor->fatal = Qnil;
    reactor->batch_left = reactor->handovers_left = 0;
    if (scheduler != self)
        rb_fiber_scheduler_set(self);
    reactor->phase = PEL_RUNNING;
    pel_watch(reactor);
    pel_spawn_main(reactor, block);
    turn_until_left(reactor);
    leave(reactor);
    result = reactor->value;
    fatal = reactor->fatal;
    reactor->value = reactor->fatal = Qnil;
    if (scheduler != self) {
        reactor->phase = PEL_LEAVING;             /* scheduler_close is not to run what is left */
        pel_protect(set_scheduler, Qnil, &state); /* a second interrupt may strike here; the first goes before it */
        reactor->phase = PEL_IDLE;
    }
    if (!NIL_P(fatal))
        rb_exc_raise(fatal);
    if (state)
        pel_rethrow(state);
    return result;
}

/* Ends run: what is parked is cancelled. The value is what run returns. */
static VALUE reactor_stop(VALUE self, VALUE value)
{
    struct pel_reactor *reactor = pel_reactor_get(self);

    if (reactor->phase == PEL_RUNNING) {
        reactor->value = value;
        reactor->phase = PEL_STOPPING;
        pel_loop_wake(&reactor->loop);
    }
    return Qnil;
}

static VALUE reactor_next_tick(VALUE self, VALUE block)
{
    pel_enqueue_proc(pel_reactor_get(self), block);
    return Qnil;
}

static VALUE reactor_raise_in(VALUE self, VALUE fiber, VALUE exception)
{
    return pel_raise_in(pel_reactor_get(self), fiber, exception) ? Qtrue : Qfalse;
}

/* Lets the loop turn once, whatever is ready. Parks. */
static VALUE reactor_yield(VALUE self)
{
    struct pel_reactor *reactor = pel_scheduler_reactor(self);
    struct pel_waiter waiter = {.exception = Qfalse};

    if (!pel_can_park(reactor))
        return Qnil;
    reactor->batch_left = reactor->handovers_left = 0;
    pel_waiter_fire(reactor, &waiter);
    pel_park(reactor, &waiter, PEL_FOREVER);
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

static VALUE reactor_stats(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE stats = rb_hash_new();
    double elapsed = (double)(pel_now() - reactor->started_at) / 1e9, idle = (double)reactor->idle_ns / 1e9;

#define STAT(name, value) rb_hash_aset(stats, ID2SYM(rb_intern(name)), value)
    STAT("backend", ID2SYM(rb_intern(reactor->loop.backend->name)));
    STAT("turns", ULL2NUM(reactor->turns));
    STAT("switches", ULL2NUM(reactor->switches));
    STAT("ready", UINT2NUM(reactor->job_count));
    STAT("parked", UINT2NUM(reactor->parked_count));
    STAT("workers", UINT2NUM(reactor->worker_count));
    STAT("timers", SIZET2NUM(pel_timers_count(&reactor->loop.timers)));
    STAT("descriptors", SIZET2NUM(reactor->loop.registered));
    STAT("busy", DBL2NUM(elapsed - idle));
    STAT("idle", DBL2NUM(idle));
    STAT("stalls", ULL2NUM(reactor->stalls));
    STAT("longest_stall", DBL2NUM((double)reactor->longest_stall / 1e9));
#undef STAT
    return stats;
}

void pel_init_reactor(void)
{
    id_reactor = rb_intern("pelton_reactor"); /* no "@": hidden from Ruby */
    pthread_atfork(NULL, NULL, after_fork_in_child);
    pel_cReactor = rb_define_class_under(pel_mPelton, "Reactor", rb_cObject);
    rb_define_alloc_func(pel_cReactor, reactor_allocate);
    rb_define_singleton_method(pel_cReactor, "current", reactor_s_current, 0);
    rb_define_singleton_method(pel_cReactor, "running?", reactor_s_running_p, 0);
    rb_define_private_method(pel_cReactor, "initialize", reactor_initialize, 0);
    rb_define_private_method(pel_cReactor, "_run", reactor_run, 2);
    rb_define_method(pel_cReactor, "_next_tick", reactor_next_tick, 1);
    rb_define_method(pel_cReactor, "_stop", reactor_stop, 1);
    rb_define_method(pel_cReactor, "raise_in", reactor_raise_in, 2);
    rb_define_method(pel_cReactor, "yield", reactor_yield, 0);
    rb_define_method(pel_cReactor, "hold", reactor_hold, 0);
    rb_define_method(pel_cReactor, "release", reactor_release, 0);
    rb_define_method(pel_cReactor, "stats", reactor_stats, 0);
}
