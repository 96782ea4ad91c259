#include "ruby/operation/operation.h"

#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

/* Pelton::Task: an operation whose value is its block's. The block runs on the loop runner's fiber, as callbacks do. */

static VALUE cTask;

static VALUE call_task_block(VALUE block)
{
    if (pel_observed[PEL_EVENT_task])
        return pel_upcall(observe_task, block);
    return rb_proc_call_with_block(block, 0, NULL, Qnil);
}

static VALUE new_cancelled(void)
{
    return rb_exc_new_cstr(pel_eCancelled, "the task was cancelled");
}

static void fail_task_quietly(VALUE object, VALUE error)
{
    struct pel_operation *task = pel_operation_get(object);

    if (task->task == PEL_MAIN_TASK)
        task->reactor->run.main_pending = 0;
    task->handled = 1;
    pel_operation_fail(task, error);
    pel_operation_written(object);
    RB_GC_GUARD(error);
}

/* Making the exception calls Ruby, and thereby trap handlers, which may cancel the task as well. */
static void cancel_before_start(VALUE object)
{
    VALUE exception = new_cancelled();

    if (pel_operation_get(object)->state == PEL_PENDING)
        fail_task_quietly(object, exception);
}

static void end_task(struct pel_reactor *reactor, VALUE object, VALUE value, int state)
{
    struct pel_operation *task = pel_operation_get(object);
    VALUE error;

    if (!state) {
        if (task->task == PEL_MAIN_TASK) {
            reactor->run.main_pending = 0;
            if (reactor->phase == PEL_RUNNING)
                reactor->run.value = value;
        }
        pel_operation_succeed(task, value);
        pel_operation_written(object);
        RB_GC_GUARD(value);
        return;
    }
    error = pel_take_error(state);
    if (NIL_P(error)) { /* the thread is being killed */
        fail_task_quietly(object, new_cancelled());
        pel_rethrow(state);
    }
    /* A cancelled task fails quietly. But run's block does so only when the reactor stops: otherwise its Cancelled
     * comes from a cancelled task that it has awaited, and run must raise it. */
    if (rb_obj_is_kind_of(error, pel_eCancelled) && (task->task != PEL_MAIN_TASK || reactor->phase != PEL_RUNNING)) {
        fail_task_quietly(object, error);
    } else if (task->task == PEL_MAIN_TASK || !rb_obj_is_kind_of(error, rb_eStandardError)) {
        fail_task_quietly(object, error);
        if (task->task == PEL_MAIN_TASK)
            pel_fail_run(reactor, error);
        else
            pel_fail_run_or_tell(reactor, error);
    } else {
        pel_operation_fail(task, error);
        pel_operation_written(object);
        RB_GC_GUARD(error);
    }
}

struct task_call {
    struct pel_reactor *reactor;
    VALUE block;
    int kind;
};

/* A task has fiber-locals of its own, as if its fiber were new. Run's block has those of run's caller, if fiber-locals
 * are carried. */
static VALUE call_task(VALUE argument)
{
    struct task_call *call = (struct task_call *)argument;

    if (call->kind == PEL_MAIN_TASK && call->reactor->locals.mode)
        return call_task_block(call->block);
    return pel_locals_fresh(call->reactor, call_task_block, call->block);
}

/* data is the task's object, which keeps the record alive from Task.spawn to the end. */
static void run_task(struct pel_reactor *reactor, void *data)
{
    VALUE object = (VALUE)data, block, value;
    struct pel_operation *task = pel_operation_get(object);
    struct pel_worker *worker = reactor->workers.current;
    struct task_call call = {.reactor = reactor, .kind = task->task};
    int state;

    if (task->state != PEL_PENDING) /* the task was cancelled before it began */
        return;
    if (reactor->phase == PEL_STOPPING) {
        cancel_before_start(object);
        return;
    }
    block = task->result;
    task->started = 1;
    task->result = Qundef;
    task->worker = worker;
    worker->task = task;
    worker->given_up = 0;
    worker->task_object = object;
    worker->task_block = block;
    worker->transient = task->transient;
    call.block = block;
    value = pel_protect(call_task, (VALUE)&call, &state);
    worker->task = NULL;
    worker->task_object = worker->task_block = Qfalse;
    worker->transient = 0;
    task->worker = NULL;
    end_task(reactor, object, value, state);
    RB_GC_GUARD(block);
    RB_GC_GUARD(object);
}

/* The reactor leaves before the task has begun. */
static void drop_task(void *data)
{
    cancel_before_start((VALUE)data);
}

static VALUE enqueue_task(struct pel_reactor *reactor, VALUE block, enum pel_task_kind kind, int transient)
{
    struct pel_operation *task;
    VALUE self;

    block = pel_inherit(block);
    task = pel_operation_new(reactor, 0);
    self = pel_operation_protected_object(task, cTask);
    pel_operation_release(task); /* the object's reference remains */
    task->task = kind;
    task->transient = transient;
    task->result = block;
    pel_operation_written(self);
    pel_enqueue(reactor,
                (struct pel_job){.run = run_task,
                                 .drop = drop_task,
                                 .data = (void *)self,
                                 .object = self,
                                 .rank = kind == PEL_TASK && !transient && reactor->rank.began ? reactor->rank
                                                                                               : (struct pel_rank){0}});
    return self;
}

static void spawn_main(struct pel_reactor *reactor, VALUE block)
{
    enqueue_task(reactor, block, PEL_MAIN_TASK, 0);
    reactor->run.main_pending = 1;
}

