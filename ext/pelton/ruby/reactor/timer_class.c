#include "ruby/reactor/reactor.h"

#include "core/base/slab.h"

/* Pelton::Timer: calls a block once or periodically. One-shot timers keep run going, periodic timers do not. */

struct timer {
    struct pel_reactor_timer base; /* first */
    struct pel_root root;
    struct pel_reactor *reactor;
    VALUE self, block;
    int64_t interval; /* nanoseconds; 0: one-shot */
    unsigned fork_generation;
    uint8_t due; /* the timer has expired, and its block is about to be called */
};

static void timer_mark(void *data)
{
    struct timer *timer = data;

    rb_gc_mark(timer->self); /* pinned: C keeps its address */
    rb_gc_mark(timer->block);
    rb_gc_mark(timer->reactor->self); /* the timer may outlive the thread */
}

static size_t timer_size(const void *data)
{
    return sizeof(struct timer);
}

static VALUE cTimer;
static struct pel_slab timers = PEL_SLAB(struct timer); /* guarded by the GVL */

/* An armed timer is a GC root, so it is freed only together with its reactor, in any order. If the reactor was freed
 * first, the timer is inactive. */
static void timer_free(void *data)
{
    struct timer *timer = data;

    if (pel_timer_active(&timer->base.entry) && timer->fork_generation == pel_fork_generation)
        pel_timer_cancel(&timer->reactor->loop.timers, &timer->base.entry);
    pel_slab_give(&timers, timer);
}

static const rb_data_type_t timer_type = {.wrap_struct_name = "Pelton::Timer",
                                          .function = {.dmark = timer_mark, .dfree = timer_free, .dsize = timer_size},
                                          .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static void disarm_timer(struct timer *timer)
{
    if (!timer->root.next)
        return;
    timer->due = 0;
    pel_timer_cancel(&timer->reactor->loop.timers, &timer->base.entry);
    pel_roots_remove(&timer->reactor->roots, &timer->root);
    if (!timer->interval)
        timer->reactor->references--;
}

static void stop_timer(struct pel_reactor *reactor, struct pel_root *root)
{
    struct timer *timer = PEL_LINKED(struct timer, root, root);

    timer->due = 0;
    pel_timer_cancel(&reactor->loop.timers, &timer->base.entry);
    if (!timer->interval)
        reactor->references--;
}

static void run_timer(struct pel_reactor *reactor, void *data)
{
    struct timer *timer = data;
    VALUE block = timer->block;

    if (!timer->due) /* the timer was cancelled meanwhile */
        return;
    timer->due = 0;
    if (!timer->interval)
        disarm_timer(timer);
    rb_proc_call_with_block(block, 0, NULL, Qnil);
    RB_GC_GUARD(block);
}

static void timer_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *expired)
{
    struct timer *timer = (struct timer *)expired;

    if (timer->interval) {
        /* Counted from the deadline, not from now, so that a periodic timer does not drift. A loop that is late skips
         * the intervals that it has missed. */
        int64_t next = expired->entry.deadline + timer->interval, now = reactor->loop.now;
        pel_timer_add(&reactor->loop.timers, &expired->entry, next > now ? next : now + timer->interval);
    }
    if (timer->due)
        return;
    timer->due = 1;
    pel_enqueue_due(reactor, (struct pel_job){.run = run_timer, .data = timer, .object = timer->self});
}

static void arm_timer(VALUE self, struct timer *timer, int64_t nanoseconds)
{
    timer->due = 0;
    pel_timer_add(&timer->reactor->loop.timers, &timer->base.entry, pel_now() + nanoseconds);
    if (__atomic_load_n(&timer->reactor->loop.waiting, __ATOMIC_RELAXED)) /* another thread calls this */
        pel_loop_wake(&timer->reactor->loop);
    if (timer->root.next)
        return;
    timer->root.stop = stop_timer;
    pel_roots_add(&timer->reactor->roots, &timer->root, self);
    if (!timer->interval)
        timer->reactor->references++;
}

static VALUE new_timer(VALUE seconds, int periodic, const char *method)
{
    struct pel_reactor *reactor = pel_reactor_running(method);
    int64_t nanoseconds = pel_nanoseconds(seconds);
    struct timer *timer;
    VALUE self, block;

    if (!rb_block_given_p())
        rb_raise(rb_eArgError, "%s needs a block", method);
    block = pel_inherit(rb_block_proc());
    if (!(timer = pel_slab_take(&timers)))
        rb_memerror();
    timer->self = timer->block = Qnil;
    timer->reactor = reactor;
    timer->fork_generation = pel_fork_generation;
    timer->base.on_timeout = timer_on_timeout;
    self = TypedData_Wrap_Struct(cTimer, &timer_type, timer);
    timer->self = self;
    timer->interval = !periodic ? 0 : nanoseconds ? nanoseconds : 1;
    RB_OBJ_WRITE(self, &timer->block, block);
    arm_timer(self, timer, nanoseconds);
    return self;
}

static VALUE pelton_add_timer(VALUE module, VALUE seconds)
{
    return new_timer(seconds, 0, "Pelton.add_timer");
}

static VALUE pelton_add_periodic_timer(VALUE module, VALUE seconds)
{
    return new_timer(seconds, 1, "Pelton.add_periodic_timer");
}

static VALUE timer_cancel(VALUE self)
{
    struct timer *timer = rb_check_typeddata(self, &timer_type);
    VALUE active = timer->root.next ? Qtrue : Qfalse;

    disarm_timer(timer);
    return active;
}

/* restart(seconds): counted from now. */
static VALUE timer_restart(VALUE self, VALUE seconds)
{
    struct timer *timer = rb_check_typeddata(self, &timer_type);
    int64_t nanoseconds = pel_nanoseconds(seconds);

    if (timer->reactor->phase == PEL_IDLE || timer->fork_generation != pel_fork_generation)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("NotRunningError")), "this timer's reactor does not run any more");
    if (timer->interval)
        timer->interval = nanoseconds ? nanoseconds : 1;
    arm_timer(self, timer, nanoseconds);
    return self;
}

static VALUE timer_active_p(VALUE self)
{
    return ((struct timer *)rb_check_typeddata(self, &timer_type))->root.next ? Qtrue : Qfalse;
}

void pel_init_timer(void)
{
    cTimer = rb_define_class_under(pel_mPelton, "Timer", rb_cObject);

    rb_undef_alloc_func(cTimer);
    rb_define_singleton_method(pel_mPelton, "add_timer", pelton_add_timer, 1);
    rb_define_singleton_method(pel_mPelton, "add_periodic_timer", pelton_add_periodic_timer, 1);
    rb_define_method(cTimer, "cancel", timer_cancel, 0);
    rb_define_method(cTimer, "restart", timer_restart, 1);
    rb_define_method(cTimer, "active?", timer_active_p, 0);
}
