#include "operation.h"

#include "error.h"

/*
 * Operation#timeout: an alarm that fails the operation. Few operations have one, so their records have no place for it,
 * but a bit: the alarm is found by a table. */

struct limit {
    struct pel_alarm alarm; /* first */
    struct pel_listed listed;
    struct pel_operation *operation; /* referred to while it is armed; NULL */
    VALUE object, error;             /* the Pelton::Operation; what it fails with */
    unsigned fork_generation;
};

/* operation => limit. Guarded by the GVL. */
static st_table *limits;
static VALUE cLimit;

static void limit_mark(void *data)
{
    struct limit *limit = data;

    rb_gc_mark(limit->object);
    rb_gc_mark(limit->error);
}

static size_t limit_size(const void *data)
{
    return sizeof(struct limit);
}

static void forget(struct limit *limit)
{
    st_data_t key = (st_data_t)limit->operation;

    st_delete(limits, &key, NULL);
    limit->operation->limited = 0;
    pel_operation_release(limit->operation);
    limit->operation = NULL;
}

/* One that is armed is listed, so it is freed only together with its reactor, before or after it. After: its timer is
 * inactive; but not in a child after a fork, which leaves it alone. */
static void limit_free(void *data)
{
    struct limit *limit = data;

    if (pel_timer_active(&limit->alarm.timer) && limit->fork_generation == pel_fork_generation)
        pel_timer_cancel(&limit->operation->reactor->loop.timers, &limit->alarm.timer);
    if (limit->operation)
        forget(limit);
    xfree(limit);
}

static const rb_data_type_t limit_type = {.wrap_struct_name = "Pelton::Operation::Limit",
                                          .function = {.dmark = limit_mark, .dfree = limit_free, .dsize = limit_size},
                                          .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static struct limit *limit_of(struct pel_operation *operation)
{
    st_data_t limit = 0;

    return operation->limited && st_lookup(limits, (st_data_t)operation, &limit) ? (struct limit *)limit : NULL;
}

static void disarm(struct limit *limit)
{
    struct pel_reactor *reactor = limit->operation->reactor;

    pel_timer_cancel(&reactor->loop.timers, &limit->alarm.timer);
    pel_list_remove(&reactor->list, &limit->listed);
    reactor->references--;
    forget(limit);
}

static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    disarm((struct limit *)((char *)listed - offsetof(struct limit, listed)));
}

static void ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct limit *limit = (struct limit *)alarm;

    pel_operation_settle(limit->operation, PEL_FAILED, limit->error, 0);
}

void pel_operation_unlimit(struct pel_operation *operation)
{
    struct limit *limit = limit_of(operation);

    if (limit)
        disarm(limit);
}

static struct limit *new_limit(VALUE object, struct pel_operation *operation)
{
    struct limit *limit;
    VALUE self = TypedData_Make_Struct(cLimit, struct limit, &limit_type, limit);

    limit->alarm.ring = ring;
    limit->listed.stop = stop;
    limit->fork_generation = pel_fork_generation;
    limit->operation = operation;
    operation->references++;
    limit->object = object;
    limit->error = Qnil;
    st_insert(limits, (st_data_t)operation, (st_data_t)limit);
    operation->limited = 1;
    operation->reactor->references++;
    pel_list_add(&operation->reactor->list, &limit->listed, self);
    return limit;
}

/* timeout(seconds or nil) */
static VALUE operation_timeout(VALUE self, VALUE seconds)
{
    struct pel_operation *operation = pel_operation_get(self);
    struct limit *limit;
    int64_t nanoseconds;
    VALUE error;

    pel_operation_unlimit(operation);
    if (NIL_P(seconds) || operation->state != PEL_PENDING)
        return self;
    nanoseconds = pel_nanoseconds(seconds);
    error = pel_error_new(PEL_ETIMEOUT, 0, NULL);
    limit = new_limit(self, operation);
    limit->error = error;
    pel_timer_add(&operation->reactor->loop.timers, &limit->alarm.timer, pel_now() + nanoseconds);
    if (__atomic_load_n(&operation->reactor->loop.waiting, __ATOMIC_RELAXED)) /* called by another thread */
        pel_loop_wake(&operation->reactor->loop);
    return self;
}

void pel_init_operation_timeout(void)
{
    limits = st_init_numtable();
    cLimit = rb_define_class_under(pel_cOperation, "Limit", rb_cObject);
    rb_undef_alloc_func(cLimit);
    rb_funcall(pel_cOperation, rb_intern("private_constant"), 1, ID2SYM(rb_intern("Limit")));
    rb_define_method(pel_cOperation, "timeout", operation_timeout, 1);
}