/* Task.spawn { }: starts a task on the running reactor of this thread. */
static VALUE task_s_spawn(VALUE class)
{
    struct pel_reactor *reactor = pel_reactor_running("Pelton.spawn");
    return enqueue_task(reactor, rb_block_proc(), PEL_TASK, 0);
}

/* Task._spawn(block, transient, detached) */
static VALUE task_s_spawn_as(VALUE class, VALUE block, VALUE transient, VALUE detached)
{
    struct pel_reactor *reactor = pel_reactor_running("Pelton.spawn");
    return enqueue_task(reactor, block, RTEST(detached) ? PEL_DETACHED_TASK : PEL_TASK, RTEST(transient));
}

static VALUE task_cancel(VALUE self)
{
    struct pel_operation *task = pel_operation_get(self);
    struct pel_worker *worker;
    VALUE exception;

    if (task->state != PEL_PENDING)
        return Qfalse;
    exception = new_cancelled(); /* calls Ruby, and thereby trap handlers: the task may wait no longer, or have ended */
    if (task->state != PEL_PENDING)
        return Qfalse;
    task->cancelled = 1;
    if (!task->started) {
        fail_task_quietly(self, exception);
        return Qtrue;
    }
    worker = task->worker;
    if (worker->fiber == rb_fiber_current())
        rb_exc_raise(exception);
    /* While the task has resumed a fiber of the user's, which waits, nothing is raised there: the exception strikes the
     * task when it waits next. */
    if (worker->waiter && worker->waiter->fiber == worker->fiber)
        pel_waiter_raise(task->reactor, worker->waiter, exception);
    else
        pel_pending_exception_add(task->reactor, worker->fiber, exception);
    return Qtrue;
}

/* _cancel_once: as cancel, but no-op for a task that was cancelled before, or by the reactor's stop: a second Cancelled
 * would strike the ensure block that the first one has started. */
static VALUE task_cancel_once(VALUE self)
{
    struct pel_operation *task = pel_operation_get(self);

    if (task->cancelled || (task->started && task->reactor->phase != PEL_RUNNING))
        return Qfalse;
    return task_cancel(self);
}

/* Task.current: the task that runs on this fiber, or nil. */
static VALUE task_s_current(VALUE class)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (!reactor || !reactor->workers.current || !reactor->workers.current->task)
        return Qnil;
    return reactor->workers.current->task_object;
}

/* ---- looking at tasks ------------------------------------------------------------------------------------------ */

/* The task's block while it is pending; nil. */
static VALUE task_block(VALUE self)
{
    struct pel_operation *task = pel_operation_get(self);

    if (task->state != PEL_PENDING)
        return Qnil;
    return task->started ? task->worker->task_block : task->result;
}

/* The fiber on which the task waits: its own, or one that it has resumed. nil when the task does not wait. */
static VALUE task_waiting_fiber(VALUE self)
{
    struct pel_operation *task = pel_operation_get(self);

    if (task->state != PEL_PENDING || !task->started || !task->worker->waiter)
        return Qnil;
    return task->worker->waiter->fiber;
}

static VALUE task_started_p(VALUE self)
{
    return pel_operation_get(self)->started ? Qtrue : Qfalse;
}

static VALUE task_transient_p(VALUE self)
{
    return pel_operation_get(self)->transient ? Qtrue : Qfalse;
}

static void add_queued_tasks(struct pel_queue *queue, VALUE tasks)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        struct pel_job *job = pel_queue_job(queue, i);
        if (job->run == run_task && pel_operation_get((VALUE)job->data)->state == PEL_PENDING)
            rb_ary_push(tasks, (VALUE)job->data);
    }
}

/* Reactor#tasks: the tasks that have begun, then those that have not. Any thread may call it. */
static VALUE reactor_tasks(VALUE self)
{
    struct pel_reactor *reactor = pel_reactor_get(self);
    VALUE tasks = rb_ary_new();

    for (struct pel_worker *worker = reactor->workers.first; worker; worker = worker->next)
        if (worker->task && !worker->given_up)
            rb_ary_push(tasks, worker->task_object);
    add_queued_tasks(&reactor->queues.ready, tasks);
    add_queued_tasks(&reactor->queues.begun, tasks);
    return tasks;
}

void pel_init_task(void)
{
    pel_operation_hooks = (struct pel_operation_hooks){.mark = pel_operation_mark,
                                                       .mark_job = pel_operation_mark_job,
                                                       .deliver = pel_operation_deliver,
                                                       .spawn_main = spawn_main,
                                                       .report_failures = pel_failures_report,
                                                       .report_failures_now = pel_failures_report_now};
    cTask = rb_define_class_under(pel_mPelton, "Task", pel_cOperation);
    rb_undef_alloc_func(cTask);
    rb_define_singleton_method(cTask, "spawn", task_s_spawn, 0);
    rb_define_singleton_method(cTask, "current", task_s_current, 0);
    rb_define_singleton_method(cTask, "_spawn", task_s_spawn_as, 3);
    rb_define_method(cTask, "cancel", task_cancel, 0);
    rb_define_method(cTask, "_cancel_once", task_cancel_once, 0);
    rb_define_method(cTask, "transient?", task_transient_p, 0);
    rb_define_private_method(cTask, "_block", task_block, 0);
    rb_define_private_method(cTask, "_started?", task_started_p, 0);
    rb_define_method(cTask, "waiting_fiber", task_waiting_fiber, 0);
    rb_define_method(pel_cReactor, "tasks", reactor_tasks, 0);
}
