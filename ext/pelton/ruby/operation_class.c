#include "operation.h"

#include "error.h"
#include "protect.h"

VALUE pel_cOperation;

static void operation_mark(void *data)
{
    struct pel_operation *operation = data;

    if (!operation)
        return;
    pel_operation_mark(operation);
    rb_gc_mark(operation->reactor->self); /* it may outlive the thread */
}

static void operation_free(void *data)
{
    if (data)
        pel_operation_release(data);
}

static size_t operation_size(const void *data)
{
    return data ? sizeof(struct pel_operation) : 0;
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: the record is written by its producer, which does not know the object.
 */
static const rb_data_type_t operation_type = {
    .wrap_struct_name = "Pelton::Operation",
    .function = {.dmark = operation_mark, .dfree = operation_free, .dsize = operation_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

VALUE pel_operation_object(struct pel_operation *operation, VALUE class)
{
    VALUE self = TypedData_Wrap_Struct(class, &operation_type, operation);

    operation->references++;
    return self;
}

static VALUE operation_allocate(VALUE class)
{
    VALUE self = TypedData_Wrap_Struct(class, &operation_type, NULL);

    RTYPEDDATA_DATA(self) = pel_operation_new(pel_reactor_current(), 0);
    return self;
}

struct pel_operation *pel_operation_get(VALUE self)
{
    return rb_check_typeddata(self, &operation_type);
}

static VALUE operation_callback(VALUE self)
{
    pel_operation_listen(pel_operation_get(self), PEL_SUCCEEDED, rb_block_proc());
    return self;
}

static VALUE operation_errback(VALUE self)
{
    pel_operation_listen(pel_operation_get(self), PEL_FAILED, rb_block_proc());
    return self;
}

static VALUE settle_by_user(int argc, const VALUE *argv, VALUE self, enum pel_state state)
{
    struct pel_operation *operation = pel_operation_get(self);

    if (argc == 1)
        pel_operation_settle(operation, state, argv[0], 0);
    else if (argc == 0)
        pel_operation_settle(operation, state, Qnil, 0);
    else
        pel_operation_settle(operation, state, rb_ary_new_from_values(argc, argv), 1);
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

/* _await(seconds or nil) */
static VALUE operation_await(VALUE self, VALUE timeout)
{
    struct pel_operation *operation = pel_operation_get(self);
    struct pel_reactor *reactor = operation->reactor;
    int state = 0, late = 0;

    if (operation->state == PEL_PENDING) {
        int64_t deadline = NIL_P(timeout) ? PEL_FOREVER : pel_now() + pel_nanoseconds(timeout);
        if (reactor->thread != rb_thread_current())
            rb_raise(pel_eError, "an operation is awaited on the thread of its reactor");
        late = pel_operation_wait(reactor, operation, deadline, &state);
    } else if (reactor->phase == PEL_IDLE) {
        operation->heard = 1;
        while (!state && pel_operation_deliver(reactor, &state))
            ;
    }
    if (state)
        pel_rethrow(state);
    if (late)
        pel_raise(PEL_ETIMEOUT, 0, NULL);
    RB_GC_GUARD(self);
    operation->heard = 1;
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

/* The value or the error; nil while it is pending. */
static VALUE operation_result(VALUE self)
{
    struct pel_operation *operation = pel_operation_get(self);
    return operation->state == PEL_PENDING ? Qnil : operation->result;
}

static void at_exit(VALUE unused)
{
    (void)unused;
    pel_operation_deliver_rest();
}

void pel_init_operation(void)
{
    rb_set_end_proc(at_exit, Qnil);
    pel_cOperation = rb_define_class_under(pel_mPelton, "Operation", rb_cObject);
    rb_define_alloc_func(pel_cOperation, operation_allocate);
    rb_define_method(pel_cOperation, "callback", operation_callback, 0);
    rb_define_method(pel_cOperation, "errback", operation_errback, 0);
    rb_define_method(pel_cOperation, "succeed", operation_succeed, -1);
    rb_define_method(pel_cOperation, "fail", operation_fail, -1);
    rb_define_private_method(pel_cOperation, "_await", operation_await, 1);
    rb_define_method(pel_cOperation, "state", operation_state, 0);
    rb_define_method(pel_cOperation, "done?", operation_done_p, 0);
    rb_define_method(pel_cOperation, "result", operation_result, 0);
}
