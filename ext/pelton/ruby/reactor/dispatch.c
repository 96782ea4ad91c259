#include "ruby/reactor/reactor.h"

#include <string.h>
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

/* ---- ending run ----------------------------------------------------------------------------------------------- */

/* Of the stop itself: it has cancelled a trap handler that waited. */
static int is_of_stop(const struct pel_reactor *reactor, VALUE error)
{
    return reactor->phase != PEL_RUNNING && RTEST(rb_obj_is_kind_of(error, pel_eCancelled));
}

void pel_fail_run(struct pel_reactor *reactor, VALUE exception)
{
    if (is_of_stop(reactor, exception))
        return;
    if (NIL_P(reactor->run.fatal))
        reactor->run.fatal = exception;
    if (reactor->phase == PEL_RUNNING)
        reactor->phase = PEL_STOPPING;
}

static VALUE call_on_fatal(VALUE argument)
{
    const VALUE *pair = (const VALUE *)argument;

    return rb_proc_call_with_block(pair[0], 1, &pair[1], Qnil);
}

/* Whatever the block raises ends run. */
static void run_on_fatal(struct pel_reactor *reactor, void *data)
{
    VALUE pair[] = {reactor->run.on_fatal, (VALUE)data}, error;
    int state;

    if (NIL_P(pair[0])) /* of an earlier run */
        return;
    pel_protect(call_on_fatal, (VALUE)pair, &state);
    if (!state)
        return;
    error = pel_take_error(state);
    if (NIL_P(error))
        pel_rethrow(state);
    pel_fail_run(reactor, error);
}

/* A throw wants to leave run. */
static int may_be_told(const struct pel_reactor *reactor, VALUE error)
{
    return !NIL_P(reactor->run.on_fatal) && !RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)) &&
           !RTEST(rb_obj_is_kind_of(error, rb_eSignal)) &&
           !RTEST(rb_obj_is_kind_of(error, rb_const_get(rb_cObject, rb_intern("UncaughtThrowError"))));
}

/* No Ruby code runs here, in the middle of a switch or of a tick: a job runs it. */
static int tell(struct pel_reactor *reactor, VALUE error)
{
    if ((reactor->phase != PEL_RUNNING && reactor->phase != PEL_STOPPING) || !may_be_told(reactor, error) ||
        !pel_queues_reserve(reactor))
        return 0;
    pel_enqueue(reactor, (struct pel_job){.run = run_on_fatal, .data = (void *)error, .object = error});
    return 1;
}

void pel_fail_run_or_tell(struct pel_reactor *reactor, VALUE exception)
{
    if (!tell(reactor, exception))
        pel_fail_run(reactor, exception);
}

/* From 3.2 on Ruby interrupts the whole thread when a fiber closes an IO while another fiber of the thread writes to
 * it. The interrupt is meant for the writer, which waits inside Ruby's blocking write. (Ruby 4 has the hook
 * fiber_interrupt.) */
static int is_for_writers(VALUE error)
{
    VALUE message = rb_obj_class(error) == rb_eIOError ? rb_attr_get(error, rb_intern("mesg")) : Qnil;

    return RB_TYPE_P(message, T_STRING) && strcmp(StringValueCStr(message), "stream closed in another thread") == 0;
}

int pel_interrupt_run(struct pel_reactor *reactor, int state)
{
    VALUE error;

    if (reactor->phase == PEL_IDLE)
        return state;
    error = pel_take_error(state);
    if (NIL_P(error)) /* Thread#kill, which must go on, since a second one does nothing; or a throw within the fiber */
        return state;
    if (error ==
        reactor->parked.last_raised) { /* meant for this fiber: it struck a trap handler that waited on the fiber */
        rb_set_errinfo(error);
        return state;
    }
    if (is_for_writers(error)) {
        state = pel_descriptors_forget_closed(reactor);
        return state ? pel_interrupt_run(reactor, state) : 0;
    }
    if (is_of_stop(reactor, error) || tell(reactor, error))
        return 0;
    if (reactor->phase == PEL_STOPPING && reactor->grace.deadline)
        reactor->phase = PEL_LEAVING; /* a second interrupt cuts the grace time short */
    pel_fail_run(reactor, error);
    return 0;
}

/* ---- errors of callbacks -------------------------------------------------------------------------------------- */

/* Outside run, no run would raise the error later: so it is raised here. */
static void fail_run_or_raise(struct pel_reactor *reactor, VALUE error)
{
    if (reactor->phase == PEL_IDLE)
        rb_exc_raise(error);
    pel_fail_run_or_tell(reactor, error);
}

static VALUE call_report_error(VALUE error)
{
    return pel_upcall(report_error, error);
}

void pel_uncaught(struct pel_reactor *reactor, VALUE error)
{
    int state;

    if (rb_obj_is_kind_of(error, pel_eCancelled))
        return;
    if (!rb_obj_is_kind_of(error, rb_eStandardError) ||
        rb_obj_is_kind_of(error, rb_const_get(rb_cObject, rb_intern("UncaughtThrowError")))) {
        fail_run_or_raise(reactor, error);
        return;
    }
    pel_protect(call_report_error, error, &state);
    if (state) {
        VALUE second = pel_take_error(state);
        if (NIL_P(second))
            pel_rethrow(state);
        fail_run_or_raise(reactor, second);
    }
    RB_GC_GUARD(error);
}

/* ---- calling -------------------------------------------------------------------------------------------------- */

VALUE pel_run_job(VALUE argument)
{
    struct pel_taken_job *taken = (struct pel_taken_job *)argument;

    taken->job.run(taken->reactor, taken->job.data);
    RB_GC_GUARD(taken->job.object);
    return Qnil;
}

void pel_dispatch(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument)
{
    VALUE error;
    int state;

    pel_protect(function, argument, &state);
    if (!state)
        return;
    error = pel_take_error(state);
    if (NIL_P(error))
        pel_rethrow(state);
    pel_uncaught(reactor, error);
}
