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
    RB_GC_GUARD(result);
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
        pel_uncaught(reactor, pel_operation_error(result));
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

static void drop(void *data)
{
    pel_operation_release(data);
}

static void drop_chain(void *data)
{
    for (struct pel_operation *operation = data, *next; operation; operation = next) {
        next = operation->next;
        pel_operation_release(operation);
    }
}

static void deliver_chain(struct pel_reactor *reactor, void *data);

static struct pel_job chain_job(struct pel_operation *first)
{
    return (struct pel_job){.run = deliver_chain, .mark = mark_chain, .drop = drop_chain, .data = first};
}

static void deliver_chain(struct pel_reactor *reactor, void *data)
{
    struct pel_operation *operation = data;

    if (operation->next)
        pel_enqueue_first(reactor, chain_job(operation->next));
    deliver(reactor, operation);
}

/* `unlinked`: its producer has taken it off its list, so that its link is free: operations that are settled one after
 * the other make one job, not thousands. */
static void enqueue_delivery(struct pel_operation *operation, int unlinked)
{
    struct pel_reactor *reactor = operation->reactor;
    struct pel_queue *ready = &reactor->ready;
    struct pel_job *last = ready->count ? pel_queue_job(ready, ready->count - 1) : NULL;

    if (operation->queued)
        return;
    operation->queued = 1;
    operation->references++;
    if (!unlinked) {
        pel_enqueue(reactor, (struct pel_job){.run = deliver, .mark = mark_job, .drop = drop, .data = operation});
        return;
    }
    operation->next = NULL;
    if (last && last->run == deliver_chain)
        reactor->chain_end->next = operation;
    else
        pel_enqueue(reactor, chain_job(operation));
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
    enqueue_delivery(operation, 0);
    pel_operation_deliver_now(operation);
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

VALUE pel_operation_error(VALUE failure)
{
    if (rb_obj_is_kind_of(failure, rb_eException))
        return failure;
    return rb_exc_new_str(pel_eError, rb_sprintf("the operation failed: %+" PRIsVALUE, failure));
}

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

static int delivers(const struct pel_job *job)
{
    return job->run == deliver || job->run == deliver_chain;
}

int pel_operation_deliver(struct pel_reactor *reactor, int *state)
{
    struct pel_taken_job taken = {.reactor = reactor};

    if (!pel_take_job(reactor, delivers, &taken.job))
        return 0;
    pel_protect(pel_run_job, (VALUE)&taken, state);
    return 1;
}

static void deliver_all(struct pel_reactor *reactor)
{
    int state = 0;

    while (pel_operation_deliver(reactor, &state))
        if (state)
            pel_rethrow(state);
}

void pel_operation_deliver_now(struct pel_operation *operation)
{
    struct pel_reactor *reactor = operation->reactor;

    if (reactor->phase == PEL_IDLE && reactor == pel_reactor_existing() &&
        (operation->state == PEL_SUCCEEDED || operation->heard))
        deliver_all(reactor);
}

void pel_operation_deliver_rest(void)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (reactor && reactor->phase == PEL_IDLE)
        deliver_all(reactor);
}

/* Where no reactor runs: the operation is done first, then the block runs. */
static void finish_now(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline)
{
    int state = 0, late = 0;

    deliver_all(reactor); /* what failed before, and nobody wanted to know */
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
        enqueue_delivery(operation, 0);
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
            enqueue_delivery(operation, 0);
    }
    if (reactor->phase == PEL_IDLE)
        finish_now(reactor, operation, deadline);
    RB_GC_GUARD(object);
    return object;
}
