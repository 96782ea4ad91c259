#include "ruby/reactor/reactor.h"

/* A fiber's pending exceptions are an Array in a hidden instance variable: element 0 is the run that they belong to
 * (the time at which it began), the exceptions follow in their order. */

static ID id_pending_exceptions;

static VALUE pending_list(VALUE fiber)
{
    return rb_attr_get(fiber, id_pending_exceptions);
}

static int is_cancelled(VALUE exception)
{
    return exception && RTEST(rb_obj_is_kind_of(exception, pel_eCancelled));
}

/* Drops the Cancelled exceptions of an earlier run: a fiber that was cancelled because that run ended, and outlived it,
 * is not cancelled in this run. */
static VALUE pending_list_of_run(const struct pel_reactor *reactor, VALUE fiber)
{
    VALUE list = pending_list(fiber);

    if (NIL_P(list) || NUM2LL(RARRAY_AREF(list, 0)) == reactor->run.began_at)
        return list;
    rb_ary_store(list, 0, LL2NUM(reactor->run.began_at));
    for (long i = RARRAY_LEN(list) - 1; i > 0; i--)
        if (is_cancelled(RARRAY_AREF(list, i)))
            rb_ary_delete_at(list, i);
    return list;
}

static VALUE make_pending_list(const struct pel_reactor *reactor, VALUE fiber)
{
    VALUE list = pending_list_of_run(reactor, fiber);

    if (NIL_P(list)) {
        list = rb_ary_new_from_args(1, LL2NUM(reactor->run.began_at));
        rb_ivar_set(fiber, id_pending_exceptions, list);
    }
    return list;
}

/* One Cancelled is enough: a second one would strike the ensure block that the first one has started. */
static int has_cancelled(VALUE list)
{
    for (long i = 1; i < RARRAY_LEN(list); i++)
        if (is_cancelled(RARRAY_AREF(list, i)))
            return 1;
    return 0;
}

void pel_pending_exception_add(struct pel_reactor *reactor, VALUE fiber, VALUE exception)
{
    VALUE list = make_pending_list(reactor, fiber);

    if (!is_cancelled(exception) || !has_cancelled(list))
        rb_ary_push(list, exception);
}

/* ---- raising -------------------------------------------------------------------------------------------------- */

static int may_raise(const struct pel_waiter *waiter)
{
    return !waiter->unblocked && waiter->exception == Qfalse;
}

static void raise_in_waiter(struct pel_reactor *reactor, struct pel_waiter *waiter, VALUE exception)
{
    waiter->exception = exception;
    pel_waiter_fire(reactor, waiter);
}

void pel_waiter_raise(struct pel_reactor *reactor, struct pel_waiter *waiter, VALUE exception)
{
    if (may_raise(waiter))
        raise_in_waiter(reactor, waiter, exception);
    else if (!is_cancelled(exception) || !is_cancelled(waiter->exception))
        pel_pending_exception_add(reactor, waiter->fiber, exception);
}

int pel_raise_in(struct pel_reactor *reactor, VALUE fiber, VALUE exception)
{
    struct pel_waiter *waiter = pel_waiter_of(reactor, fiber);

    if (waiter)
        pel_waiter_raise(reactor, waiter, exception);
    return waiter != NULL;
}

void pel_raise_or_defer(struct pel_reactor *reactor, VALUE fiber, struct pel_worker *worker, VALUE exception)
{
    struct pel_waiter *waiter = worker ? worker->waiter : NULL;

    if (!waiter || waiter->fiber != fiber)
        waiter = pel_waiter_of(reactor, fiber);
    if (waiter)
        pel_waiter_raise(reactor, waiter, exception);
    else
        pel_pending_exception_add(reactor, fiber, exception);
}

/* ---- deferring ------------------------------------------------------------------------------------------------ */

void pel_waiter_defer_exception(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    VALUE list;

    if (waiter->exception == Qfalse)
        return;
    list = make_pending_list(reactor, waiter->fiber);
    rb_ary_push(list, Qnil);
    for (long i = RARRAY_LEN(list) - 1; i > 1; i--)
        rb_ary_store(list, i, RARRAY_AREF(list, i - 1));
    rb_ary_store(list, 1, waiter->exception);
    waiter->exception = Qfalse;
}

/* The waiter counts as unblocked even if its deadline or an exception came first: the caller has already given it the
 * Mutex or the item that it waits for. Its fiber may even have been switched to, if a trap handler runs there. */
void pel_waiter_unblock(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    pel_waiter_defer_exception(reactor, waiter);
    waiter->timed_out = 0;
    waiter->unblocked = 1;
    pel_waiter_fire(reactor, waiter);
}

void pel_pending_exception_take(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    VALUE list = pending_list_of_run(reactor, waiter->fiber);

    if (!NIL_P(list) && RARRAY_LEN(list) > 1 && may_raise(waiter))
        raise_in_waiter(reactor, waiter, rb_ary_delete_at(list, 1));
}

int pel_pending_exception_p(VALUE fiber)
{
    VALUE list = pending_list(fiber);

    return !NIL_P(list) && RARRAY_LEN(list) > 1;
}

int pel_pending_exception_forget(VALUE fiber, VALUE exception)
{
    VALUE list = pending_list(fiber);

    for (long i = 1; !NIL_P(list) && i < RARRAY_LEN(list); i++)
        if (RARRAY_AREF(list, i) == exception) {
            rb_ary_delete_at(list, i);
            return 1;
        }
    return 0;
}

void pel_pending_exception_drop(VALUE fiber)
{
    if (!NIL_P(pending_list(fiber)))
        rb_ivar_set(fiber, id_pending_exceptions, Qnil);
}

void pel_init_pending_exception(void)
{
    id_pending_exceptions = rb_intern("pelton_pending_exceptions");
}
