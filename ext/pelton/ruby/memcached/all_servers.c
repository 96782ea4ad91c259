#include "ruby/memcached/commands.h"
#include "ruby/memcached/fan_out.h"

/* Commands for servers instead of keys: version, versions, stats, flush_all. */

struct server_command {
    struct pel_memcached_call call;
    struct pel_memcached_fan_out *fan_out;
    uint32_t delay;
    struct pel_slice what;
};

static int write_server_command(struct server_command *command)
{
    struct pel_buffer *output = &command->call.connection->stream.output;

    switch (command->fan_out->kind) {
    case PEL_MEMCACHED_FAN_OUT_FLUSHED:
        return pel_memcached_write_flush_all(output, command->delay);
    case PEL_MEMCACHED_FAN_OUT_STATISTICS:
        return pel_memcached_write_stats(output, command->what);
    default:
        return pel_memcached_write_version(output);
    }
}

static VALUE write_to_all_servers(VALUE argument)
{
    struct server_command *command = (struct server_command *)argument;
    struct pel_memcached_call *call = &command->call;

    for (size_t server = 0; server < call->client->server_count; server++) {
        int code;
        VALUE self;
        if (pel_memcached_ready_at(call, server * call->client->slot_count) <= 0) {
            pel_memcached_fan_out_fail(command->fan_out, call->error);
            continue;
        }
        self = call->connection->self;
        pel_memcached_fan_out_add(command->fan_out, call->connection, Qnil, 1);
        if ((code = write_server_command(command)) < 0)
            pel_memcached_fail(call->connection, code, 0, "a command could not be written");
        else
            pel_memcached_send_soon(call->connection);
        RB_GC_GUARD(self);
    }
    return Qnil;
}

static VALUE run_on_all_servers(struct server_command *command, enum pel_memcached_fan_out_kind kind, const char *name)
{
    VALUE result, outcome;

    pel_memcached_notify(&command->call, name);
    command->call.fixed = 1;
    command->fan_out = pel_memcached_fan_out_new(pel_reactor_current(), kind, command->call.deadline);
    outcome = command->fan_out->outcome;
    result = pel_memcached_finish_fan_out(&command->call, command->fan_out, write_to_all_servers, (VALUE)command);
    RB_GC_GUARD(outcome);
    return result;
}

/* Begins a command that has options alone. */
static void begin_with_options(struct pel_memcached_call *call, int argc, VALUE *argv, VALUE self,
                               enum pel_memcached_options known)
{
    VALUE options;

    rb_scan_args(argc, argv, "0:", &options);
    pel_memcached_begin(call, self, options, known);
}

/* flush_all(delay:, timeout:) */
static VALUE client_flush_all(int argc, VALUE *argv, VALUE self)
{
    struct server_command command = {.delay = 0};
    VALUE delay;

    begin_with_options(&command.call, argc, argv, self, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_DELAY);
    delay = command.call.options[PEL_MEMCACHED_DELAY_OPTION];
    if (!NIL_P(delay))
        command.delay = (uint32_t)pel_memcached_number(delay, "delay:", INT32_MAX);
    return run_on_all_servers(&command, PEL_MEMCACHED_FAN_OUT_FLUSHED, "flush_all");
}

/* stats(what = nil, timeout:) */
static VALUE client_stats(int argc, VALUE *argv, VALUE self)
{
    struct server_command command = {.delay = 0};
    VALUE what, options, result;

    rb_scan_args(argc, argv, "01:", &what, &options);
    pel_memcached_begin(&command.call, self, options, PEL_MEMCACHED_TIMEOUT);
    if (!NIL_P(what)) {
        what = rb_str_new_frozen(RB_SYMBOL_P(what) ? rb_sym2str(what) : rb_str_to_str(what));
        command.what = pel_string_slice(what);
        if (pel_memcached_check_key(command.what.bytes, command.what.length) < 0)
            rb_raise(rb_eArgError, "the name of statistics consists of letters, such as \"items\", not %+" PRIsVALUE,
                     what);
    }
    result = run_on_all_servers(&command, PEL_MEMCACHED_FAN_OUT_STATISTICS, "stats");
    RB_GC_GUARD(what);
    return result;
}

/* versions(timeout:) */
static VALUE client_versions(int argc, VALUE *argv, VALUE self)
{
    struct server_command command = {.delay = 0};

    begin_with_options(&command.call, argc, argv, self, PEL_MEMCACHED_TIMEOUT);
    return run_on_all_servers(&command, PEL_MEMCACHED_FAN_OUT_VERSIONS, "versions");
}

/* version(timeout:): the first server's. */
static VALUE client_version(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;

    begin_with_options(&call, argc, argv, self, PEL_MEMCACHED_TIMEOUT);
    pel_memcached_notify(&call, "version");
    call.fixed = 1;
    if (!pel_memcached_ready(&call))
        return pel_memcached_finish_failed(&call);
    if (pel_memcached_write_version(&call.connection->stream.output) < 0)
        rb_memerror();
    return pel_memcached_finish(&call, PEL_MEMCACHED_GET_VERSION);
}

void pel_init_memcached_all_servers(VALUE class)
{
    rb_define_method(class, "version", client_version, -1);
    rb_define_method(class, "versions", client_versions, -1);
    rb_define_method(class, "flush_all", client_flush_all, -1);
    rb_define_method(class, "stats", client_stats, -1);
}
