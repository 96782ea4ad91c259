#include "ruby/operation/operation.h"

#include "ruby/base/protect.h"
#include "ruby/reactor/yield.h"

/* Pelton::Operation's methods, except timeout (operation_timeout.c). */

static VALUE operation_callback(VALUE self)
{
    pel_operation_add_block(self, PEL_SUCCEEDED, pel_inherit(rb_block_proc()));
    return self;
}

static VALUE operation_errback(VALUE self)
{
    pel_operation_add_block(self, PEL_FAILED, pel_inherit(rb_block_proc()));
    return self;
}

static VALUE settle_by_user(int argc, const VALUE *argv, VALUE self, enum pel_state state)
{
    VALUE result = argc == 0 ? Qnil : argc == 1 ? argv[0] : rb_ary_new_from_values(argc, argv);

    pel_operation_settle(pel_operation_get(self), state, result, argc > 1);
    pel_operation_written(self);
    RB_GC_GUARD(result);
    return self;
}

static VALUE operation_succeed(int argc, VALUE *argv, VALUE self)
{
    return settle_by_user(argc, argv, self, PEL_SUCCEEDED);
}

static VALUE operation_fail(int argc, VALUE *argv, VALUE self)
{
    return settle_by_user(argc, argv, self, PEL_FAILED);
}

/* Blocks that were registered before an await have begun when it returns. */
static void start_blocks(struct pel_reactor *reactor, struct pel_operation *operation)
{
    int state = 0;

    if (reactor->phase == PEL_IDLE) {
        while (!state && pel_operation_deliver(reactor, &state))
            ;
        if (state)
            pel_rethrow(state);
    } else if (operation->queued && reactor->thread == rb_thread_current()) {
        pel_yield(reactor);
    }
}

/* _await(seconds or nil) */
static VALUE operation_await(VALUE self, VALUE timeout)
{
    struct pel_operation *operation = pel_operation_get(self);
    struct pel_reactor *reactor = operation->reactor;
    int state = 0, timed_out = 0;

    if (operation->state == PEL_PENDING) {
        int64_t deadline = NIL_P(timeout) ? PEL_FOREVER : pel_now() + pel_nanoseconds(timeout);
        if (reactor->thread != rb_thread_current())
            rb_raise(pel_eError, "an operation is awaited on the thread of its reactor");
        timed_out = pel_operation_wait(reactor, operation, deadline, &state);
    }
    if (state)
        pel_rethrow(state);
    if (timed_out)
        pel_raise(PEL_ETIMEOUT, 0, NULL);
    operation->handled = 1;
    start_blocks(reactor, operation);
    RB_GC_GUARD(self);
    if (operation->state == PEL_FAILED)
        pel_operation_raise(operation->result);
    return operation->result;
}

static VALUE operation_state(VALUE self)
{
    static const char *const names[] = {"pending", "succeeded", "failed"};
    return ID2SYM(rb_intern(names[pel_operation_get(self)->state]));
}

static VALUE operation_done_p(VALUE self)
{
    return pel_operation_get(self)->state == PEL_PENDING ? Qfalse : Qtrue;
}

/* result: the value or the error; nil while the operation is pending. */
static VALUE operation_result(VALUE self)
{
    struct pel_operation *operation = pel_operation_get(self);
    return operation->state == PEL_PENDING ? Qnil : operation->result;
}

static void deliver_at_exit(VALUE unused)
{
    (void)unused;
    pel_operation_deliver_all();
}

void pel_init_operation(void)
{
    rb_set_end_proc(deliver_at_exit, Qnil);
    pel_cOperation = rb_define_class_under(pel_mPelton, "Operation", rb_cObject);
    rb_define_alloc_func(pel_cOperation, pel_operation_allocate);
    rb_define_method(pel_cOperation, "callback", operation_callback, 0);
    rb_define_method(pel_cOperation, "errback", operation_errback, 0);
    rb_define_method(pel_cOperation, "succeed", operation_succeed, -1);
    rb_define_method(pel_cOperation, "fail", operation_fail, -1);
    rb_define_private_method(pel_cOperation, "_await", operation_await, 1);
    rb_define_method(pel_cOperation, "state", operation_state, 0);
    rb_define_method(pel_cOperation, "done?", operation_done_p, 0);
    rb_define_method(pel_cOperation, "result", operation_result, 0);
    pel_init_operation_timeout(pel_operation_settle);
}
