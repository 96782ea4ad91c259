#ifndef PEL_OPERATION_H
#define PEL_OPERATION_H

#include "reactor.h"

/*
 * An operation: one thing that will complete once, and the three ways to learn of it: a fiber awaits it, a block is
 * called, or it is held as a Deferrable (Pelton::Operation) and composed.
 *
 * The record is C's. Its Ruby object is made only for callback style and `later`, and refers to the record; the record
 * never refers to the object, so an object that nobody keeps costs nothing but its slot.
 */

enum pel_state { PEL_PENDING, PEL_SUCCEEDED, PEL_FAILED };

/* There may be hundreds of thousands: it is kept small. */
struct pel_operation {
    union {
        struct pel_operation *next; /* the producer's to use: its list of pending replies; later the ready queue's */
        struct pel_worker *worker;  /* of a task that runs */
    };
    struct pel_reactor *reactor;
    struct pel_waiter *awaiters; /* fibers in await */
    VALUE callbacks, errbacks;   /* Qfalse, a Proc, or an Array of them */
    VALUE result;                /* value or error; a task's block before it starts; Qundef: none yet */
    uint32_t references;         /* who holds the record: its producer, its object, the ready queue */
    uint8_t request;             /* the producer's to use: what was asked */
    unsigned state : 2, task : 2, counted : 1, heard : 1, splat : 1, started : 1, queued : 1, limited : 1;
};

/* A new pending record with one reference: the producer's. counted: it keeps Pelton.run going until it is settled. */
struct pel_operation *pel_operation_new(struct pel_reactor *reactor, int counted);
void pel_operation_release(struct pel_operation *operation);

/* From now on it does, if it is pending. */
void pel_operation_count(struct pel_operation *operation);

/* For the producer's mark function, while it holds the record. */
void pel_operation_mark(struct pel_operation *operation);

/* Settles it, when its producer has taken it off its list: awaiting fibers become ready, callbacks are put on the ready
 * queue. No-op when it is settled already (cancelled, timed out): a late result is dropped. Plain C but for memory. */
void pel_operation_succeed(struct pel_operation *operation, VALUE value);
void pel_operation_fail(struct pel_operation *operation, VALUE error);

/* The same by anybody, while its producer may still hold it. splat: the result is an Array of arguments. */
void pel_operation_settle(struct pel_operation *operation, enum pel_state state, VALUE result, int splat);

/* Calls the block, in a job of its own, when the operation has come to that state, or has come to it already. */
void pel_operation_listen(struct pel_operation *operation, enum pel_state state, VALUE block);

/* Parks or blocks until it is settled: 0; 1 when the deadline came first. *state is set when something was raised. */
int pel_operation_wait(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline, int *state);

/* Raises the error of a failed operation. */
NORETURN(void pel_operation_raise(VALUE error));

/* Takes away the limit that Operation#timeout gave to a `limited` one. */
void pel_operation_unlimit(struct pel_operation *operation);

/* Parks or blocks until it is settled; returns the value or raises. PEL_FOREVER: no deadline. Raises TimeoutError; the
 * record is then abandoned: settled, and a later result dropped. */
VALUE pel_operation_await(struct pel_reactor *reactor, struct pel_operation *operation, int64_t deadline);

/* How every operation of the API ends: direct style without a block, callback style with one, and `later`. Takes over
 * the caller's view of the record, not its reference. deadline: for direct style, and where no reactor runs. */
VALUE pel_operation_finish(struct pel_reactor *reactor, struct pel_operation *operation, VALUE block, int later,
                           int64_t deadline);

/* Its Pelton::Operation. Make it once. */
VALUE pel_operation_object(struct pel_operation *operation, VALUE class);
struct pel_operation *pel_operation_get(VALUE self);

/* Starts run's block. */
void pel_spawn_main(struct pel_reactor *reactor, VALUE block);

/* ---- what listens to it (operation_delivery.c) ------------------------------------------------------------------ */

/* Has what listens to a settled operation called by a job. unlinked: its producer has taken it off its list, so that
 * its link is free: operations that are settled one after the other make one job, not thousands. */
void pel_operation_enqueue(struct pel_operation *operation, int unlinked);

/* Where nobody turns the loop: calls the blocks of one operation that was settled, in their order. Other jobs wait for
 * run. 0 when there is none; *state is set when a block raised. */
int pel_operation_deliver(struct pel_reactor *reactor, int *state);

/* Where no reactor runs: calls what listens to a settled operation, and whatever else is due. What a callback raises is
 * raised. A failure that nobody listens to yet stays due until the next operation, the next run, or the exit: then it
 * is reported. */
void pel_operation_deliver_now(struct pel_operation *operation);

/* Where no reactor runs, and at the process's exit: the same of all that is due. */
void pel_operation_deliver_rest(void);

/* What a failure raises: the error itself, or one that says with what else it failed. */
VALUE pel_operation_error(VALUE failure);

extern VALUE pel_cOperation;

void pel_init_operation(void);
void pel_init_operation_timeout(void);
void pel_init_task(void);

#endif
