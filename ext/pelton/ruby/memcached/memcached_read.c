#include "ruby/memcached/commands.h"

/* Commands that read: mg. */

#define F(letter) PEL_MEMCACHED_FLAG(letter)

/* Sends a get. request: how its reply is read; decode: see struct pel_memcached_call. */
static VALUE read_item(struct pel_memcached_call *call, struct pel_memcached_command *command,
                       enum pel_memcached_request request, const char *name, enum pel_upcall decode)
{
    call->decode = decode;
    pel_memcached_notify(call, name);
    if (!pel_memcached_ready(call))
        return pel_memcached_finish_failed(call);
    command->key = call->key_slice;
    pel_memcached_check_written(call, request == PEL_MEMCACHED_TOUCH
                                          ? pel_memcached_write_get(&call->connection->stream.output, command)
                                          : pel_memcached_write_read(call->connection, command));
    return pel_memcached_finish(call, request);
}

static VALUE read_value(struct pel_memcached_call *call, struct pel_memcached_command *command, const char *name)
{
    if (!pel_memcached_uses_codec(call))
        return read_item(call, command, PEL_MEMCACHED_GET, name, 0);
    command->flags |= F('f');
    return read_item(call, command, PEL_MEMCACHED_GET_ENCODED, name, PEL_UPCALL_decode_value);
}

/* get(key, raw:, timeout:) */
static VALUE client_get(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = F('v')};

    pel_memcached_begin_for_key(&call, argc, argv, self, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_RAW);
    return read_value(&call, &command, "get");
}

/* stream(key, timeout:) */
static VALUE client_stream(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = F('v')};

    pel_memcached_begin_for_key(&call, argc, argv, self, PEL_MEMCACHED_TIMEOUT);
    return read_item(&call, &command, PEL_MEMCACHED_GET_STREAM, "stream", 0);
}

/* Begins a call whose ttl: is required, and returns the ttl as memcached reads it. */
static int64_t begin_with_ttl(struct pel_memcached_call *call, int argc, VALUE *argv, VALUE self,
                              enum pel_memcached_options known)
{
    pel_memcached_begin_for_key(call, argc, argv, self, known | PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_TTL);
    if (NIL_P(call->options[PEL_MEMCACHED_TTL_OPTION]))
        rb_raise(rb_eArgError, "missing keyword: :ttl (seconds; 0: no end)");
    return pel_memcached_ttl(call->options[PEL_MEMCACHED_TTL_OPTION]);
}

/* gat(key, ttl:, raw:, timeout:) */
static VALUE client_gat(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = F('v') | F('T')};

    command.ttl = begin_with_ttl(&call, argc, argv, self, PEL_MEMCACHED_RAW);
    return read_value(&call, &command, "gat");
}

/* touch(key, ttl:, timeout:) */
static VALUE client_touch(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = F('T')};

    command.ttl = begin_with_ttl(&call, argc, argv, self, 0);
    return read_item(&call, &command, PEL_MEMCACHED_TOUCH, "touch", 0);
}

/* gets(key, raw:, timeout:) */
static VALUE client_gets(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = F('v') | F('c')};

    pel_memcached_begin_for_key(&call, argc, argv, self, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_RAW);
    if (!pel_memcached_uses_codec(&call))
        return read_item(&call, &command, PEL_MEMCACHED_GETS, "gets", 0);
    command.flags |= F('f');
    return read_item(&call, &command, PEL_MEMCACHED_GETS, "gets", PEL_UPCALL_decode_gets);
}

/* item(key, recache:, raw:, timeout:) */
static VALUE client_item(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = F('v') | F('f') | F('c') | F('t')};
    VALUE recache;

    pel_memcached_begin_for_key(&call, argc, argv, self,
                                PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_RAW | PEL_MEMCACHED_RECACHE);
    recache = call.options[PEL_MEMCACHED_RECACHE_OPTION];
    if (!NIL_P(recache)) {
        command.flags |= F('R');
        command.recache_ttl = (int64_t)pel_memcached_number(recache, "recache:", INT32_MAX);
    }
    return read_item(&call, &command, PEL_MEMCACHED_GET_ITEM, "item",
                     pel_memcached_uses_codec(&call) ? PEL_UPCALL_decode_item : PEL_UPCALL_make_item);
}

void pel_init_memcached_read(VALUE class)
{
    rb_define_method(class, "get", client_get, -1);
    rb_define_method(class, "gets", client_gets, -1);
    rb_define_method(class, "gat", client_gat, -1);
    rb_define_method(class, "touch", client_touch, -1);
    rb_define_method(class, "item", client_item, -1);
    rb_define_method(class, "stream", client_stream, -1);
}
