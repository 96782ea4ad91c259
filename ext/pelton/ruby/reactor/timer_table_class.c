#include "ruby/reactor/reactor.h"

#include "core/base/slab.h"
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"

/*
 * Pelton::TimerTable: one-shot timers by number. The owner keeps a Hash of the callables by the same numbers
 * (EventMachine's timers are such a table). A timer here is a C record without a Ruby object: a hundred thousand of
 * them cost the garbage collector nothing.
 */

struct timer_table {
    struct pel_reactor *reactor;
    VALUE self;
    VALUE callables; /* a Hash by number; a callable is removed before it is called */
    VALUE owner;     /* its method _failed(error, callable) handles the errors that callables raise */
    unsigned fork_generation;
    uint8_t firing;           /* a callable runs */
    struct st_table *records; /* by number */
};

struct timer_record {
    struct pel_reactor_timer timer; /* first */
    struct timer_table *table;      /* NULL: the timer was cancelled while its job was queued */
    st_data_t number;
    uint8_t queued;
};

static struct pel_slab timer_records = PEL_SLAB(struct timer_record); /* guarded by the GVL */
static ID id_call;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void timer_table_mark(void *data)
{
    struct timer_table *table = data;

    rb_gc_mark(table->callables);
    rb_gc_mark(table->owner);
    if (table->reactor)
        rb_gc_mark(table->reactor->self);
}

static void free_timer_record(struct timer_table *table, struct timer_record *record)
{
    if (record->queued) {
        record->table = NULL; /* the job frees the record */
        return;
    }
    /* A loop that is closed makes its timers inactive. A child after a fork has none of its parent's timers. */
    if (pel_timer_active(&record->timer.entry) && table->fork_generation == pel_fork_generation)
        pel_timer_cancel(&table->reactor->loop.timers, &record->timer.entry);
    pel_slab_give(&timer_records, record);
}

static int free_table_entry(st_data_t number, st_data_t record, st_data_t table)
{
    (void)number;
    free_timer_record((struct timer_table *)table, (struct timer_record *)record);
    return ST_DELETE;
}

static void timer_table_free(void *data)
{
    struct timer_table *table = data;

    st_foreach(table->records, free_table_entry, (st_data_t)table);
    st_free_table(table->records);
    xfree(table);
}

static size_t timer_table_size(const void *data)
{
    const struct timer_table *table = data;
    return sizeof *table + st_memsize(table->records) + table->records->num_entries * sizeof(struct timer_record);
}

static const rb_data_type_t timer_table_type = {
    .wrap_struct_name = "Pelton::TimerTable",
    .function = {.dmark = timer_table_mark, .dfree = timer_table_free, .dsize = timer_table_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

/* ---- expiring ------------------------------------------------------------------------------------------------- */

static VALUE call_callable(VALUE callable)
{
    return rb_obj_is_proc(callable) ? rb_proc_call_with_block(callable, 0, NULL, Qnil)
                                    : rb_funcallv(callable, id_call, 0, NULL);
}

static void call_failed(VALUE owner, int state, VALUE callable)
{
    VALUE error = pel_take_error(state);

    if (NIL_P(error))
        pel_rethrow(state);
    pel_upcall(timer_failed, owner, error, callable);
}

static void run_timer_record(struct pel_reactor *reactor, void *data)
{
    struct timer_record *record = data;
    struct timer_table *table = record->table;
    VALUE number = ULL2NUM(record->number), self, callable, owner;
    int state;

    (void)reactor;
    if (table)
        st_delete(table->records, &record->number, NULL);
    pel_slab_give(&timer_records, record);
    if (!table || NIL_P(callable = rb_hash_delete(table->callables, number)))
        return;
    self = table->self; /* kept alive by the stack, because the callable may wait */
    owner = table->owner;
    table->firing = 1;
    pel_protect(call_callable, callable, &state);
    table->firing = 0;
    if (state)
        call_failed(owner, state, callable);
    RB_GC_GUARD(self);
    RB_GC_GUARD(owner);
    RB_GC_GUARD(callable);
}

static void drop_timer_record(void *data)
{
    struct timer_record *record = data;

    if (record->table)
        st_delete(record->table->records, &record->number, NULL);
    pel_slab_give(&timer_records, record);
}

static void timer_record_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct timer_record *record = (struct timer_record *)timer;

    record->queued = 1;
    pel_enqueue_due(reactor, (struct pel_job){.run = run_timer_record, .drop = drop_timer_record, .data = record});
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

static VALUE timer_table_s_allocate(VALUE class)
{
    struct timer_table *table;
    VALUE self = TypedData_Make_Struct(class, struct timer_table, &timer_table_type, table);

    table->self = self;
    table->callables = table->owner = Qnil;
    table->records = st_init_numtable();
    table->fork_generation = pel_fork_generation;
    return self;
}

/* new(callables, owner): on the running reactor of this thread. */
static VALUE timer_table_initialize(VALUE self, VALUE callables, VALUE owner)
{
    struct timer_table *table = rb_check_typeddata(self, &timer_table_type);

    Check_Type(callables, T_HASH);
    table->reactor = pel_reactor_running("Pelton::TimerTable.new");
    table->callables = callables;
    table->owner = owner;
    return self;
}

static struct timer_table *get_timer_table(VALUE self)
{
    struct timer_table *table = rb_check_typeddata(self, &timer_table_type);

    if (!table->reactor || table->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a timer table belongs to the thread and the process that made it");
    return table;
}

/* add(number, seconds): calls the callable of this number after so many seconds. */
static VALUE timer_table_add(VALUE self, VALUE number, VALUE seconds)
{
    struct timer_table *table = get_timer_table(self);
    int64_t nanoseconds = pel_nanoseconds(seconds);
    st_data_t key = (st_data_t)NUM2ULL(number);
    struct timer_record *record = pel_slab_take(&timer_records);

    if (!record)
        rb_memerror();
    record->timer.on_timeout = timer_record_on_timeout;
    record->table = table;
    record->number = key;
    st_insert(table->records, key, (st_data_t)record);
    pel_timer_add(&table->reactor->loop.timers, &record->timer.entry, pel_now() + nanoseconds);
    return Qnil;
}

/* cancel(number): returns whether there was such a timer. */
static VALUE timer_table_cancel(VALUE self, VALUE number)
{
    struct timer_table *table = get_timer_table(self);
    st_data_t key = (st_data_t)NUM2ULL(number), record;

    if (!st_delete(table->records, &key, &record))
        return Qfalse;
    free_timer_record(table, (struct timer_record *)record);
    return Qtrue;
}

/* clear: cancels all timers. */
static VALUE timer_table_clear(VALUE self)
{
    struct timer_table *table = get_timer_table(self);

    st_foreach(table->records, free_table_entry, (st_data_t)table);
    return Qnil;
}

/* firing?: whether a callable runs now. The answer is exact as long as callables do not wait. */
static VALUE timer_table_firing_p(VALUE self)
{
    return get_timer_table(self)->firing ? Qtrue : Qfalse;
}

void pel_init_timer_table(void)
{
    VALUE class = rb_define_class_under(pel_mPelton, "TimerTable", rb_cObject);

    id_call = rb_intern("call");
    rb_define_alloc_func(class, timer_table_s_allocate);
    rb_define_method(class, "initialize", timer_table_initialize, 2);
    rb_define_method(class, "add", timer_table_add, 2);
    rb_define_method(class, "cancel", timer_table_cancel, 1);
    rb_define_method(class, "clear", timer_table_clear, 0);
    rb_define_method(class, "firing?", timer_table_firing_p, 0);
}
