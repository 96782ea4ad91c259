#include "ruby/reactor/reactor.h"

#include "ruby/reactor/yield.h"

/* Pelton::Reactor's methods, except _run and _stop (run.c). */

/* Reactor.current: the reactor of this thread, which is made when there is none. */
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

/* require_running(method): this thread's running reactor; raises NotRunningError, whose message names the method. */
static VALUE reactor_s_running(VALUE class, VALUE method)
{
    return pel_reactor_running(StringValueCStr(method))->self;
}

static VALUE reactor_next_tick(VALUE self, VALUE block)
{
    struct pel_reactor *reactor;

    if (!rb_obj_is_proc(block))
        rb_raise(rb_eTypeError, "wrong argument type %" PRIsVALUE " (expected Proc)", rb_obj_class(block));
    reactor = pel_reactor_get(self);
    if (reactor->thread != rb_thread_current() && !RTEST(rb_funcall(reactor->thread, rb_intern("alive?"), 0)))
        rb_raise(pel_eClosedError, "the reactor's thread has ended: the block would never be called");
    pel_enqueue_proc(reactor, pel_inherit(block));
    return Qnil;
}

static void run_request(struct pel_reactor *reactor, void *data)
{
    if (reactor->phase == PEL_STOPPING) /* what waits has been cancelled already */
        return;
    pel_begin_request(reactor, reactor->rank.arrived);
    rb_proc_call_with_block((VALUE)data, 0, NULL, Qnil);
}

/* _request(block): as next_tick, but the block is a request, which arrives now; a stop drops it. */
static VALUE reactor_request(VALUE self, VALUE block)
{
    struct pel_reactor *reactor = pel_reactor_get(self);

    pel_enqueue(reactor, (struct pel_job){.run = run_request,
                                          .data = (void *)block,
                                          .object = block,
                                          .rank = {.arrived = reactor->loop.now}});
    return Qnil;
}

/* request_began -> Integer or nil: when the request began to which the code that runs belongs, in nanoseconds of the
 * loop's clock, no two alike; nil if it belongs to none. What requests wait for may be given to the oldest by it. */
static VALUE reactor_request_began(VALUE self)
{
    int64_t began = pel_reactor_get(self)->rank.began;

    return began ? LL2NUM(began) : Qnil;
}

/* _short_wait = seconds or nil: for tests, as _seniority. The hold begins anew. */
static VALUE reactor_set_short_wait(VALUE self, VALUE seconds)
{
    pel_hold_begin(&pel_reactor_get(self)->hold, NIL_P(seconds) ? PEL_HOLD_NS : pel_nanoseconds(seconds));
    return seconds;
}

/* _seniority = seconds or nil: for tests, which must not depend on how fast the machine is. */
static VALUE reactor_set_seniority(VALUE self, VALUE seconds)
{
    pel_reactor_get(self)->seniority.limit = NIL_P(seconds) ? PEL_SENIORITY_NS : (int64_t)(NUM2DBL(seconds) * 1e9);
    return seconds;
}

/* raise_in(fiber, exception): like Fiber#raise, for a fiber that is parked in this reactor. Returns whether it is. */
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

/* interrupt(fiber, exception): raises in a fiber that waits, or else when it waits next. */
static VALUE reactor_interrupt(VALUE self, VALUE fiber, VALUE exception)
{
    pel_raise_or_defer(pel_reactor_get(self), fiber, NULL, exception);
    return Qnil;
}

/* forget_interrupt(fiber, exception): the fiber need not be interrupted any more. */
static VALUE reactor_forget_interrupt(VALUE self, VALUE fiber, VALUE exception)
{
    return pel_pending_exception_forget(fiber, exception) ? Qtrue : Qfalse;
}

/* on_fatal { |exception| }: for the present run. */
static VALUE reactor_on_fatal(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);

    if (reactor->phase == PEL_IDLE)
        rb_raise(rb_path2class("Pelton::NotRunningError"), "on_fatal is for a run: call it inside of Pelton.run");
    reactor->run.on_fatal = rb_block_proc();
    return self;
}

/* Lets all ready jobs run first, and the loop make one iteration. Parks. */
static VALUE reactor_yield(VALUE self)
{
    pel_yield(pel_reactor_get(self));
    return Qnil;
}

