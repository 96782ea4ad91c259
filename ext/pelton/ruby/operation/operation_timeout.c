#include "ruby/operation/operation.h"

/* Operation#timeout: a timer that fails the operation. Few operations have one, so the record has only a bit for it,
 * and a table finds the timer. */

struct operation_timeout {
    struct pel_reactor_timer timer; /* first */
    struct pel_root root;
    struct pel_operation *operation; /* referenced while the timer is armed; NULL */
    VALUE object, error;             /* the Pelton::Operation; the error that it fails with */
    unsigned fork_generation;
};

/* operation => its timeout. Guarded by the GVL. */
static st_table *timeouts;

static void (*settle)(struct pel_operation *operation, enum pel_state state, VALUE result, int splat);

static void operation_timeout_mark(void *data)
{
    struct operation_timeout *timeout = data;

    rb_gc_mark(timeout->object);
    rb_gc_mark(timeout->error);
}

static size_t operation_timeout_size(const void *data)
{
    return sizeof(struct operation_timeout);
}

static void forget_operation_timeout(struct operation_timeout *timeout)
{
    st_data_t key = (st_data_t)timeout->operation;

    st_delete(timeouts, &key, NULL);
    timeout->operation->has_timeout = 0;
    pel_operation_release(timeout->operation);
    timeout->operation = NULL;
}

/* An armed timeout is a GC root, so it is freed only together with its reactor, in any order. If the reactor was freed
 * first, the timer is inactive. In a child after a fork it is still active, and must be left alone. */
static void operation_timeout_free(void *data)
{
    struct operation_timeout *timeout = data;

    if (pel_timer_active(&timeout->timer.entry) && timeout->fork_generation == pel_fork_generation)
        pel_timer_cancel(&timeout->operation->reactor->loop.timers, &timeout->timer.entry);
    if (timeout->operation)
        forget_operation_timeout(timeout);
    PEL_FREE(timeout);
}

static const rb_data_type_t operation_timeout_type = {
    .wrap_struct_name = "Pelton::Operation timeout",
    .function = {.dmark = operation_timeout_mark, .dfree = operation_timeout_free, .dsize = operation_timeout_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static struct operation_timeout *operation_timeout_of(struct pel_operation *operation)
{
    st_data_t timeout = 0;

    return operation->has_timeout && st_lookup(timeouts, (st_data_t)operation, &timeout)
               ? (struct operation_timeout *)timeout
               : NULL;
}

static void disarm_operation_timeout(struct operation_timeout *timeout)
{
    struct pel_reactor *reactor = timeout->operation->reactor;

    pel_timer_cancel(&reactor->loop.timers, &timeout->timer.entry);
    pel_roots_remove(&reactor->roots, &timeout->root);
    reactor->references--;
    forget_operation_timeout(timeout);
}

static void stop_operation_timeout(struct pel_reactor *reactor, struct pel_root *root)
{
    disarm_operation_timeout(PEL_LINKED(struct operation_timeout, root, root));
}

static void operation_timeout_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct operation_timeout *timeout = (struct operation_timeout *)timer;
    VALUE object = timeout->object, error = timeout->error;

    settle(timeout->operation, PEL_FAILED, error, 0);
    pel_operation_written(object);
    RB_GC_GUARD(error);
}

void pel_operation_clear_timeout(struct pel_operation *operation)
{
    struct operation_timeout *timeout = operation_timeout_of(operation);

    if (timeout)
        disarm_operation_timeout(timeout);
}

static struct operation_timeout *new_operation_timeout(VALUE object, struct pel_operation *operation)
{
    struct operation_timeout *timeout;
    VALUE self = TypedData_Make_Struct(0, struct operation_timeout, &operation_timeout_type, timeout);

    timeout->timer.on_timeout = operation_timeout_on_timeout;
    timeout->root.stop = stop_operation_timeout;
    timeout->fork_generation = pel_fork_generation;
    timeout->operation = operation;
    operation->references++;
    timeout->object = object;
    timeout->error = Qnil;
    st_insert(timeouts, (st_data_t)operation, (st_data_t)timeout);
    operation->has_timeout = 1;
    operation->reactor->references++;
    pel_roots_add(&operation->reactor->roots, &timeout->root, self);
    return timeout;
}

/* timeout(seconds or nil): replaces an earlier timeout. */
static VALUE operation_timeout(VALUE self, VALUE seconds)
{
    struct pel_operation *operation = pel_operation_get(self);
    struct operation_timeout *timeout;
    int64_t nanoseconds;
    VALUE error;

    pel_operation_clear_timeout(operation);
    if (NIL_P(seconds) || operation->state != PEL_PENDING)
        return self;
    nanoseconds = pel_nanoseconds(seconds);
    error = pel_error_new(PEL_ETIMEOUT, 0, NULL);
    timeout = new_operation_timeout(self, operation);
    timeout->error = error;
    pel_timer_add(&operation->reactor->loop.timers, &timeout->timer.entry, pel_now() + nanoseconds);
    if (__atomic_load_n(&operation->reactor->loop.waiting, __ATOMIC_RELAXED)) /* another thread calls this */
        pel_loop_wake(&operation->reactor->loop);
    return self;
}

void pel_init_operation_timeout(void (*settle_operation)(struct pel_operation *, enum pel_state, VALUE, int))
{
    settle = settle_operation;
    timeouts = st_init_numtable();
    rb_define_method(pel_cOperation, "timeout", operation_timeout, 1);
}
