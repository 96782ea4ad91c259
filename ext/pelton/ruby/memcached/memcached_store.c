#include "ruby/memcached/commands.h"

/* Commands that store a value: ms. */

#define F(letter) PEL_MEMCACHED_FLAG(letter)
#define STORE_OPTIONS (PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_TTL | PEL_MEMCACHED_FLAGS | PEL_MEMCACHED_RAW)

static VALUE store_value(int argc, VALUE *argv, VALUE self, char mode, const char *name,
                         enum pel_memcached_options known)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.mode = mode, .flags = mode == 'S' ? 0 : F('M')};
    struct pel_memcached_encoded value;
    VALUE key, object, options = Qnil;

    if (argc == 2 && !rb_keyword_given_p()) {
        key = argv[0];
        object = argv[1];
    } else {
        rb_scan_args(argc, argv, "2:", &key, &object, &options);
    }
    pel_memcached_begin(&call, self, options, known);
    pel_memcached_set_key(&call, key);
    if (!(known & PEL_MEMCACHED_RAW)) /* append and prepend: their bytes are always raw */
        call.options[PEL_MEMCACHED_RAW_OPTION] = Qtrue;
    value = pel_memcached_encode(&call, object);
    if (value.flags) {
        command.flags |= F('F');
        command.client_flags = value.flags;
    }
    pel_memcached_take_ttl(&call, &command);
    pel_memcached_take_cas(&call, &command);
    pel_memcached_notify(&call, name);
    if (!pel_memcached_ready(&call))
        return pel_memcached_finish_failed(&call);
    command.key = call.key_slice;
    pel_memcached_check_written(&call, pel_memcached_write_value(call.connection, &command, value.string));
    RB_GC_GUARD(value.string);
    return pel_memcached_finish(&call, PEL_MEMCACHED_STORE);
}

/* set(key, value, ttl:, flags:, cas:, raw:, timeout:) */
static VALUE client_set(int argc, VALUE *argv, VALUE self)
{
    return store_value(argc, argv, self, 'S', "set", STORE_OPTIONS | PEL_MEMCACHED_CAS);
}

/* add(key, value, ttl:, flags:, raw:, timeout:) */
static VALUE client_add(int argc, VALUE *argv, VALUE self)
{
    return store_value(argc, argv, self, 'E', "add", STORE_OPTIONS);
}

/* replace(key, value, ttl:, flags:, raw:, timeout:) */
static VALUE client_replace(int argc, VALUE *argv, VALUE self)
{
    return store_value(argc, argv, self, 'R', "replace", STORE_OPTIONS);
}

/* append(key, string, timeout:) */
static VALUE client_append(int argc, VALUE *argv, VALUE self)
{
    return store_value(argc, argv, self, 'A', "append", PEL_MEMCACHED_TIMEOUT);
}

/* prepend(key, string, timeout:) */
static VALUE client_prepend(int argc, VALUE *argv, VALUE self)
{
    return store_value(argc, argv, self, 'P', "prepend", PEL_MEMCACHED_TIMEOUT);
}

void pel_init_memcached_store(VALUE class)
{
    rb_define_method(class, "set", client_set, -1);
    rb_define_method(class, "add", client_add, -1);
    rb_define_method(class, "replace", client_replace, -1);
    rb_define_method(class, "append", client_append, -1);
    rb_define_method(class, "prepend", client_prepend, -1);
}
