#include "operation.h"

#include "../core/slab.h"
#include "error.h"
#include "protect.h"

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

void pel_operation_count(struct pel_operation *operation)
{
    if (operation->counted || operation->state != PEL_PENDING)
        return;
    operation->counted = 1;
    operation->reactor->references++;
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

/* ---- completion ----------------------------------------------------------------------------------------------- */

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
    if (operation->limited)
        pel_operation_unlimit(operation);
    for (waiter = operation->awaiters; waiter; waiter = next) {
        next = waiter->next_awaiter;
        pel_waiter_fire(operation->reactor, waiter);
        operation->heard = 1;
    }
    if (operation->errbacks)
        operation->heard = 1;
    /* A failure goes on the queue even when nobody listens: whoever comes until then is in time. */
    if (state == PEL_SUCCEEDED ? operation->callbacks != Qfalse : operation->errbacks || !operation->heard)
        pel_operation_enqueue(operation, unlinked);
}

void pel_operation_succeed(struct pel_operation *operation, VALUE value)
{
    settle(operation, PEL_SUCCEEDED, value, 0, 1);
}

void pel_operation_fail(struct pel_operation *operation, VALUE error)
{
    settle(operation, PEL_FAILED, error, 0, 1);
}

void pel_operation_settle(struct pel_operation *operation, enum pel_state state, VALUE result, int splat)
{
    settle(operation, state, result, splat, 0);
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

void pel_operation_listen(struct pel_operation *operation, enum pel_state state, VALUE block)
{
    if (operation->state != PEL_PENDING && operation->state != (unsigned)state)
        return;
    add_block(state == PEL_SUCCEEDED ? &operation->callbacks : &operation->errbacks, block);
    if (operation->state == PEL_FAILED)
        operation->heard = 1;
    if (operation->state == PEL_PENDING)
        return;
    pel_operation_enqueue(operation, 0);
    pel_operation_deliver_now(operation);
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

void pel_operation_raise(VALUE error)
{
    error = pel_operation_error(error);
    /* One error may have failed many operations: each raise gets a backtrace of its own. One that was raised before, in
     * a task, keeps the place where that was. */
    if (NIL_P(rb_funcall(error, rb_intern("backtrace"), 0)))
        error = rb_obj_clone(error);
    rb_exc_raise(error);
}

static void remove_awaiter(struct pel_operation *operation, struct pel_waiter *waiter)
{
    struct pel_waiter **link = &operation->awaiters;

    while (*link && *link != waiter)
        link = &(*link)->next_awaiter;
    if (*link)
        *link = waiter->next_awaiter;
}

int pel_operation_wait(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline, int *state)
{
    struct pel_waiter waiter = {.operation = operation, .next_awaiter = operation->awaiters};

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
    late = operation->state == PEL_PENDING && pel_operation_wait(reactor, operation, deadline, &state);
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
        pel_operation_raise(result);
    return result;
}

/* Where no reactor runs: the operation is done first, then the block runs. */
static void finish_now(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline)
{
    int state = 0, late = 0;

    pel_operation_deliver_rest(); /* what failed before, and nobody wanted to know */
    if (operation->state == PEL_PENDING)
        late = pel_operation_wait(reactor, operation, deadline, &state);
    if (state) {
        abandon(operation);
        pel_rethrow(state);
    }
    if (late) /* its producer may still hold it */
        pel_operation_settle(operation, PEL_FAILED, pel_error_new(PEL_ETIMEOUT, 0, NULL), 0);
    if (operation->state == PEL_FAILED) {
        operation->heard = 0; /* but by this wait: errbacks come after the call has returned */
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
        operation->callbacks = block;
        if (operation->state == PEL_SUCCEEDED)
            pel_operation_enqueue(operation, 0);
    }
    if (reactor->phase == PEL_IDLE)
        finish_now(reactor, operation, deadline);
    RB_GC_GUARD(object);
    return object;
}
