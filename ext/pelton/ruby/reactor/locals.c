#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

/*
 * Fiber-locals (Thread.current[:x]) are carried from fiber to fiber, so that callbacks see them as if all callbacks ran
 * on one fiber (docs/internals/adr/008-fiber-locals-and-stacks.md). There is one set, the loop's. A worker that hands
 * the loop over leaves this set to the next worker. When its callback has ended, the changes that the callback has made
 * meanwhile are added to the loop's set, as other callbacks have left it. Only a fiber itself can read its
 * fiber-locals.
 *
 * A set is a Hash, or nil when it is empty.
 */

/* ---- sets ----------------------------------------------------------------------------------------------------- */

static VALUE local_names(void)
{
    return rb_funcall(rb_thread_current(), rb_intern("keys"), 0);
}

static VALUE read_local_set(VALUE nothing)
{
    VALUE thread = rb_thread_current(), names = local_names(), set;

    if (RARRAY_LEN(names) == 0)
        return nothing;
    set = rb_hash_new();
    for (long i = 0; i < RARRAY_LEN(names); i++)
        rb_hash_aset(set, RARRAY_AREF(names, i), rb_thread_local_aref(thread, SYM2ID(RARRAY_AREF(names, i))));
    RB_GC_GUARD(names);
    return set;
}

static int write_local(VALUE name, VALUE value, VALUE thread)
{
    if (rb_thread_local_aref(thread, SYM2ID(name)) != value)
        rb_thread_local_aset(thread, SYM2ID(name), value);
    return ST_CONTINUE;
}

static int has_local(VALUE set, VALUE name)
{
    return !NIL_P(set) && rb_hash_lookup2(set, name, Qundef) != Qundef;
}

static VALUE write_local_set(VALUE set)
{
    VALUE thread = rb_thread_current(), names = local_names();

    for (long i = 0; i < RARRAY_LEN(names); i++)
        if (!has_local(set, RARRAY_AREF(names, i)))
            rb_thread_local_aset(thread, SYM2ID(RARRAY_AREF(names, i)), Qnil);
    if (!NIL_P(set))
        rb_hash_foreach(set, write_local, thread);
    RB_GC_GUARD(names);
    return Qnil;
}

struct set_change {
    VALUE set, before, after;
};

static int apply_change(VALUE name, VALUE value, VALUE argument)
{
    struct set_change *change = (struct set_change *)argument;

    if (NIL_P(change->before) || rb_hash_lookup2(change->before, name, Qundef) != value)
        rb_hash_aset(change->set, name, value);
    return ST_CONTINUE;
}

static int apply_removal(VALUE name, VALUE value, VALUE argument)
{
    struct set_change *change = (struct set_change *)argument;

    if (!has_local(change->after, name))
        rb_hash_delete(change->set, name);
    return ST_CONTINUE;
}

/* The set with the changes that lead from `before` to `after`: a copy, unless both are empty. */
static VALUE changed_local_set(VALUE set, VALUE before, VALUE after)
{
    struct set_change change = {.before = before, .after = after};

    if (NIL_P(before) && NIL_P(after))
        return set;
    change.set = NIL_P(set) ? rb_hash_new() : rb_hash_dup(set);
    if (!NIL_P(after))
        rb_hash_foreach(after, apply_change, (VALUE)&change);
    if (!NIL_P(before))
        rb_hash_foreach(before, apply_removal, (VALUE)&change);
    return change.set;
}

/* ---- carrying ------------------------------------------------------------------------------------------------- */

static void save_locals(struct pel_worker *worker)
{
    struct pel_reactor *reactor = worker->reactor;
    VALUE mine;

    if (worker->saved_locals == Qundef)
        return;
    if (rb_fiber_current() != worker->fiber) { /* a user's fiber waits: its callback's changes are added later */
        if (!worker->saved_locals)
            worker->saved_locals = reactor->locals.set;
        return;
    }
    mine = worker->outer_locals ? worker->outer_locals : read_local_set(Qnil);
    reactor->locals.set =
        worker->saved_locals ? changed_local_set(reactor->locals.set, worker->saved_locals, mine) : mine;
    worker->saved_locals = mine;
}

static VALUE leave_locals(VALUE worker)
{
    save_locals((struct pel_worker *)worker);
    return Qnil;
}

