#include "ruby/operation/operation.h"

#include "ruby/base/protect.h"

/*
 * The errors of failed tasks that no code has handled yet. The usual program spawns all its tasks and then awaits one
 * after the other, so a task that fails early may still be awaited. Its error is reported when its object is collected
 * or the run ends, whichever comes first.
 */

/* Linked by `next`, the oldest first. The list holds a reference to each record, and marks its error, so that the error
 * outlives the task's object. Guarded by the GVL. */
static struct pel_operation *failures;
static struct pel_operation **failures_end = &failures;
static unsigned fork_generation; /* in which the listed tasks have failed */

static void append_failure(struct pel_operation *task)
{
    task->next = NULL;
    *failures_end = task;
    failures_end = &task->next;
}

static struct pel_operation *unlink_failure(struct pel_operation **link)
{
    struct pel_operation *task = *link;

    *link = task->next;
    if (failures_end == &task->next)
        failures_end = link;
    return task;
}

static void mark_failures(void *unused)
{
    (void)unused;
    for (struct pel_operation *task = failures; task; task = task->next)
        pel_operation_mark(task);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: the list changes without the object. */
static const rb_data_type_t failures_type = {.wrap_struct_name = "Pelton::Task failures",
                                             .function = {.dmark = mark_failures}};

static void release_failure(struct pel_operation *task)
{
    task->unhandled = 0;
    pel_operation_release(task);
}

/* A child reports no errors of the parent's tasks. */
static void drop_inherited_failures(void)
{
    if (fork_generation == pel_fork_generation)
        return;
    fork_generation = pel_fork_generation;
    while (failures)
        release_failure(unlink_failure(&failures));
}

void pel_failure_add(struct pel_operation *task)
{
    drop_inherited_failures();
    task->references++;
    task->unhandled = 1;
    append_failure(task);
}

/* ---- reporting ------------------------------------------------------------------------------------------------- */

static void report_failure(struct pel_reactor *reactor, void *data)
{
    struct pel_operation *task = data;
    VALUE error = task->result;
    int handled = task->handled;

    task->handled = 1;
    release_failure(task);
    if (!handled)
        pel_uncaught(reactor, pel_operation_error(error));
    RB_GC_GUARD(error);
}

/* The reactor leaves before the report, so pel_failures_report_now makes it. */
static void keep_failure(void *data)
{
    append_failure(data);
}

/* Enqueues the reports of a reactor's tasks; those without an object, or all. Returns the number of reports. */
static unsigned enqueue_reports(struct pel_reactor *reactor, int all)
{
    struct pel_operation **link = &failures;
    unsigned count = 0;

    drop_inherited_failures();
    while (*link) {
        struct pel_operation *task = *link;
        if (task->reactor != reactor || !(task->handled || all || task->references == 1)) {
            link = &task->next;
        } else if (task->handled) {
            release_failure(unlink_failure(link));
        } else {
            if (!pel_queues_reserve(reactor))
                break; /* no memory: the report is made when the run ends */
            pel_enqueue(reactor, (struct pel_job){.run = report_failure,
                                                  .drop = keep_failure,
                                                  .data = unlink_failure(link),
                                                  .object = PEL_OPERATION_JOB});
            count++;
        }
    }
    return count;
}

unsigned pel_failures_report(struct pel_reactor *reactor)
{
    return enqueue_reports(reactor, 1);
}

static VALUE report_failure_now(VALUE argument)
{
    struct pel_operation *task = (struct pel_operation *)argument;

    report_failure(task->reactor, task);
    return Qnil;
}

int pel_failures_report_now(struct pel_reactor *reactor, int *state)
{
    struct pel_operation **link = &failures;

    drop_inherited_failures();
    while (*link && (*link)->reactor != reactor)
        link = &(*link)->next;
    if (!*link)
        return 0;
    pel_protect(report_failure_now, (VALUE)unlink_failure(link), state);
    return 1;
}

/* ---- tasks whose objects were collected ------------------------------------------------------------------------ */

static void report_collected(struct pel_reactor *reactor, void *unused)
{
    (void)unused;
    reactor->operations.reports_collected = 0;
    enqueue_reports(reactor, 0);
}

static void drop_report_collected(void *reactor)
{
    ((struct pel_reactor *)reactor)->operations.reports_collected = 0;
}

/* A job, because the garbage collector calls this: nothing is allocated here, and no Ruby code runs. The reactor
 * exists, because a run that ends leaves no failures. */
void pel_failure_collected(struct pel_operation *task)
{
    struct pel_reactor *reactor = task->reactor;

    if (fork_generation != pel_fork_generation || reactor->phase == PEL_IDLE || reactor->operations.reports_collected ||
        !pel_queues_reserve(reactor))
        return;
    reactor->operations.reports_collected = 1;
    pel_enqueue(reactor, (struct pel_job){.run = report_collected, .drop = drop_report_collected, .data = reactor});
}

void pel_init_failure(void)
{
    rb_gc_register_mark_object(TypedData_Wrap_Struct(0, &failures_type, &failures));
}
