#include "operation.h"

#include "../core/slab.h"
#include "error.h"
#include "protect.h"

VALUE pel_cOperation;
static VALUE cTask;

/* ---- the record ----------------------------------------------------------------------------------------------- */

/* Records come and go by the hundred thousand. Guarded by the GVL. */
static struct pel_slab records = PEL_SLAB(struct pel_operation);

struct pel_operation *pel_operation_new(struct pel_reactor *reactor, int counted)
{
    struct pel_operation *operation = pel_slab_take(&records);

    if (!operation)
        rb_memerror();
    operation->reactor = reactor;
    operation->result = Qundef;
    operation->references = 1;
    operation->counted = counted;
    if (counted)
        reactor->references++;
    return operation;
}

void pel_operation_release(struct pel_operation *operation)
{
    if (--operation->references == 0)
        pel_slab_give(&records, operation);
}

void pel_operation_mark(struct pel_operation *operation)
{
    if (operation->callbacks)
        rb_gc_mark(operation->callbacks);
    if (operation->errbacks)
        rb_gc_mark(operation->errbacks);
    if (operation->result != Qundef)
        rb_gc_mark(operation->result);
}

static void mark_job(void *data)
{
    pel_operation_mark(data);
}

/* ---- completion ----------------------------------------------------------------------------------------------- */

static void call_one(VALUE proc, VALUE result, int splat)
{
    if (splat)
        rb_proc_call_with_block(proc, (int)RARRAY_LEN(result), RARRAY_CONST_PTR(result), Qnil);
    else
        rb_proc_call_with_block(proc, 1, &result, Qnil);
}

struct delivery {
    VALUE proc, result;
    int splat;
};

static VALUE call_protected(VALUE argument)
{
    struct delivery *delivery = (struct delivery *)argument;
    call_one(delivery->proc, delivery->result, delivery->splat);
    return Qnil;
}

/* Calls what listens, in order. An error in one does not keep the next from being called. */
static void deliver(struct pel_reactor *reactor, void *data)
{
    struct pel_operation *operation = data;
    VALUE blocks = operation->state == PEL_SUCCEEDED ? operation->callbacks : operation->errbacks;
    VALUE result = operation->result;
    int splat = operation->splat;

    operation->queued = 0;
    operation->callbacks = operation->errbacks = Qfalse;
    if (operation->state == PEL_FAILED && !operation->heard) {
        operation->heard = 1;
        pel_operation_release(operation);
        if (rb_obj_is_kind_of(result, rb_eException))
            pel_uncaught(reactor, result);
        return;
    }
    pel_operation_release(operation);
    if (!blocks)
        return;
    if (!RB_TYPE_P(blocks, T_ARRAY)) {
        call_one(blocks, result, splat);
        return;
    }
    for (long i = 0; i < RARRAY_LEN(blocks); i++) {
        struct delivery delivery = {.proc = RARRAY_AREF(blocks, i), .result = result, .splat = splat};
        pel_dispatch(reactor, call_protected, (VALUE)&delivery);
    }
    RB_GC_GUARD(blocks);
    RB_GC_GUARD(result);
}

static void mark_chain(void *data)
{
    for (struct pel_operation *operation = data; operation; operation = operation->next)
        pel_operation_mark(operation);
}

static void deliver_chain(struct pel_reactor *reactor, void *data)
{
    struct pel_operation *operation = data;

    if (operation->next)
        pel_enqueue_first(reactor, (struct pel_job){.run = deliver_chain, .mark = mark_chain, .data = operation->next});
    deliver(reactor, operation);
}

/* `unlinked`: its producer has taken it off its list, so that its link is free: operations that are settled one after
 * the other make one job, not thousands. */
