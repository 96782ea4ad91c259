#include "ruby/operation/operation.h"

#include "ruby/base/protect.h"

/* Calling the blocks of settled operations: by jobs, or at once where no loop runner runs. */

VALUE pel_operation_error(VALUE failure)
{
    if (rb_obj_is_kind_of(failure, rb_eException))
        return failure;
    return rb_exc_new_str(pel_eError, rb_sprintf("the operation failed: %+" PRIsVALUE, failure));
}

static void call_operation_block(VALUE proc, VALUE result, int splat)
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

static VALUE call_delivery(VALUE argument)
{
    struct delivery *delivery = (struct delivery *)argument;
    call_operation_block(delivery->proc, delivery->result, delivery->splat);
    return Qnil;
}

/* Calls the blocks in their order. An error in one does not keep the next from being called. */
static void deliver_operation(struct pel_reactor *reactor, void *data)
{
    struct pel_operation *operation = data;
    VALUE blocks = operation->state == PEL_SUCCEEDED ? operation->callbacks : operation->errbacks;
    VALUE result = operation->result;
    int splat = operation->splat;

    operation->queued = 0;
    operation->callbacks = operation->errbacks = Qfalse;
    if (operation->state == PEL_FAILED && !operation->handled) {
        operation->handled = 1;
        pel_operation_release(operation);
        pel_uncaught(reactor, pel_operation_error(result));
        return;
    }
    pel_operation_release(operation);
    if (!blocks)
        return;
    if (!RB_TYPE_P(blocks, T_ARRAY)) {
        call_operation_block(blocks, result, splat);
        return;
    }
    for (long i = 0; i < RARRAY_LEN(blocks); i++) {
        struct delivery delivery = {.proc = RARRAY_AREF(blocks, i), .result = result, .splat = splat};
        pel_dispatch(reactor, call_delivery, (VALUE)&delivery);
    }
    RB_GC_GUARD(blocks);
    RB_GC_GUARD(result);
}

/* The blocks are called when another one is added. */
static void drop_operation_job(void *data)
{
    ((struct pel_operation *)data)->queued = 0;
    pel_operation_release(data);
}

static void drop_operation_chain(void *data)
{
    for (struct pel_operation *operation = data, *next; operation; operation = next) {
        next = operation->next;
        drop_operation_job(operation);
    }
}

static void deliver_operation_chain(struct pel_reactor *reactor, void *data);

static struct pel_job operation_chain_job(struct pel_operation *first)
{
    return (struct pel_job){
        .run = deliver_operation_chain, .drop = drop_operation_chain, .data = first, .object = PEL_OPERATION_JOB};
}

static void deliver_operation_chain(struct pel_reactor *reactor, void *data)
{
    struct pel_operation *operation = data;

    if (operation->next)
        pel_enqueue_first(reactor, operation_chain_job(operation->next));
    deliver_operation(reactor, operation);
}

void pel_operation_mark_job(const struct pel_job *job)
{
    for (struct pel_operation *operation = job->data; operation;
         operation = job->run == deliver_operation_chain ? operation->next : NULL)
        pel_operation_mark(operation);
}

void pel_operation_enqueue(struct pel_operation *operation, int unlinked)
{
    struct pel_reactor *reactor = operation->reactor;
    struct pel_queue *ready = &reactor->queues.ready;
    struct pel_job *last = ready->count ? pel_queue_job(ready, ready->count - 1) : NULL;

    if (operation->queued)
        return;
    operation->queued = 1;
    operation->references++;
    if (!unlinked) {
        pel_enqueue(reactor, (struct pel_job){.run = deliver_operation,
                                              .drop = drop_operation_job,
                                              .data = operation,
                                              .object = PEL_OPERATION_JOB});
        return;
    }
    operation->next = NULL;
    if (last && last->run == deliver_operation_chain)
        reactor->operations.chain_end->next = operation;
    else
        pel_enqueue(reactor, operation_chain_job(operation));
    reactor->operations.chain_end = operation;
}

/* ---- where no loop runner runs -------------------------------------------------------------------------------- */

static int is_delivery(const struct pel_job *job)
{
    return job->run == deliver_operation || job->run == deliver_operation_chain;
}

int pel_operation_deliver(struct pel_reactor *reactor, int *state)
{
    struct pel_taken_job taken = {.reactor = reactor};

    if (!pel_take_matching_job(reactor, is_delivery, &taken.job))
        return 0;
    pel_protect(pel_run_job, (VALUE)&taken, state);
    return 1;
}

static void deliver_all_operations(struct pel_reactor *reactor)
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
        (operation->state == PEL_SUCCEEDED || operation->handled))
        deliver_all_operations(reactor);
}

void pel_operation_deliver_all(void)
{
    struct pel_reactor *reactor = pel_reactor_existing();

    if (reactor && reactor->phase == PEL_IDLE)
        deliver_all_operations(reactor);
}
