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
    pel_enqueue(reactor, (struct pel_job){.run = run_task, .mark = pel_operation_mark_job, .data = task});
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

void pel_init_task(void)
{
    cTask = rb_define_class_under(pel_mPelton, "Task", pel_cOperation);
    rb_undef_alloc_func(cTask);
    rb_define_singleton_method(cTask, "spawn", task_s_spawn, 0);
    rb_define_singleton_method(cTask, "current", task_s_current, 0);
    rb_define_method(cTask, "cancel", task_cancel, 0);
}
