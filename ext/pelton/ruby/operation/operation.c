#include "ruby/operation/operation.h"

#include "ruby/base/protect.h"

/* ---- completion ----------------------------------------------------------------------------------------------- */

static void settle_operation(struct pel_operation *operation, enum pel_state state, VALUE result, int splat,
                             int unlinked)
{
    struct pel_waiter *waiter, *next;
    int deliver = 0;

    if (operation->state != PEL_PENDING)
        return;
    operation->state = state;
    operation->result = result;
    operation->splat = splat;
    if (operation->keeps_running)
        operation->reactor->references--;
    if (operation->has_timeout)
        pel_operation_clear_timeout(operation);
    if (operation->awaiters || operation->errbacks)
        operation->handled = 1;
    /* A failure goes on the queue even without a block: an errback that is added before the job runs is in time. */
    if (state == PEL_FAILED && !operation->handled && operation->task == PEL_TASK && unlinked)
        pel_failure_add(operation);
    else if (state == PEL_SUCCEEDED ? operation->callbacks != Qfalse : operation->errbacks || !operation->handled)
        deliver = 1;
    /* The blocks stand before the awaiting fibers on the queue, so they have begun when await returns. Where there is
     * no memory for the job, the fibers must still wake. */
    if (deliver && pel_queues_reserve(operation->reactor))
        pel_operation_enqueue(operation, unlinked);
    for (waiter = operation->awaiters; waiter; waiter = next) {
        next = waiter->next_awaiter;
        pel_waiter_fire(operation->reactor, waiter);
    }
    if (deliver)
        pel_operation_enqueue(operation, unlinked); /* no-op when it is queued already, otherwise it raises */
}

void pel_operation_succeed(struct pel_operation *operation, VALUE value)
{
    settle_operation(operation, PEL_SUCCEEDED, value, 0, 1);
}

void pel_operation_fail(struct pel_operation *operation, VALUE error)
{
    settle_operation(operation, PEL_FAILED, error, 0, 1);
}

void pel_operation_settle(struct pel_operation *operation, enum pel_state state, VALUE result, int splat)
{
    settle_operation(operation, state, result, splat, 0);
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

void pel_operation_add_block(VALUE self, enum pel_state state, VALUE block)
{
    struct pel_operation *operation = pel_operation_get(self);

    if (operation->state != PEL_PENDING && operation->state != (unsigned)state)
        return;
    add_block(state == PEL_SUCCEEDED ? &operation->callbacks : &operation->errbacks, block);
    pel_operation_written(self);
    if (operation->state == PEL_FAILED)
        operation->handled = 1;
    if (operation->state == PEL_PENDING)
        return;
    pel_operation_enqueue(operation, 0);
    pel_operation_deliver_now(operation);
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

/* The line of the fiber's own block: blocks that inherit values are called by lines that are the same for all fibers.
 */
static VALUE last_line(VALUE backtrace)
{
    VALUE line = Qnil, wrapper = rb_str_new_lit("/pelton/tasks/inherited.rb:");
    long i = RB_TYPE_P(backtrace, T_ARRAY) ? RARRAY_LEN(backtrace) : 0;

    while (i-- > 0) {
        line = rb_ary_entry(backtrace, i);
        if (!RTEST(rb_funcall(line, rb_intern("include?"), 1, wrapper)))
            break;
    }
    return line;
}

/* One error may have failed many operations: so each raise works on a copy, with a backtrace of its own. An error that
 * was raised on another fiber keeps the lines of that raise, and those of the awaiting caller follow. Groups recognise
 * a copy by its origin. */
static VALUE error_for_caller(VALUE error)
{
    VALUE lines = rb_funcall(error, rb_intern("backtrace"), 0), here = NIL_P(lines) ? Qnil : rb_make_backtrace(), copy;

    if (!NIL_P(lines) && (OBJ_FROZEN(error) || !rb_obj_is_kind_of(error, rb_eStandardError) ||
                          !RB_TYPE_P(lines, T_ARRAY) || rb_equal(last_line(lines), last_line(here))))
        return error;
    copy = rb_obj_clone(error);
    if (OBJ_FROZEN(copy))
        return copy;
    if (!RTEST(rb_ivar_defined(copy, rb_intern("@pelton_origin"))))
        rb_iv_set(copy, "@pelton_origin", error);
    if (!NIL_P(lines))
        rb_funcall(copy, rb_intern("set_backtrace"), 1, rb_ary_plus(lines, here));
    return copy;
}

void pel_operation_raise(VALUE error)
{
    rb_exc_raise(error_for_caller(pel_operation_error(error)));
}

int pel_operation_wait(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline, int *state)
{
    struct pel_waiter waiter = {.operation = operation, .next_awaiter = operation->awaiters};

    operation->awaiters = &waiter;
    *state = pel_park_protected(reactor, &waiter, deadline);
    PEL_CHAIN_REMOVE(operation->awaiters, &waiter, next_awaiter);
    return waiter.timed_out && operation->state == PEL_PENDING;
}

static void abandon_operation(struct pel_operation *operation)
{
    operation->handled = 1;
    settle_operation(operation, PEL_FAILED, Qnil, 0, 0);
}

VALUE pel_operation_await(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline)
{
    VALUE result;
    int state = 0, timed_out;

    operation->references++;
    timed_out = operation->state == PEL_PENDING && pel_operation_wait(reactor, operation, deadline, &state);
    if (state || timed_out) {
        abandon_operation(operation);
        pel_operation_release(operation);
        if (state)
            pel_rethrow(state);
        pel_raise(PEL_ETIMEOUT, 0, NULL);
    }
    result = operation->result;
    state = operation->state;
    operation->handled = 1;
    pel_operation_release(operation);
    if (state == PEL_FAILED)
        pel_operation_raise(result);
    return result;
}

/* Where no reactor runs: waits for the operation, then calls the block. */
static void finish_now(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline)
{
    int state = 0, timed_out = 0;

    pel_operation_deliver_all(); /* reports earlier failures that no errback was added for */
    if (operation->state == PEL_PENDING)
        timed_out = pel_operation_wait(reactor, operation, deadline, &state);
    if (state) {
        abandon_operation(operation);
        pel_rethrow(state);
    }
    if (timed_out) /* the producer may still hold the record */
        pel_operation_settle(operation, PEL_FAILED, pel_error_new(PEL_ETIMEOUT, 0, NULL), 0);
    if (operation->state == PEL_FAILED) {
        operation->handled = 0; /* only this wait has handled it: errbacks are added after the call has returned */
        pel_operation_enqueue(operation, 0);
    }
    pel_operation_deliver_now(operation);
}

VALUE pel_operation_finish(struct pel_reactor *reactor, struct pel_operation *operation, VALUE block, int later,
                           int64_t deadline)
{
    VALUE object;

    if (NIL_P(block) && !later)
        return pel_operation_await(reactor, operation, deadline);
    object = pel_operation_object(operation, pel_cOperation);
    if (!NIL_P(block)) {
        operation->callbacks = pel_inherit(block);
        if (operation->state == PEL_SUCCEEDED)
            pel_operation_enqueue(operation, 0);
    }
    if (reactor->phase == PEL_IDLE)
        finish_now(reactor, operation, deadline);
    RB_GC_GUARD(object);
    return object;
}
