#include "alarms_class.h"

#include "../core/slab.h"
#include "error.h"
#include "protect.h"
#include "reactor.h"

/*
 * Pelton::Alarms: instants by number, and what is to be called then, in a Hash that its owner keeps (EventMachine's
 * timers). An alarm is a record of C's and no object: a hundred thousand of them are nothing to the garbage collector.
 */

struct alarms {
    struct pel_reactor *reactor;
    VALUE self;
    VALUE callables; /* a Hash by number; one that is called is taken out first */
    VALUE owner;     /* its _failed(error, callable) is told what a callable raises */
    unsigned fork_generation;
    uint8_t ringing;
    struct st_table *records; /* by number */
};

struct record {
    struct pel_alarm alarm; /* first */
    struct alarms *owner;   /* NULL: it was cancelled while its job was queued */
    st_data_t number;
    uint8_t queued;
};

static struct pel_slab records = PEL_SLAB(struct record); /* guarded by the GVL */
static ID id_call, id_failed;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void alarms_mark(void *data)
{
    struct alarms *alarms = data;

    rb_gc_mark(alarms->callables);
    rb_gc_mark(alarms->owner);
    if (alarms->reactor)
        rb_gc_mark(alarms->reactor->self);
}

static void give_up(struct alarms *alarms, struct record *record)
{
    if (record->queued) {
        record->owner = NULL; /* its job gives it back */
        return;
    }
    /* The loop's own end makes its timers inactive; a child has none of its parent's. */
    if (pel_timer_active(&record->alarm.timer) && alarms->fork_generation == pel_fork_generation)
        pel_timer_cancel(&alarms->reactor->loop.timers, &record->alarm.timer);
    pel_slab_give(&records, record);
}

static int give_up_entry(st_data_t number, st_data_t record, st_data_t alarms)
{
    (void)number;
    give_up((struct alarms *)alarms, (struct record *)record);
    return ST_DELETE;
}

static void alarms_free(void *data)
{
    struct alarms *alarms = data;

    st_foreach(alarms->records, give_up_entry, (st_data_t)alarms);
    st_free_table(alarms->records);
    xfree(alarms);
}

static size_t alarms_size(const void *data)
{
    const struct alarms *alarms = data;
    return sizeof *alarms + st_memsize(alarms->records) + alarms->records->num_entries * sizeof(struct record);
}

static const rb_data_type_t alarms_type = {
    .wrap_struct_name = "Pelton::Alarms",
    .function = {.dmark = alarms_mark, .dfree = alarms_free, .dsize = alarms_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

/* ---- ringing -------------------------------------------------------------------------------------------------- */

static VALUE call(VALUE callable)
{
    return rb_obj_is_proc(callable) ? rb_proc_call_with_block(callable, 0, NULL, Qnil)
                                    : rb_funcallv(callable, id_call, 0, NULL);
}

static void tell(VALUE owner, int state, VALUE callable)
{
    VALUE arguments[2] = {pel_take_error(state), callable};

    if (NIL_P(arguments[0]))
        pel_rethrow(state);
    rb_funcallv(owner, id_failed, 2, arguments);
}

static void run_record(struct pel_reactor *reactor, void *data)
{
    struct record *record = data;
    struct alarms *alarms = record->owner;
    VALUE number = ULL2NUM(record->number), self, callable, owner;
    int state;

    (void)reactor;
    if (alarms)
        st_delete(alarms->records, &record->number, NULL);
    pel_slab_give(&records, record);
    if (!alarms || NIL_P(callable = rb_hash_delete(alarms->callables, number)))
        return;
    self = alarms->self; /* while this may wait */
    owner = alarms->owner;
    alarms->ringing = 1;
    pel_protect(call, callable, &state);
    alarms->ringing = 0;
    if (state)
        tell(owner, state, callable);
    RB_GC_GUARD(self);
    RB_GC_GUARD(owner);
    RB_GC_GUARD(callable);
}

static void drop_record(void *data)
{
    struct record *record = data;

    if (record->owner)
        st_delete(record->owner->records, &record->number, NULL);
    pel_slab_give(&records, record);
}

static void ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct record *record = (struct record *)alarm;

    record->queued = 1;
    pel_enqueue_due(reactor, (struct pel_job){.run = run_record, .drop = drop_record, .data = record});
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

static VALUE alarms_s_allocate(VALUE class)
{
    struct alarms *alarms;
    VALUE self = TypedData_Make_Struct(class, struct alarms, &alarms_type, alarms);

    alarms->self = self;
    alarms->callables = alarms->owner = Qnil;
    alarms->records = st_init_numtable();
    alarms->fork_generation = pel_fork_generation;
    return self;
}

/* new(callables, owner): on the running reactor of this thread. */
static VALUE alarms_initialize(VALUE self, VALUE callables, VALUE owner)
{
    struct alarms *alarms = rb_check_typeddata(self, &alarms_type);

    Check_Type(callables, T_HASH);
    alarms->reactor = pel_reactor_running("Pelton::Alarms.new");
    alarms->callables = callables;
    alarms->owner = owner;
    return self;
}

static struct alarms *get(VALUE self)
{
    struct alarms *alarms = rb_check_typeddata(self, &alarms_type);

    if (!alarms->reactor || alarms->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "alarms belong to the thread and the process that made them");
    return alarms;
}

/* _add(number, seconds): what callables have by this number is called then. */
static VALUE alarms_add(VALUE self, VALUE number, VALUE seconds)
{
    struct alarms *alarms = get(self);
    int64_t nanoseconds = pel_nanoseconds(seconds);
    st_data_t key = (st_data_t)NUM2ULL(number);
    struct record *record = pel_slab_take(&records);

    if (!record)
        rb_memerror();
    record->alarm.ring = ring;
    record->owner = alarms;
    record->number = key;
    st_insert(alarms->records, key, (st_data_t)record);
    pel_timer_add(&alarms->reactor->loop.timers, &record->alarm.timer, pel_now() + nanoseconds);
    return Qnil;
}

/* _cancel(number): whether there was one. */
static VALUE alarms_cancel(VALUE self, VALUE number)
{
    struct alarms *alarms = get(self);
    st_data_t key = (st_data_t)NUM2ULL(number), record;

    if (!st_delete(alarms->records, &key, &record))
        return Qfalse;
    give_up(alarms, (struct record *)record);
    return Qtrue;
}

/* _clear: none is left. */
static VALUE alarms_clear(VALUE self)
{
    struct alarms *alarms = get(self);

    st_foreach(alarms->records, give_up_entry, (st_data_t)alarms);
    return Qnil;
}

/* _ringing?: whether one of them is being called, as far as it did not wait. */
static VALUE alarms_ringing_p(VALUE self)
{
    return get(self)->ringing ? Qtrue : Qfalse;
}

void pel_init_alarms(void)
{
    VALUE class = rb_define_class_under(pel_mPelton, "Alarms", rb_cObject);

    id_call = rb_intern("call");
    id_failed = rb_intern("_failed");
    rb_define_alloc_func(class, alarms_s_allocate);
    rb_define_method(class, "initialize", alarms_initialize, 2);
    rb_define_method(class, "_add", alarms_add, 2);
    rb_define_method(class, "_cancel", alarms_cancel, 1);
    rb_define_method(class, "_clear", alarms_clear, 0);
    rb_define_method(class, "_ringing?", alarms_ringing_p, 0);
}
