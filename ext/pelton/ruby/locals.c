#include "locals.h"

#include "protect.h"

/*
 * Fiber-locals (Thread.current[:x]) that are carried from fiber to fiber, so that callbacks see them as if all ran on
 * one fiber: docs/adr/008-fiber-locals-and-stacks.md. There is one set, the loop's. A worker that gives control away
 * leaves it to the next; when its callback has ended, what the callback has changed meanwhile is added to what the
 * loop's set has become. Nobody can read the set of a fiber but that fiber itself.
 *
 * A set is a Hash, or nil when it is empty.
 */

/* ---- sets ----------------------------------------------------------------------------------------------------- */

static VALUE keys(void)
{
    return rb_funcall(rb_thread_current(), rb_intern("keys"), 0);
}

static VALUE take_set(VALUE nothing)
{
    VALUE thread = rb_thread_current(), names = keys(), set;

    if (RARRAY_LEN(names) == 0)
        return nothing;
    set = rb_hash_new();
    for (long i = 0; i < RARRAY_LEN(names); i++)
        rb_hash_aset(set, RARRAY_AREF(names, i), rb_thread_local_aref(thread, SYM2ID(RARRAY_AREF(names, i))));
    RB_GC_GUARD(names);
    return set;
}

static int put_one(VALUE name, VALUE value, VALUE thread)
{
    if (rb_thread_local_aref(thread, SYM2ID(name)) != value)
        rb_thread_local_aset(thread, SYM2ID(name), value);
    return ST_CONTINUE;
}

static int has(VALUE set, VALUE name)
{
    return !NIL_P(set) && rb_hash_lookup2(set, name, Qundef) != Qundef;
}

static VALUE put_set(VALUE set)
{
    VALUE thread = rb_thread_current(), names = keys();

    for (long i = 0; i < RARRAY_LEN(names); i++)
        if (!has(set, RARRAY_AREF(names, i)))
            rb_thread_local_aset(thread, SYM2ID(RARRAY_AREF(names, i)), Qnil);
    if (!NIL_P(set))
        rb_hash_foreach(set, put_one, thread);
    RB_GC_GUARD(names);
    return Qnil;
}

struct change {
    VALUE set, before, after;
};

static int change_one(VALUE name, VALUE value, VALUE argument)
{
    struct change *change = (struct change *)argument;

    if (NIL_P(change->before) || rb_hash_lookup2(change->before, name, Qundef) != value)
        rb_hash_aset(change->set, name, value);
    return ST_CONTINUE;
}

static int remove_one(VALUE name, VALUE value, VALUE argument)
{
    struct change *change = (struct change *)argument;

    if (!has(change->after, name))
        rb_hash_delete(change->set, name);
    return ST_CONTINUE;
}

/* The set, with the changes that made `after` of `before`. */
static VALUE changed(VALUE set, VALUE before, VALUE after)
{
    struct change change = {.before = before, .after = after};

    if (NIL_P(before) && NIL_P(after))
        return set;
    change.set = NIL_P(set) ? rb_hash_new() : rb_hash_dup(set);
    if (!NIL_P(after))
        rb_hash_foreach(after, change_one, (VALUE)&change);
    if (!NIL_P(before))
        rb_hash_foreach(before, remove_one, (VALUE)&change);
    return change.set;
}

/* ---- handing on ----------------------------------------------------------------------------------------------- */

static void leave(struct pel_worker *worker)
{
    struct pel_reactor *reactor = worker->reactor;
    VALUE mine;

    if (worker->left == Qundef)
        return;
    if (rb_fiber_current() != worker->fiber) { /* a fiber of the user's waits: what its callback has set comes later */
        if (!worker->left)
            worker->left = reactor->locals;
        return;
    }
    mine = worker->put_aside ? worker->put_aside : take_set(Qnil);
    reactor->locals = worker->left ? changed(reactor->locals, worker->left, mine) : mine;
    worker->left = mine;
}

static VALUE leave_locals(VALUE worker)
{
    leave((struct pel_worker *)worker);
    return Qnil;
}

static VALUE return_locals(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;

    leave(worker);
    put_set(worker->reactor->locals);
    return Qnil;
}

/* Without memory, or on a frozen thread, nothing is carried: no reason to end a fiber that has done nothing wrong. */
static void forgive(int state)
{
    if (state && NIL_P(pel_take_error(state)))
        pel_rethrow(state);
}

void pel_locals_leave(struct pel_worker *worker)
{
    int state;

    pel_protect(leave_locals, (VALUE)worker, &state);
    forgive(state);
}

void pel_locals_return(struct pel_worker *worker)
{
    int state;

    pel_protect(return_locals, (VALUE)worker, &state);
    worker->left = Qfalse;
    forgive(state);
}

void pel_locals_begin(struct pel_reactor *reactor)
{
    int state;

    for (struct pel_worker *worker = reactor->workers; worker; worker = worker->next)
        worker->left = Qundef;
    if (reactor->phase != PEL_IDLE) { /* the callback that runs begins it, for those to come */
        reactor->carries = 1;
        if (reactor->current_worker)
            reactor->current_worker->left = Qfalse;
        return;
    }
    reactor->carries = 2;
    reactor->locals = pel_protect(take_set, Qnil, &state);
    forgive(state);
}

void pel_locals_end(struct pel_reactor *reactor)
{
    VALUE set = reactor->locals;
    int state = 0, given = reactor->carries == 2;

    reactor->carries = 0;
    reactor->locals = Qnil;
    if (given)
        pel_protect(put_set, set, &state);
    forgive(state);
    RB_GC_GUARD(set);
}

/* ---- a clean set ---------------------------------------------------------------------------------------------- */

struct clean {
    struct pel_worker *worker; /* whose callback it is; NULL on any other fiber */
    VALUE set, outer;
};

static VALUE put_back(VALUE argument)
{
    struct clean *clean = (struct clean *)argument;

    put_set(clean->set);
    if (clean->worker)
        clean->worker->put_aside = clean->outer;
    return Qnil;
}

static VALUE with_clean(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument)
{
    struct pel_worker *worker = reactor->current_worker;
    struct clean clean = {.set = take_set(Qnil)};
    VALUE value;

    if (worker && worker->fiber == rb_fiber_current()) {
        clean.worker = worker;
        clean.outer = worker->put_aside;
        if (!worker->put_aside) /* within another one the loop's set has been put aside already */
            worker->put_aside = clean.set;
    }
    put_set(Qnil);
    value = rb_ensure(function, argument, put_back, (VALUE)&clean);
    RB_GC_GUARD(clean.set);
    return value;
}

VALUE pel_locals_fresh(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument)
{
    if (reactor->carries)
        return with_clean(reactor, function, argument);
    put_set(Qnil);
    return function(argument);
}

static VALUE yield_nothing(VALUE nothing)
{
    return rb_yield_values(0);
}

static VALUE reactor_with_clean_locals(VALUE self)
{
    rb_need_block();
    return with_clean(pel_reactor_get(self), yield_nothing, Qnil);
}

void pel_init_locals(void)
{
    rb_define_method(pel_cReactor, "with_clean_locals", reactor_with_clean_locals, 0);
}