static void enqueue_delivery(struct pel_operation *operation, int unlinked)
{
    struct pel_reactor *reactor = operation->reactor;
    struct pel_job *last = pel_last_job(reactor);

    if (operation->queued)
        return;
    operation->queued = 1;
    operation->references++;
    if (!unlinked) {
        pel_enqueue(reactor, (struct pel_job){.run = deliver, .mark = mark_job, .data = operation});
        return;
    }
    operation->next = NULL;
    if (last && last->run == deliver_chain)
        reactor->chain_end->next = operation;
    else
        pel_enqueue(reactor, (struct pel_job){.run = deliver_chain, .mark = mark_chain, .data = operation});
    reactor->chain_end = operation;
}

static void settle(struct pel_operation *operation, enum pel_state state, VALUE result, int splat, int unlinked)
{
    struct pel_waiter *waiter, *next;

    if (operation->state != PEL_PENDING)
        return;
    operation->state = state;
    operation->result = result;
    operation->splat = splat;
    if (operation->counted)
        operation->reactor->references--;
    for (waiter = operation->awaiters; waiter; waiter = next) {
        next = waiter->next_awaiter;
        pel_waiter_fire(operation->reactor, waiter);
        operation->heard = 1;
    }
    if (operation->errbacks)
        operation->heard = 1;
    /* A failure goes on the queue even when nobody listens: whoever comes until then is in time. */
    if (state == PEL_SUCCEEDED ? operation->callbacks != Qfalse : operation->errbacks || !operation->heard)
        enqueue_delivery(operation, unlinked);
}

void pel_operation_succeed(struct pel_operation *operation, VALUE value)
{
    settle(operation, PEL_SUCCEEDED, value, 0, 1);
}

void pel_operation_fail(struct pel_operation *operation, VALUE error)
{
    settle(operation, PEL_FAILED, error, 0, 1);
}

