#pragma once

#include "ruby/reactor/reactor.h"

/*
 * An operation completes once, and its caller learns of that in one of three ways: a fiber awaits it, a block is
 * called, or the caller composes its Deferrable (Pelton::Operation).
 *
 * The record is a C struct. A Ruby object for it is made only in callback style and for `later`. The object refers to
 * the record; the record never refers to the object, so an object that the program drops costs nothing but its slot.
 */

enum pel_state { PEL_PENDING, PEL_SUCCEEDED, PEL_FAILED };

/* A process may have hundreds of thousands of records: so they are small. */
struct pel_operation {
    union {
        struct pel_operation
            *next;                 /* for the producer, as its list of pending replies; later the ready queue's chain */
        struct pel_worker *worker; /* of a task that runs */
    };
    struct pel_reactor *reactor;
    struct pel_waiter *awaiters; /* fibers in await */
    VALUE callbacks, errbacks;   /* Qfalse, a Proc, or an Array of them */
    VALUE result;                /* value or error; a task's block before it starts; Qundef: none yet */
    uint32_t references;         /* of the producer, the object, and the ready queue */
    uint8_t request;             /* for the producer: the kind of request */
    unsigned state : 2, task : 2, keeps_running : 1, handled : 1, splat : 1, started : 1, queued : 1, has_timeout : 1;
    unsigned unhandled : 1;                /* on the list of operation_failure.c */
    unsigned transient : 1, cancelled : 1; /* of a task */
};

enum pel_task_kind {
    PEL_TASK = 1,
    PEL_MAIN_TASK,    /* run's block */
    PEL_DETACHED_TASK /* it is never awaited: its error is reported at once, as a callback's */
};

/* ---- the record (record.c) -------------------------------------------------------------------------------------- */

/* A new pending record with one reference, the producer's. keeps_running: it keeps Pelton.run going until it is
 * settled. */
struct pel_operation *pel_operation_new(struct pel_reactor *reactor, int keeps_running);
void pel_operation_release(struct pel_operation *operation);

/* Makes a pending operation keep Pelton.run going. */
void pel_operation_keep_running(struct pel_operation *operation);

/* For the producer's mark function, while it holds the record. */
void pel_operation_mark(struct pel_operation *operation);

/* ---- completing and awaiting (operation.c) ---------------------------------------------------------------------- */

/* Settle an operation that its producer has taken off its list: awaiting fibers become ready, callbacks are put on the
 * ready queue. No-op when it is settled already (cancelled, timed out): a late result is dropped. Run no Ruby code; may
 * raise NoMemoryError. */
void pel_operation_succeed(struct pel_operation *operation, VALUE value);
void pel_operation_fail(struct pel_operation *operation, VALUE error);

/* The same for any caller, while the producer may still hold the record. splat: the result is an Array of arguments. */
void pel_operation_settle(struct pel_operation *operation, enum pel_state state, VALUE result, int splat);

/* Calls the block, in a job of its own, when the operation comes to that state, or if it has come to it already. */
void pel_operation_add_block(VALUE self, enum pel_state state, VALUE block);

/* Parks or blocks until the operation is settled: 0; 1 when the deadline came first. *state is set when an exception
 * was raised. */
int pel_operation_wait(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline, int *state);

/* Raises the error of a failed operation. */
NORETURN(void pel_operation_raise(VALUE error));

/* Parks or blocks until the operation is settled; returns the value or raises. PEL_FOREVER: no deadline. After a
 * TimeoutError, or any other exception, the record is abandoned: settled, and a later result is dropped. */
VALUE pel_operation_await(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline);

/* Ends every method of the API that starts an operation: in direct style without a block, in callback style with one,
 * and for `later`. Takes over the caller's view of the record, not its reference. The deadline holds in direct style,
 * and where no reactor runs. */
VALUE pel_operation_finish(struct pel_reactor *reactor, struct pel_operation *operation, VALUE block, int later,
                           int64_t deadline);

/* ---- errors of tasks that were not handled yet (operation_failure.c) ------------------------------------------ */

/* Adds a task that has failed. The failure is reported when the task's object is collected or the run ends, unless it
 * was handled meanwhile. */
void pel_failure_add(struct pel_operation *task);

/* For the free function of an object whose record is on the list. */
void pel_failure_collected(struct pel_operation *task);

/* Enqueues the reports of all failures of a reactor's tasks, and returns their number. */
unsigned pel_failures_report(struct pel_reactor *reactor);

/* Where no loop runner runs: reports one failure. 0 when there is none; *state is set when the report raised. */
int pel_failures_report_now(struct pel_reactor *reactor, int *state);

/* ---- Operation#timeout (operation_timeout.c) -------------------------------------------------------------------- */

/* Cancels the timeout of an operation that has one. */
void pel_operation_clear_timeout(struct pel_operation *operation);

/* ---- the object (object.c) -------------------------------------------------------------------------------------- */

/* Makes the Pelton::Operation of a record. Call it once for each record. */
VALUE pel_operation_object(struct pel_operation *operation, VALUE class);

/* The same for a record without a producer, whose writers all know the object and call pel_operation_written: minor
 * collections need not look at it. */
VALUE pel_operation_protected_object(struct pel_operation *operation, VALUE class);

/* The write barrier: to be called after each write of a block or result to an object's record. Until then the value
 * must stay on the stack (RB_GC_GUARD), because a collection may come between: settling makes room for jobs. */
void pel_operation_written(VALUE self);

/* The class's allocator: makes an object with a record of its own, without a producer. */
VALUE pel_operation_allocate(VALUE class);

/* An object's record. */
struct pel_operation *pel_operation_get(VALUE self);

/* ---- calling blocks (operation_delivery.c) ---------------------------------------------------------------------- */

/* Enqueues a job that calls the blocks of a settled operation. unlinked: the producer has taken the record off its
 * list, so that its link is free: operations that are settled one after the other form a chain, one job instead of
 * thousands. */
void pel_operation_enqueue(struct pel_operation *operation, int unlinked);

/* Marks the operations of a job of theirs. */
void pel_operation_mark_job(const struct pel_job *job);

/* Where no loop runner runs: calls the blocks of one settled operation, in their order. Other jobs wait for run. 0 when
 * there is none; *state is set when a block raised. */
int pel_operation_deliver(struct pel_reactor *reactor, int *state);

/* Where no reactor runs: calls the blocks of all settled operations, the given one among them. What a block raises is
 * raised. A failure without an errback stays on the queue until the next operation, the next run, or the exit; then it
 * is reported. */
void pel_operation_deliver_now(struct pel_operation *operation);

/* Where no reactor runs, and at the process's exit: the same for all settled operations. */
void pel_operation_deliver_all(void);

/* The exception for a failure: the error itself, or a Pelton::Error whose message names the value it failed with. */
VALUE pel_operation_error(VALUE failure);

extern VALUE pel_cOperation;

/* Takes pel_operation_settle, which cancels timeouts and so lies above them. */
void pel_init_operation_timeout(void (*settle)(struct pel_operation *, enum pel_state, VALUE, int));
