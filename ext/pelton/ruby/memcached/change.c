#include "ruby/memcached/commands.h"

/* Commands that change an item and send no value: md, ma. */

#define F(letter) PEL_MEMCACHED_FLAG(letter)

static VALUE send_change(struct pel_memcached_call *call, struct pel_memcached_command *command,
                         enum pel_memcached_request request, const char *name,
                         int (*write)(struct pel_buffer *output, const struct pel_memcached_command *command))
{
    pel_memcached_notify(call, name);
    if (!pel_memcached_ready(call))
        return pel_memcached_finish_failed(call);
    command->key = call->key_slice;
    pel_memcached_check_written(call, write(&call->connection->stream.output, command));
    return pel_memcached_finish(call, request);
}

/* delete(key, cas:, timeout:) */
static VALUE client_delete(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = 0};

    pel_memcached_begin_for_key(&call, argc, argv, self, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_CAS);
    pel_memcached_take_cas(&call, &command);
    return send_change(&call, &command, PEL_MEMCACHED_DELETE, "delete", pel_memcached_write_delete);
}

static VALUE change_counter(int argc, VALUE *argv, VALUE self, char mode, const char *name)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = F('v') | F('M') | F('D'), .mode = mode, .delta = 1};
    VALUE key, by, options, initial, ttl;

    rb_scan_args(argc, argv, "11:", &key, &by, &options);
    pel_memcached_begin(&call, self, options, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_TTL | PEL_MEMCACHED_INITIAL);
    pel_memcached_set_key(&call, key);
    initial = call.options[PEL_MEMCACHED_INITIAL_OPTION];
    ttl = call.options[PEL_MEMCACHED_TTL_OPTION];
    if (!NIL_P(by))
        command.delta = pel_memcached_number(by, "the number to add or to subtract", UINT64_MAX);
    if (!NIL_P(initial)) {
        command.flags |= F('N') | F('J');
        command.initial = pel_memcached_number(initial, "initial:", UINT64_MAX);
        command.vivify_ttl = NIL_P(ttl) ? 0 : pel_memcached_ttl(ttl);
    } else if (!NIL_P(ttl)) {
        rb_raise(rb_eArgError, "ttl: applies when the counter is created: give initial: as well");
    }
    return send_change(&call, &command, PEL_MEMCACHED_COUNT, name, pel_memcached_write_arithmetic);
}

/* incr(key, by = 1, initial:, ttl:, timeout:) */
static VALUE client_incr(int argc, VALUE *argv, VALUE self)
{
    return change_counter(argc, argv, self, 'I', "incr");
}

/* decr(key, by = 1, initial:, ttl:, timeout:) */
static VALUE client_decr(int argc, VALUE *argv, VALUE self)
{
    return change_counter(argc, argv, self, 'D', "decr");
}

void pel_init_memcached_change(VALUE class)
{
    rb_define_method(class, "delete", client_delete, -1);
    rb_define_method(class, "incr", client_incr, -1);
    rb_define_method(class, "decr", client_decr, -1);
}