static VALUE return_locals(VALUE argument)
{
    struct pel_worker *worker = (struct pel_worker *)argument;

    save_locals(worker);
    write_local_set(worker->reactor->locals.set);
    return Qnil;
}

/* Without memory, or on a frozen thread, nothing is carried. That is no reason to end the fiber, which has done nothing
 * wrong. */
static void ignore_error(int state)
{
    if (state && NIL_P(pel_take_error(state)))
        pel_rethrow(state);
}

void pel_locals_leave(struct pel_worker *worker)
{
    int state;

    pel_protect(leave_locals, (VALUE)worker, &state);
    ignore_error(state);
}

void pel_locals_return(struct pel_worker *worker)
{
    int state;

    pel_protect(return_locals, (VALUE)worker, &state);
    worker->saved_locals = Qfalse;
    ignore_error(state);
}

void pel_locals_begin(struct pel_reactor *reactor)
{
    int state;

    for (struct pel_worker *worker = reactor->workers.first; worker; worker = worker->next)
        worker->saved_locals = Qundef;
    if (reactor->phase != PEL_IDLE) { /* the running callback begins the carrying, for later ones */
        reactor->locals.mode = PEL_LOCALS_CARRIED;
        if (reactor->workers.current)
            reactor->workers.current->saved_locals = Qfalse;
        return;
    }
    reactor->locals.mode = PEL_LOCALS_OF_CALLER;
    reactor->locals.set = pel_protect(read_local_set, Qnil, &state);
    ignore_error(state);
}

void pel_locals_end(struct pel_reactor *reactor)
{
    VALUE set = reactor->locals.set;
    int state = 0, of_caller = reactor->locals.mode == PEL_LOCALS_OF_CALLER;

    reactor->locals.mode = PEL_LOCALS_APART;
    reactor->locals.set = Qnil;
    if (of_caller)
        pel_protect(write_local_set, set, &state);
    ignore_error(state);
    RB_GC_GUARD(set);
}

/* ---- an empty set --------------------------------------------------------------------------------------------- */

struct clean_call {
    struct pel_worker *worker; /* if its callback makes the call; NULL on any other fiber */
    VALUE set, outer;
};

static VALUE restore_local_set(VALUE argument)
{
    struct clean_call *clean = (struct clean_call *)argument;

    write_local_set(clean->set);
    if (clean->worker)
        clean->worker->outer_locals = clean->outer;
    return Qnil;
}

VALUE pel_locals_clean(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument)
{
    struct pel_worker *worker = reactor->workers.current;
    struct clean_call clean = {.set = read_local_set(Qnil)};
    VALUE value;

    if (worker && worker->fiber == rb_fiber_current()) {
        clean.worker = worker;
        clean.outer = worker->outer_locals;
        if (!worker->outer_locals) /* an outer call has put the loop's set aside already */
            worker->outer_locals = clean.set;
    }
    write_local_set(Qnil);
    value = rb_ensure(function, argument, restore_local_set, (VALUE)&clean);
    RB_GC_GUARD(clean.set);
    return value;
}

/* ---- what tasks inherit ----------------------------------------------------------------------------------------- */

#ifdef HAVE_RB_FIBER_NEW_STORAGE
static VALUE storage(void)
{
    return rb_funcall(rb_fiber_current(), rb_intern("storage"), 0);
}

static int forget_value(VALUE name, VALUE value, VALUE fiber_class)
{
    (void)value;
    rb_funcall(fiber_class, rb_intern("[]="), 2, name, Qnil);
    return ST_CONTINUE;
}

/* Fibers are used again. */
static void clear_storage(void)
{
    VALUE set = storage();

    if (!NIL_P(set))
        rb_hash_foreach(set, forget_value, rb_obj_class(rb_fiber_current()));
}

static int storage_empty(void)
{
    VALUE set = storage();
    return NIL_P(set) || RHASH_EMPTY_P(set);
}
#else
static void clear_storage(void)
{
}

static int storage_empty(void)
{
    return 1;
}
#endif

VALUE pel_inherit(VALUE block)
{
    return pel_observed[PEL_EVENT_inheritance] || !storage_empty() ? pel_upcall(inherit, block) : block;
}

VALUE pel_locals_fresh(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument)
{
    if (reactor->locals.mode)
        return pel_locals_clean(reactor, function, argument);
    write_local_set(Qnil);
    clear_storage();
    return function(argument);
}
