#include "memcached_commands.h"
#include "memcached_gather.h"

/* Commands for the servers themselves. */

struct everywhere {
    struct pel_memcached_call call;
    struct pel_memcached_gather *gather;
    uint32_t delay;
    struct pel_slice what;
};

static int write_one(struct everywhere *everywhere)
{
    struct pel_buffer *output = pel_memcached_output(everywhere->call.connection);

    switch (everywhere->gather->kind) {
    case PEL_MEMCACHED_GATHER_FLUSHED:
        return pel_memcached_write_flush_all(output, everywhere->delay);
    case PEL_MEMCACHED_GATHER_STATISTICS:
        return pel_memcached_write_stats(output, everywhere->what);
    default:
        return pel_memcached_write_version(output);
    }
}

static VALUE write_parts(VALUE argument)
{
    struct everywhere *everywhere = (struct everywhere *)argument;
    struct pel_memcached_call *call = &everywhere->call;

    for (size_t server = 0; server < call->client->server_count; server++) {
        int code;
        VALUE self;
        if (pel_memcached_ready_at(call, server * call->client->lane_count) <= 0) {
            pel_memcached_gather_fail(everywhere->gather, call->error);
            continue;
        }
        self = call->connection->self;
        pel_memcached_gather_add(everywhere->gather, call->connection, Qnil, 1);
        if ((code = write_one(everywhere)) < 0)
            pel_memcached_fail(call->connection, code, 0, "a command could not be written");
        else
            pel_memcached_sent(call->connection);
        RB_GC_GUARD(self);
    }
    return Qnil;
}

static VALUE run(struct everywhere *everywhere, enum pel_memcached_gather_kind kind, const char *name)
{
    VALUE result, kept;

    pel_memcached_tell(&everywhere->call, name);
    everywhere->call.fixed = 1;
    everywhere->gather = pel_memcached_gather_new(pel_reactor_current(), kind, everywhere->call.timeout);
    kept = everywhere->gather->kept;
    result = pel_memcached_finish_gather(&everywhere->call, everywhere->gather, write_parts, (VALUE)everywhere);
    RB_GC_GUARD(kept);
    return result;
}

/* flush_all(delay:, timeout:) */
static VALUE client_flush_all(int argc, VALUE *argv, VALUE self)
{
    struct everywhere everywhere = {.delay = 0};
    VALUE options, delay;

    rb_scan_args(argc, argv, "0:", &options);
    pel_memcached_begin(&everywhere.call, self, options, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_DELAY);
    delay = everywhere.call.options[PEL_MEMCACHED_DELAY_OPTION];
    if (!NIL_P(delay))
        everywhere.delay = (uint32_t)pel_memcached_number(delay, "delay:", INT32_MAX);
    return run(&everywhere, PEL_MEMCACHED_GATHER_FLUSHED, "flush_all");
}

/* stats(what = nil, timeout:) */
static VALUE client_stats(int argc, VALUE *argv, VALUE self)
{
    struct everywhere everywhere = {.delay = 0};
    VALUE what, options, result;

    rb_scan_args(argc, argv, "01:", &what, &options);
    pel_memcached_begin(&everywhere.call, self, options, PEL_MEMCACHED_TIMEOUT);
    if (!NIL_P(what)) {
        what = rb_str_new_frozen(RB_SYMBOL_P(what) ? rb_sym2str(what) : rb_str_to_str(what));
        everywhere.what = (struct pel_slice){RSTRING_PTR(what), (size_t)RSTRING_LEN(what)};
        if (pel_memcached_check_key(everywhere.what.bytes, everywhere.what.length) < 0)
            rb_raise(rb_eArgError, "statistics have a name of letters, such as \"items\", not %+" PRIsVALUE, what);
    }
    result = run(&everywhere, PEL_MEMCACHED_GATHER_STATISTICS, "stats");
    RB_GC_GUARD(what);
    return result;
}

/* versions(timeout:) */
static VALUE client_versions(int argc, VALUE *argv, VALUE self)
{
    struct everywhere everywhere = {.delay = 0};
    VALUE options;

    rb_scan_args(argc, argv, "0:", &options);
    pel_memcached_begin(&everywhere.call, self, options, PEL_MEMCACHED_TIMEOUT);
    return run(&everywhere, PEL_MEMCACHED_GATHER_VERSIONS, "versions");
}

/* version(timeout:): of the first server. */
static VALUE client_version(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    VALUE options;

    rb_scan_args(argc, argv, "0:", &options);
    pel_memcached_begin(&call, self, options, PEL_MEMCACHED_TIMEOUT);
    pel_memcached_tell(&call, "version");
    call.fixed = 1;
    if (!pel_memcached_ready_at(&call, 0))
        return pel_memcached_refused(&call);
    if (pel_memcached_write_version(pel_memcached_output(call.connection)) < 0)
        rb_memerror();
    return pel_memcached_finish(&call, PEL_MEMCACHED_GET_VERSION);
}

void pel_init_memcached_everywhere(VALUE class)
{
    rb_define_method(class, "version", client_version, -1);
    rb_define_method(class, "versions", client_versions, -1);
    rb_define_method(class, "flush_all", client_flush_all, -1);
    rb_define_method(class, "stats", client_stats, -1);
}
