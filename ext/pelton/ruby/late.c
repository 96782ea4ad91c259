#include "late.h"

#include "error.h"

/* The list of a fiber is a hidden instance variable of it: the run that it belongs to, then the exceptions in order. */

static ID id_late;

static VALUE kept(VALUE fiber)
{
    return rb_attr_get(fiber, id_late);
}

static int cancels(VALUE exception)
{
    return exception && RTEST(rb_obj_is_kind_of(exception, pel_eCancelled));
}

/* Who was cancelled because a run ended, and outlived it, is not cancelled in the next one. */
static VALUE kept_in_this_run(const struct pel_reactor *reactor, VALUE fiber)
{
    VALUE list = kept(fiber);

    if (NIL_P(list) || NUM2LL(RARRAY_AREF(list, 0)) == reactor->began_at)
        return list;
    rb_ary_store(list, 0, LL2NUM(reactor->began_at));
    for (long i = RARRAY_LEN(list) - 1; i > 0; i--)
        if (cancels(RARRAY_AREF(list, i)))
            rb_ary_delete_at(list, i);
    return list;
}

static VALUE list_of(const struct pel_reactor *reactor, VALUE fiber)
{
    VALUE list = kept_in_this_run(reactor, fiber);

    if (NIL_P(list)) {
        list = rb_ary_new_from_args(1, LL2NUM(reactor->began_at));
        rb_ivar_set(fiber, id_late, list);
    }
    return list;
}

/* Once is enough: the second Cancelled would strike the ensure block that the first one has begun. */
static int has_cancelled(VALUE list)
{
    for (long i = 1; i < RARRAY_LEN(list); i++)
        if (cancels(RARRAY_AREF(list, i)))
            return 1;
    return 0;
}

void pel_raise_next(struct pel_reactor *reactor, VALUE fiber, VALUE exception)
{
    VALUE list = list_of(reactor, fiber);

    if (!cancels(exception) || !has_cancelled(list))
        rb_ary_push(list, exception);
}

static int may_raise(const struct pel_waiter *waiter)
{
    return !waiter->unblocked && waiter->exception == Qfalse;
}

static void raise_in(struct pel_reactor *reactor, struct pel_waiter *waiter, VALUE exception)
{
    waiter->exception = exception;
    pel_waiter_fire(reactor, waiter);
}

void pel_waiter_raise(struct pel_reactor *reactor, struct pel_waiter *waiter, VALUE exception)
{
    if (may_raise(waiter))
        raise_in(reactor, waiter, exception);
    else if (!cancels(exception) || !cancels(waiter->exception))
        pel_raise_next(reactor, waiter->fiber, exception);
}

void pel_raise_soon(struct pel_reactor *reactor, VALUE fiber, struct pel_worker *worker, VALUE exception)
{
    struct pel_waiter *waiter = worker ? worker->waiter : NULL;

    if (!waiter || waiter->fiber != fiber)
        waiter = pel_waiter_of(reactor, fiber);
    if (waiter)
        pel_waiter_raise(reactor, waiter, exception);
    else
        pel_raise_next(reactor, fiber, exception);
}

void pel_waiter_postpone(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    VALUE list;

    if (waiter->exception == Qfalse)
        return;
    list = list_of(reactor, waiter->fiber);
    rb_ary_push(list, Qnil);
    for (long i = RARRAY_LEN(list) - 1; i > 1; i--)
        rb_ary_store(list, i, RARRAY_AREF(list, i - 1));
    rb_ary_store(list, 1, waiter->exception);
    waiter->exception = Qfalse;
}

void pel_late_take(struct pel_reactor *reactor, struct pel_waiter *waiter)
{
    VALUE list = kept_in_this_run(reactor, waiter->fiber);

    if (!NIL_P(list) && RARRAY_LEN(list) > 1 && may_raise(waiter))
        raise_in(reactor, waiter, rb_ary_delete_at(list, 1));
}

int pel_late_forget(VALUE fiber, VALUE exception)
{
    VALUE list = kept(fiber);

    for (long i = 1; !NIL_P(list) && i < RARRAY_LEN(list); i++)
        if (RARRAY_AREF(list, i) == exception) {
            rb_ary_delete_at(list, i);
            return 1;
        }
    return 0;
}

void pel_late_drop(VALUE fiber)
{
    if (!NIL_P(kept(fiber)))
        rb_ivar_set(fiber, id_late, Qnil);
}

void pel_init_late(void)
{
    id_late = rb_intern("pelton_late");
}
