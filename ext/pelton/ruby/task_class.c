#include "late.h"
#include "locals.h"
#include "operation.h"

#include "error.h"
#include "protect.h"

/* Pelton::Task: an operation whose value is what its block returns. It runs on the fiber that turns the loop. */

static VALUE cTask;

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
    if (NIL_P(error)) { /* the thread is being killed */
        fail_quietly(task, cancelled());
        pel_rethrow(state);
    }
    /* Of run's block only a reactor that stops is a reason to say nothing: it may have awaited a task that was
     * cancelled. */
    if (rb_obj_is_kind_of(error, pel_eCancelled) && (task->task != MAIN_TASK || reactor->phase != PEL_RUNNING)) {
        fail_quietly(task, error);
    } else if (task->task == MAIN_TASK || !rb_obj_is_kind_of(error, rb_eStandardError)) {
        fail_quietly(task, error);
        pel_fail_run(reactor, error);
    } else {
        pel_operation_fail(task, error);
    }
}

struct call {
    struct pel_reactor *reactor;
    VALUE block;
    int kind;
};

/* A task has fiber-locals of its own, as if its fiber were new. Run's block has those of run's caller, if they are
 * carried. */
static VALUE call_task(VALUE argument)
{
    struct call *call = (struct call *)argument;

    if (call->kind == MAIN_TASK && call->reactor->carries)
        return call_block(call->block);
    return pel_locals_fresh(call->reactor, call_block, call->block);
}

/* data is the task's object: it stays the same from Task.spawn to the end, and keeps the record. */
static void run_task(struct pel_reactor *reactor, void *data)
{
    VALUE object = (VALUE)data, block, value;
    struct pel_operation *task = pel_operation_get(object);
    struct pel_worker *worker = reactor->current_worker;
    struct call call = {.reactor = reactor, .kind = task->task};
    int state;

    if (task->state != PEL_PENDING) /* cancelled before it began */
        return;
    block = task->result;
    task->started = 1;
    task->result = Qundef;
    if (reactor->phase == PEL_STOPPING) {
        fail_quietly(task, cancelled());
        return;
    }
    task->worker = worker;
    worker->task = task;
    worker->task_object = object;
    call.block = block;
    value = pel_protect(call_task, (VALUE)&call, &state);
    worker->task = NULL;
    worker->task_object = Qfalse;
    task->worker = NULL;
    end_task(reactor, task, value, state);
    RB_GC_GUARD(block);
    RB_GC_GUARD(object);
}

static void mark_task(void *data)
{
    rb_gc_mark((VALUE)data);
}

/* The reactor leaves: it will never begin. */
static void drop_task(void *data)
{
    fail_quietly(pel_operation_get((VALUE)data), cancelled());
}

static VALUE enqueue_task(struct pel_reactor *reactor, VALUE block, int kind)
{
    struct pel_operation *task = pel_operation_new(reactor, 0);
    VALUE self = pel_operation_object(task, cTask);

    pel_operation_release(task); /* the object's reference is left */
    task->task = kind;
    task->result = block;
    pel_enqueue(reactor, (struct pel_job){.run = run_task, .mark = mark_task, .drop = drop_task, .data = (void *)self});
    return self;
}

void pel_spawn_main(struct pel_reactor *reactor, VALUE block)
{
    enqueue_task(reactor, block, MAIN_TASK);
}

/* Task.spawn { }: on the running reactor of this thread. */
static VALUE task_s_spawn(VALUE class)
{
    struct pel_reactor *reactor = pel_reactor_running("Pelton.spawn");
    return enqueue_task(reactor, rb_block_proc(), ORDINARY_TASK);
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
    if (worker->waiter && worker->waiter->fiber == worker->fiber)
        pel_waiter_raise(task->reactor, worker->waiter, cancelled());
    else
        pel_raise_next(task->reactor, worker->fiber, cancelled());
    return Qtrue;
}

/* The task that runs on this fiber, or nil. */
static VALUE task_s_current(VALUE class)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (!reactor || !reactor->current_worker || !reactor->current_worker->task)
        return Qnil;
    return reactor->current_worker->task_object;
}

void pel_init_task(void)
{
    cTask = rb_define_class_under(pel_mPelton, "Task", pel_cOperation);
    rb_undef_alloc_func(cTask);
    rb_define_singleton_method(cTask, "spawn", task_s_spawn, 0);
    rb_define_singleton_method(cTask, "current", task_s_current, 0);
    rb_define_method(cTask, "cancel", task_cancel, 0);
}
