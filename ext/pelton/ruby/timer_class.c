#include "reactor.h"

#include <math.h>
#include "../core/slab.h"

/* Pelton::Timer: calls a block once, or again and again. One-shot timers keep run going, periodic ones do not. */

struct timer {
    struct pel_alarm alarm; /* first */
    struct pel_listed listed;
    struct pel_reactor *reactor;
    VALUE self, block;
    int64_t interval; /* nanoseconds; 0: one-shot */
    unsigned fork_generation;
    uint8_t due; /* it has rung, and its block is to be called */
};

int64_t pel_nanoseconds(VALUE seconds)
{
    double value = NUM2DBL(seconds);

    if (isnan(value))
        rb_raise(rb_eArgError, "seconds must be a number, not NaN");
    if (value <= 0)
        return 0;
    return value >= 4e9 ? PEL_FOREVER / 2 : (int64_t)(value * 1e9); /* 126 years are for ever */
}

static void timer_mark(void *data)
{
    struct timer *timer = data;

    rb_gc_mark(timer->self); /* pinned: C keeps it */
    rb_gc_mark(timer->block);
    rb_gc_mark(timer->reactor->self); /* it may outlive the thread */
}

static size_t timer_size(const void *data)
{
    return sizeof(struct timer);
}

static VALUE cTimer;
static struct pel_slab records = PEL_SLAB(struct timer); /* guarded by the GVL */

/* An armed timer is listed, so it is freed only together with its reactor, before or after it. After: it is inactive.
 */
static void timer_free(void *data)
{
    struct timer *timer = data;

    if (pel_timer_active(&timer->alarm.timer) && timer->fork_generation == pel_fork_generation)
        pel_timer_cancel(&timer->reactor->loop.timers, &timer->alarm.timer);
    pel_slab_give(&records, timer);
}

static const rb_data_type_t timer_type = {.wrap_struct_name = "Pelton::Timer",
                                          .function = {.dmark = timer_mark, .dfree = timer_free, .dsize = timer_size},
                                          .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static void disarm(struct timer *timer)
{
    if (!timer->listed.next)
        return;
    timer->due = 0;
    pel_timer_cancel(&timer->reactor->loop.timers, &timer->alarm.timer);
    pel_list_remove(&timer->reactor->list, &timer->listed);
    if (!timer->interval)
        timer->reactor->references--;
}

static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    struct timer *timer = (struct timer *)((char *)listed - offsetof(struct timer, listed));

    timer->due = 0;
    pel_timer_cancel(&reactor->loop.timers, &timer->alarm.timer);
    if (!timer->interval)
        reactor->references--;
}

static void call_block(struct pel_reactor *reactor, void *data)
{
    struct timer *timer = data;
    VALUE block = timer->block;

    if (!timer->due) /* cancelled meanwhile */
        return;
    timer->due = 0;
    if (!timer->interval)
        disarm(timer);
    rb_proc_call_with_block(block, 0, NULL, Qnil);
    RB_GC_GUARD(block);
}

static void mark_timer(void *data)
{
    rb_gc_mark(((struct timer *)data)->self);
}

static void ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct timer *timer = (struct timer *)alarm;

    if (timer->interval) {
        /* From the deadline, not from now: a periodic timer does not drift. A loop that was late skips the lost ones.
         */
        int64_t next = alarm->timer.deadline + timer->interval, now = reactor->loop.now;
        pel_timer_add(&reactor->loop.timers, &alarm->timer, next > now ? next : now + timer->interval);
    }
    if (timer->due)
        return;
    timer->due = 1;
    pel_enqueue_due(reactor, (struct pel_job){.run = call_block, .mark = mark_timer, .data = timer});
}

static void arm(VALUE self, struct timer *timer, int64_t nanoseconds)
{
    timer->due = 0;
    pel_timer_add(&timer->reactor->loop.timers, &timer->alarm.timer, pel_now() + nanoseconds);
    if (__atomic_load_n(&timer->reactor->loop.waiting, __ATOMIC_RELAXED)) /* from another thread */
        pel_loop_wake(&timer->reactor->loop);
    if (timer->listed.next)
        return;
    timer->listed.stop = stop;
    pel_list_add(&timer->reactor->list, &timer->listed, self);
    if (!timer->interval)
        timer->reactor->references++;
}

static VALUE new_timer(VALUE seconds, int periodic, const char *what)
{
    struct pel_reactor *reactor = pel_reactor_running(what);
    int64_t nanoseconds = pel_nanoseconds(seconds);
    struct timer *timer;
    VALUE self, block;

    if (!rb_block_given_p())
        rb_raise(rb_eArgError, "%s needs a block", what);
    block = rb_block_proc();
    if (!(timer = pel_slab_take(&records)))
        rb_memerror();
    timer->self = timer->block = Qnil;
    timer->reactor = reactor;
    timer->fork_generation = pel_fork_generation;
    timer->alarm.ring = ring;
    self = TypedData_Wrap_Struct(cTimer, &timer_type, timer);
    timer->self = self;
    timer->interval = !periodic ? 0 : nanoseconds ? nanoseconds : 1;
    RB_OBJ_WRITE(self, &timer->block, block);
    arm(self, timer, nanoseconds);
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
    VALUE active = timer->listed.next ? Qtrue : Qfalse;

    disarm(timer);
    return active;
}

/* restart(seconds): from now on. */
static VALUE timer_restart(VALUE self, VALUE seconds)
{
    struct timer *timer = rb_check_typeddata(self, &timer_type);
    int64_t nanoseconds = pel_nanoseconds(seconds);

    if (timer->reactor->phase == PEL_IDLE || timer->fork_generation != pel_fork_generation)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("NotRunningError")), "this timer's reactor does not run any more");
    if (timer->interval)
        timer->interval = nanoseconds ? nanoseconds : 1;
    arm(self, timer, nanoseconds);
    return self;
}

static VALUE timer_active_p(VALUE self)
{
    return ((struct timer *)rb_check_typeddata(self, &timer_type))->listed.next ? Qtrue : Qfalse;
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