static void add_block(VALUE *blocks, VALUE block)
{
    if (!*blocks) {
        *blocks = block;
    } else if (RB_TYPE_P(*blocks, T_ARRAY)) {
        rb_ary_push(*blocks, block);
    } else {
        VALUE both = rb_ary_new_capa(2);
        rb_ary_push(both, *blocks);
        rb_ary_push(both, block);
        *blocks = both;
    }
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

NORETURN(static void raise_failure(VALUE error));

static void raise_failure(VALUE error)
{
    if (!rb_obj_is_kind_of(error, rb_eException))
        rb_raise(pel_eError, "the operation failed: %+" PRIsVALUE, error);
    /* One error may have failed many operations: each raise gets a backtrace of its own. */
    if (!NIL_P(rb_funcall(error, rb_intern("backtrace"), 0)))
        error = rb_funcall(error, rb_intern("exception"), 1, rb_funcall(error, rb_intern("message"), 0));
    rb_exc_raise(error);
}

static VALUE value_or_raise(struct pel_operation *operation)
{
    VALUE result = operation->result;

    if (operation->state == PEL_FAILED) {
        operation->heard = 1;
        raise_failure(result);
    }
    return result;
}

static void remove_awaiter(struct pel_operation *operation, struct pel_waiter *waiter)
{
    struct pel_waiter **link = &operation->awaiters;

    while (*link && *link != waiter)
        link = &(*link)->next_awaiter;
    if (*link)
        *link = waiter->next_awaiter;
}

/* 0 when it is settled; 1 when the deadline came first; otherwise *state is set. */
static int wait_until_settled(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline,
                              int *state)
{
    struct pel_waiter waiter = {.exception = Qfalse, .next_awaiter = operation->awaiters};

    operation->awaiters = &waiter;
    *state = pel_park_protected(reactor, &waiter, deadline);
    remove_awaiter(operation, &waiter);
    return waiter.timed_out && operation->state == PEL_PENDING;
}

static void abandon(struct pel_operation *operation)
{
    operation->heard = 1;
    settle(operation, PEL_FAILED, Qnil, 0, 0);
}

VALUE pel_operation_await(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline)
{
    VALUE result;
    int state = 0, late;

    operation->references++;
    late = operation->state == PEL_PENDING && wait_until_settled(reactor, operation, deadline, &state);
    if (state || late) {
        abandon(operation);
        pel_operation_release(operation);
        if (state)
            pel_rethrow(state);
        pel_raise(PEL_ETIMEOUT, 0, NULL);
    }
    result = operation->result;
    state = operation->state;
    operation->heard = 1;
    pel_operation_release(operation);
    if (state == PEL_FAILED)
        raise_failure(result);
    return result;
}

VALUE pel_operation_finish(struct pel_reactor *reactor, struct pel_operation *operation, VALUE block, int later,
                           int64_t deadline)
{
    VALUE object;

    if (NIL_P(block) && !later)
        return pel_operation_await(reactor, operation, deadline);
    object = pel_operation_object(operation, pel_cOperation);
    if (!NIL_P(block))
        operation->callbacks = block;
    if (reactor->phase != PEL_IDLE)
        return object;
    /* No reactor runs: the operation is done first, then the block runs. */
    if (operation->state == PEL_PENDING) {
        int state = 0, late = wait_until_settled(reactor, operation, deadline, &state);
        if (state) {
            abandon(operation);
            pel_rethrow(state);
        }
        if (late)
            pel_operation_fail(operation, pel_error_new(PEL_ETIMEOUT, 0, NULL));
    }
    while (reactor->job_count) { /* what was settled meanwhile, in its order */
        struct pel_job job = pel_dequeue(reactor);
        if (job.run)
            job.run(reactor, job.data);
    }
    return object;
}

/* ---- Pelton::Operation ---------------------------------------------------------------------------------------- */

static void operation_mark(void *data)
{
    if (data)
        pel_operation_mark(data);
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
    struct pel_operation *operation = pel_operation_new(pel_reactor_current(), 0);
    return TypedData_Wrap_Struct(class, &operation_type, operation);
}

struct pel_operation *pel_operation_get(VALUE self)
{
    return rb_check_typeddata(self, &operation_type);
}

static VALUE operation_callback(VALUE self)
{
    struct pel_operation *operation = pel_operation_get(self);
    VALUE block = rb_block_proc();

    if (operation->state == PEL_FAILED)
        return self;
    add_block(&operation->callbacks, block);
    if (operation->state == PEL_SUCCEEDED)
        enqueue_delivery(operation, 0);
    return self;
}

static VALUE operation_errback(VALUE self)
{
    struct pel_operation *operation = pel_operation_get(self);
    VALUE block = rb_block_proc();

    if (operation->state == PEL_SUCCEEDED)
        return self;
    add_block(&operation->errbacks, block);
    operation->heard = operation->state == PEL_FAILED || operation->heard;
    if (operation->state == PEL_FAILED)
        enqueue_delivery(operation, 0);
    return self;
}

static VALUE settle_by_user(int argc, const VALUE *argv, VALUE self, enum pel_state state)
{
    struct pel_operation *operation = pel_operation_get(self);

    if (argc == 1)
        settle(operation, state, argv[0], 0, 0);
    else if (argc == 0)
        settle(operation, state, Qnil, 0, 0);
    else
        settle(operation, state, rb_ary_new_from_values(argc, argv), 1, 0);
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
        late = wait_until_settled(reactor, operation, deadline, &state);
    }
    if (state)
        pel_rethrow(state);
    if (late)
        pel_raise(PEL_ETIMEOUT, 0, NULL);
    RB_GC_GUARD(self);
    return value_or_raise(operation);
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

/* ---- Pelton::Task --------------------------------------------------------------------------------------------- */

static VALUE call_block(VALUE block)
{
    return rb_proc_call_with_block(block, 0, NULL, Qnil);
}

static VALUE cancelled(void)
{
    return rb_exc_new_cstr(pel_eCancelled, "the task was cancelled");
}

static void fail_quietly(struct pel_operation *task, VALUE error)
{
    task->heard = 1;
    pel_operation_fail(task, error);
}

enum { ORDINARY_TASK = 1, MAIN_TASK };

static void end_task(struct pel_reactor *reactor, struct pel_operation *task, VALUE value, int state)
{
    VALUE error;

    if (!state) {
        if (task->task == MAIN_TASK && reactor->phase == PEL_RUNNING)
            reactor->value = value;
        pel_operation_succeed(task, value);
        return;
    }
    error = pel_take_error(state);
    if (NIL_P(error)) {
        pel_operation_release(task);
        pel_rethrow(state);
    }
    if (rb_obj_is_kind_of(error, pel_eCancelled)) {
        fail_quietly(task, error);
    } else if (task->task == MAIN_TASK || !rb_obj_is_kind_of(error, rb_eStandardError)) {
        fail_quietly(task, error);
        pel_fail_run(reactor, error);
    } else {
        pel_operation_fail(task, error);
    }
}

static void run_task(struct pel_reactor *reactor, void *data)
{
    struct pel_operation *task = data;
    struct pel_worker *worker = reactor->current_worker;
    VALUE block = task->result, value;
    int state;

    if (task->state != PEL_PENDING) { /* cancelled before it began */
        pel_operation_release(task);
        return;
    }
    task->started = 1;
    task->result = Qundef;
    if (reactor->phase == PEL_STOPPING) {
        fail_quietly(task, cancelled());
        pel_operation_release(task);
        return;
    }
    task->worker = worker;
    worker->task = task;
    worker->cancel_pending = 0;
    value = pel_protect(call_block, block, &state);
    worker->task = NULL;
    task->worker = NULL;
    end_task(reactor, task, value, state);
    pel_operation_release(task);
    RB_GC_GUARD(block);
}

static struct pel_operation *enqueue_task(struct pel_reactor *reactor, VALUE block, int kind)
{
    struct pel_operation *task = pel_operation_new(reactor, 0);

    task->task = kind;
    task->result = block;
    pel_enqueue(reactor, (struct pel_job){.run = run_task, .mark = mark_job, .data = task});
    return task;
}

void pel_spawn_main(struct pel_reactor *reactor, VALUE block)
{
    enqueue_task(reactor, block, MAIN_TASK);
}

/* Task.spawn { }: on the running reactor of this thread. */
static VALUE task_s_spawn(VALUE class)
{
    struct pel_reactor *reactor = pel_reactor_running("Pelton.spawn");
    return pel_operation_object(enqueue_task(reactor, rb_block_proc(), ORDINARY_TASK), class);
}

static VALUE task_cancel(VALUE self)
{
    struct pel_operation *task = pel_operation_get(self);
    struct pel_worker *worker = task->worker;

    if (task->state != PEL_PENDING)
        return Qfalse;
    if (!task->started) {
        fail_quietly(task, cancelled());
        return Qtrue;
    }
    if (worker->fiber == rb_fiber_current())
        rb_exc_raise(cancelled());
    /* Inside a fiber of the user's own that the task resumed, nothing is raised: it reaches the task when it waits
     * next. */
    if (worker->waiter && worker->waiter->fiber == worker->fiber) {
        worker->waiter->exception = cancelled();
        pel_waiter_fire(task->reactor, worker->waiter);
    } else {
        worker->cancel_pending = 1;
    }
    return Qtrue;
}

/* The task that runs on this fiber, or nil. */
static VALUE task_s_current(VALUE class)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (!reactor || !reactor->current_worker || !reactor->current_worker->task)
        return Qnil;
    return pel_operation_object(reactor->current_worker->task, class);
}

void pel_init_operation(void)
{
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

    cTask = rb_define_class_under(pel_mPelton, "Task", pel_cOperation);
    rb_undef_alloc_func(cTask);
    rb_define_singleton_method(cTask, "spawn", task_s_spawn, 0);
    rb_define_singleton_method(cTask, "current", task_s_current, 0);
    rb_define_method(cTask, "cancel", task_cancel, 0);
}