/* Keeps the reactor running while work outside of it, such as a thread's, will come back to it. */
static VALUE reactor_retain(VALUE self)
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

/* The parked fibers, the last to park first. */
static VALUE reactor_parked(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE fibers = rb_ary_new();

    for (struct pel_waiter *waiter = reactor->parked.head.next; waiter != &reactor->parked.head; waiter = waiter->next)
        rb_ary_push(fibers, waiter->fiber);
    return fibers;
}

/* waited: nanoseconds for which the code on this fiber has been parked since the first call, in whatever job or task;
 * nil on a fiber that is no worker's. */
static VALUE reactor_waited(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);

    reactor->workers.measures_waits = 1;
    return reactor->workers.current ? LL2NUM(reactor->workers.current->waited) : Qnil;
}

static VALUE reactor_stats(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE stats = rb_hash_new();
    int64_t run = reactor->run.earlier_ns + (reactor->phase == PEL_IDLE ? 0 : pel_now() - reactor->run.began_at);

#define STAT(name, value) rb_hash_aset(stats, ID2SYM(rb_intern(name)), value)
    STAT("backend", ID2SYM(rb_intern(reactor->loop.backend->name)));
    STAT("iterations", ULL2NUM(reactor->tick.number));
    STAT("switches", ULL2NUM(reactor->switches.count));
    STAT("ready", UINT2NUM(pel_queues_count(&reactor->queues)));
    STAT("parked", UINT2NUM(reactor->parked.count));
    STAT("workers", UINT2NUM(reactor->workers.count));
    STAT("timers", SIZET2NUM(pel_timers_count(&reactor->loop.timers)));
    STAT("connections", SIZET2NUM(reactor->loop.streams));
    STAT("descriptors", SIZET2NUM(reactor->loop.registered));
    STAT("busy", DBL2NUM((double)(run - reactor->tick.idle_ns) / 1e9));
    STAT("idle", DBL2NUM((double)reactor->tick.idle_ns / 1e9));
    STAT("stalls", ULL2NUM(reactor->stalls.count));
    STAT("longest_stall", DBL2NUM((double)reactor->stalls.longest / 1e9));
#undef STAT
    return stats;
}

static VALUE yield_nothing(VALUE nothing)
{
    return rb_yield_values(0);
}

static VALUE reactor_with_clean_locals(VALUE self)
{
    rb_need_block();
    return pel_locals_clean(pel_reactor_get(self), yield_nothing, Qnil);
}

void pel_init_reactor_class(void)
{
    rb_define_singleton_method(pel_cReactor, "current", reactor_s_current, 0);
    rb_define_singleton_method(pel_cReactor, "running?", reactor_s_running_p, 0);
    rb_define_singleton_method(pel_cReactor, "require_running", reactor_s_running, 1);
    rb_define_method(pel_cReactor, "enqueue", reactor_next_tick, 1);
    rb_define_method(pel_cReactor, "_request", reactor_request, 1);
    rb_define_method(pel_cReactor, "request_began", reactor_request_began, 0);
    rb_define_method(pel_cReactor, "_seniority=", reactor_set_seniority, 1);
    rb_define_method(pel_cReactor, "_short_wait=", reactor_set_short_wait, 1);
    rb_define_method(pel_cReactor, "yield", reactor_yield, 0);
    rb_define_method(pel_cReactor, "retain", reactor_retain, 0);
    rb_define_method(pel_cReactor, "release", reactor_release, 0);
    rb_define_method(pel_cReactor, "parked", reactor_parked, 0);
    rb_define_method(pel_cReactor, "waited", reactor_waited, 0);
    rb_define_method(pel_cReactor, "stats", reactor_stats, 0);
    rb_define_method(pel_cReactor, "with_clean_locals", reactor_with_clean_locals, 0);
    rb_define_method(pel_cReactor, "interrupt", reactor_interrupt, 2);
    rb_define_method(pel_cReactor, "forget_interrupt", reactor_forget_interrupt, 2);
    rb_define_method(pel_cReactor, "raise_in", reactor_raise_in, -1);
    rb_define_method(pel_cReactor, "on_fatal", reactor_on_fatal, 0);
}
