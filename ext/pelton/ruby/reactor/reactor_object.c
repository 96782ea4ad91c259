#include "ruby/reactor/reactor.h"

#include <errno.h>
#include <ruby/fiber/scheduler.h>
#include "core/base/alloc.h"

/* The reactor's object, and how each thread finds its own. */

VALUE pel_cReactor;
static ID id_reactor;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void reactor_mark(void *data)
{
    struct pel_reactor *reactor = data;

    rb_gc_mark(reactor->self); /* pinned: C keeps its address */
    rb_gc_mark(reactor->thread);
    rb_gc_mark(reactor->run.caller);
    rb_gc_mark(reactor->run.value);
    rb_gc_mark(reactor->run.fatal);
    rb_gc_mark(reactor->run.on_fatal);
    rb_gc_mark(reactor->parked.last_raised);
    rb_gc_mark(reactor->locals.set);
    if (!reactor->parked.head.next)
        return; /* allocated, not initialized */
    pel_queues_mark(reactor);
    pel_roots_mark(&reactor->roots);
    pel_workers_mark(reactor);
    pel_waiters_mark(reactor);
    pel_stalls_mark(reactor);
    for (struct pel_link *kept = reactor->kept; kept; kept = kept->next)
        rb_gc_mark(PEL_LINKED(struct pel_kept, link, kept)->object);
}

static void reactor_free(void *data)
{
    struct pel_reactor *reactor = data;

    if (pel_mutex_queues)
        pel_mutex_forget(reactor);
    pel_loop_close(&reactor->loop);
    pel_descriptors_free(reactor);
    while (reactor->workers.first) {
        struct pel_worker *worker = reactor->workers.first;
        reactor->workers.first = worker->next;
        pel_free(worker);
    }
    if (reactor->parked.sleepers)
        st_free_table(reactor->parked.sleepers);
    if (reactor->workers.by_fiber)
        st_free_table(reactor->workers.by_fiber);
    pel_queues_free(&reactor->queues);
    pel_splice_close(&reactor->splice);
    xfree(reactor->tick.hot_buffer);
    xfree(reactor);
}

static size_t reactor_size(const void *data)
{
    const struct pel_reactor *reactor = data;
    return sizeof *reactor +
           (reactor->queues.ready.capacity + reactor->queues.due.capacity + reactor->queues.begun.capacity +
            reactor->queues.arrived.capacity) *
               sizeof(struct pel_job) +
           reactor->workers.count * sizeof(struct pel_worker) + (reactor->tick.hot_buffer ? PEL_HOT_BUFFER : 0);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: the marked objects are in C lists that change with each operation. */
static const rb_data_type_t reactor_type = {
    .wrap_struct_name = "Pelton::Reactor",
    .function = {.dmark = reactor_mark, .dfree = reactor_free, .dsize = reactor_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE reactor_allocate(VALUE class)
{
    struct pel_reactor *reactor;
    VALUE self = TypedData_Make_Struct(class, struct pel_reactor, &reactor_type, reactor);

    reactor->self = self;
    reactor->thread = reactor->run.caller = reactor->run.value = reactor->run.fatal = reactor->run.on_fatal =
        reactor->parked.last_raised = reactor->locals.set = Qnil;
    reactor->loop.wake_handle.fd = -1; /* closed */
    return self;
}

/* ---- the reactor of a thread ---------------------------------------------------------------------------------- */

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

/* While a reactor runs it is the thread's scheduler, which is quicker to find than the thread's variable. */
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

/* The reactors of ended threads keep their descriptors until they are collected. */
static int open_loop(struct pel_reactor *reactor, const char *backend)
{
    int code = pel_loop_open(&reactor->loop, backend);

    return pel_try_again_p(reactor, code) ? pel_loop_open(&reactor->loop, backend) : code;
}

static VALUE reactor_initialize(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_peek(self);
    const char *backend = getenv("PELTON_BACKEND");
    int code;

    if (reactor->parked.head.next)
        rb_raise(pel_eError, "a reactor is initialized once");
    code = open_loop(reactor, backend && *backend ? backend : NULL);
    if (code == PEL_EARGUMENT)
        rb_raise(pel_eError, "PELTON_BACKEND=%s is not known: use " PEL_BACKENDS, backend);
    if (code < 0)
        pel_raise(code, errno, "cannot open a reactor");
    reactor->parked.head.next = reactor->parked.head.previous = &reactor->parked.head;
    reactor->parked.abandoned.next = reactor->parked.abandoned.previous = &reactor->parked.abandoned;
    pel_roots_init(&reactor->roots);
    reactor->parked.sleepers = st_init_numtable();
    reactor->workers.by_fiber = st_init_numtable();
    reactor->thread = rb_thread_current();
    reactor->budget = PEL_BUDGET;
    reactor->seniority.limit = PEL_SENIORITY_NS;
    pel_hold_begin(&reactor->hold, PEL_HOLD_NS);
    return self;
}

struct pel_reactor *pel_reactor_current(void)
{
    struct pel_reactor *reactor = pel_reactor_existing();
    VALUE object, scheduler;

    if (reactor)
        return reactor;
    object = rb_ivar_get(rb_thread_current(), id_reactor);
    if (!NIL_P(object)) /* inherited through fork: the parent owns its descriptors, too */
        pel_loop_close(&pel_reactor_peek(object)->loop);
    object = rb_class_new_instance(0, NULL, pel_cReactor);
    rb_ivar_set(rb_thread_current(), id_reactor, object);
    /* Otherwise Ruby would go on calling the hooks of the inherited scheduler. */
    scheduler = rb_fiber_scheduler_get();
    if (!NIL_P(scheduler) && rb_typeddata_is_kind_of(scheduler, &reactor_type))
        rb_fiber_scheduler_set(object);
    return pel_reactor_peek(object);
}

struct pel_reactor *pel_reactor_running(const char *method)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (!reactor || reactor->phase == PEL_IDLE)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("NotRunningError")),
                 "%s needs a running reactor on this thread: call it inside Pelton.run { }; another thread's reactor "
                 "takes work by its next_tick { }",
                 method);
    return reactor;
}

int pel_reclaim_descriptors(struct pel_reactor *reactor)
{
    for (struct pel_reclaimer *reclaimer = reactor->reclaimers; reclaimer; reclaimer = reclaimer->next)
        if (reclaimer->close_some(reclaimer))
            return 1;
    return 0;
}

/* Ruby's own IOs collect for the same reason. */
int pel_try_again_p(struct pel_reactor *reactor, int code)
{
    if (code != PEL_ESYSTEM || (errno != EMFILE && errno != ENFILE))
        return 0;
    if (!pel_reclaim_descriptors(reactor))
        rb_gc();
    return 1;
}

void pel_init_reactor(void)
{
    id_reactor = rb_intern("pelton_reactor"); /* no "@": hidden from Ruby */
    pel_cReactor = rb_define_class_under(pel_mPelton, "Reactor", rb_cObject);
    rb_define_alloc_func(pel_cReactor, reactor_allocate);
    rb_undef_method(rb_singleton_class(pel_cReactor), "new"); /* a thread has one, Reactor.current */
    rb_define_private_method(pel_cReactor, "initialize", reactor_initialize, 0);
}
