#include <ruby/encoding.h>
#include "ruby/memcached/commands.h"
#include "ruby/memcached/fan_out.h"

/* Commands for many keys: one operation, one write for each server. */

#define SLOT_DONE UINT32_MAX

struct multi {
    struct pel_memcached_call call;
    struct pel_memcached_fan_out *fan_out;
    VALUE names;         /* Array of the keys as the caller gave them: frozen Strings, or Symbols */
    VALUE values, flags; /* of a set: Arrays of Strings and Integers */
    uint32_t *slots;     /* the index of each key's connection slot; SLOT_DONE once its command is written */
    VALUE slots_memory;
    struct pel_memcached_command command;
};

/* A String of a class of the program's becomes a plain one: the reply's Hash would call its eql?, while the loop
 * receives, where no Ruby code may run. */
static VALUE multi_name(VALUE key)
{
    if (RB_SYMBOL_P(key))
        return key;
    key = rb_str_to_str(key);
    if (RBASIC_CLASS(key) != rb_cString)
        key = rb_enc_str_new(RSTRING_PTR(key), RSTRING_LEN(key), rb_enc_get(key));
    return rb_str_new_frozen(key);
}

/* Makes the key of this index the call's key, and returns it with the namespace. */
static struct pel_slice select_key(struct multi *multi, long index)
{
    VALUE name = RARRAY_AREF(multi->names, index);

    multi->call.key = RB_SYMBOL_P(name) ? rb_sym2str(name) : name;
    return pel_memcached_whole_key(&multi->call);
}

static void check_keys(struct multi *multi)
{
    for (long i = 0; i < RARRAY_LEN(multi->names); i++) {
        struct pel_slice key = multi->call.key_slice = select_key(multi, i);
        pel_memcached_check_written(&multi->call, pel_memcached_check_key(key.bytes, key.length));
    }
}

static void choose_slots(struct multi *multi)
{
    for (long i = 0; i < RARRAY_LEN(multi->names); i++)
        if (multi->slots[i] != SLOT_DONE)
            multi->slots[i] = (uint32_t)pel_memcached_key_slot(multi->call.client, select_key(multi, i));
}

static int write_key_command(struct multi *multi, long index)
{
    struct pel_memcached_connection *connection = multi->call.connection;

    multi->command.key = select_key(multi, index);
    switch (multi->fan_out->kind) {
    case PEL_MEMCACHED_FAN_OUT_STORED:
        multi->command.client_flags = NUM2UINT(RARRAY_AREF(multi->flags, index));
        return pel_memcached_write_value(connection, &multi->command, RARRAY_AREF(multi->values, index));
    case PEL_MEMCACHED_FAN_OUT_DELETED:
        return pel_memcached_write_delete(&connection->stream.output, &multi->command);
    default:
        return pel_memcached_write_read(connection, &multi->command);
    }
}

/* Writes all commands for one slot, whose connection is ready. The shard request is added before its commands: nothing
 * can raise between the two, and a command that cannot be written ends the connection. */
static void write_shard(struct multi *multi, uint32_t slot)
{
    struct pel_memcached_connection *connection = multi->call.connection;
    VALUE self = connection->self, names = rb_ary_new();

    for (long i = 0; i < RARRAY_LEN(multi->names); i++)
        if (multi->slots[i] == slot)
            rb_ary_push(names, RARRAY_AREF(multi->names, i));
    pel_memcached_fan_out_add(multi->fan_out, connection, names, (size_t)RARRAY_LEN(names));
    for (long i = 0; i < RARRAY_LEN(multi->names); i++) {
        int code;
        if (multi->slots[i] != slot)
            continue;
        if (!connection->closed && (code = write_key_command(multi, i)) < 0)
            pel_memcached_fail(connection, code, 0, "a command could not be written");
        multi->slots[i] = SLOT_DONE;
    }
    if (!connection->closed)
        pel_memcached_send_soon(connection);
    RB_GC_GUARD(self);
    RB_GC_GUARD(names);
}

static void fail_shard(struct multi *multi, uint32_t slot)
{
    pel_memcached_fan_out_fail(multi->fan_out, multi->call.error);
    for (long i = 0; i < RARRAY_LEN(multi->names); i++)
        if (multi->slots[i] == slot)
            multi->slots[i] = SLOT_DONE;
}

static VALUE write_shards(VALUE argument)
{
    struct multi *multi = (struct multi *)argument;
    long count = RARRAY_LEN(multi->names);

    if (multi->call.client->recheck_at)
        pel_memcached_recheck_servers(multi->call.self, multi->call.client);
    choose_slots(multi);
    for (long i = 0; i < count;) {
        uint32_t slot = multi->slots[i];
        int ready;
        if (slot == SLOT_DONE) {
            i++;
        } else if ((ready = pel_memcached_ready_at(&multi->call, slot)) < 0) {
            choose_slots(multi);
        } else if (ready) {
            write_shard(multi, slot);
        } else {
            fail_shard(multi, slot);
        }
    }
    return Qnil;
}

static VALUE run_multi(struct multi *multi, enum pel_memcached_fan_out_kind kind, const char *name)
{
    VALUE result, outcome;

    check_keys(multi);
    multi->call.key = multi->names;
    pel_memcached_notify(&multi->call, name);
    multi->slots = rb_alloc_tmp_buffer2(&multi->slots_memory, RARRAY_LEN(multi->names), sizeof(uint32_t));
    memset(multi->slots, 0, sizeof(uint32_t) * (size_t)RARRAY_LEN(multi->names));
    multi->fan_out = pel_memcached_fan_out_new(pel_reactor_current(), kind, multi->call.deadline);
    multi->fan_out->partial = RTEST(multi->call.options[PEL_MEMCACHED_PARTIAL_OPTION]);
    outcome = multi->fan_out->outcome;
    result = pel_memcached_finish_fan_out(&multi->call, multi->fan_out, write_shards, (VALUE)multi);
    rb_free_tmp_buffer(&multi->slots_memory);
    RB_GC_GUARD(outcome);
    return result;
}

/* The keys of a call: get_multi("a", "b"), get_multi(["a", "b"]). */
static void begin_multi(struct multi *multi, int argc, VALUE *argv, VALUE self, enum pel_memcached_options known)
{
    VALUE keys, options;

    rb_scan_args(argc, argv, "*:", &keys, &options);
    *multi = (struct multi){.command = {.flags = 0}};
    pel_memcached_begin(&multi->call, self, options, known);
    if (RARRAY_LEN(keys) == 1 && RB_TYPE_P(RARRAY_AREF(keys, 0), T_ARRAY))
        keys = RARRAY_AREF(keys, 0);
    multi->names = rb_ary_new_capa(RARRAY_LEN(keys));
    for (long i = 0; i < RARRAY_LEN(keys); i++)
        rb_ary_push(multi->names, multi_name(RARRAY_AREF(keys, i)));
}

/* get_multi(*keys, partial:, raw:, timeout:) */
static VALUE client_get_multi(int argc, VALUE *argv, VALUE self)
{
    struct multi multi;

    begin_multi(&multi, argc, argv, self, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_RAW | PEL_MEMCACHED_PARTIAL);
    multi.command.flags = PEL_MEMCACHED_FLAG('v');
    if (!pel_memcached_uses_codec(&multi.call))
        return run_multi(&multi, PEL_MEMCACHED_FAN_OUT_VALUES, "get_multi");
    multi.command.flags |= PEL_MEMCACHED_FLAG('f');
    multi.call.decode = PEL_UPCALL_decode_values;
    return run_multi(&multi, PEL_MEMCACHED_FAN_OUT_ENCODED_VALUES, "get_multi");
}

/* delete_multi(*keys, timeout:) */
static VALUE client_delete_multi(int argc, VALUE *argv, VALUE self)
{
    struct multi multi;

    begin_multi(&multi, argc, argv, self, PEL_MEMCACHED_TIMEOUT);
    return run_multi(&multi, PEL_MEMCACHED_FAN_OUT_DELETED, "delete_multi");
}

static int take_pair(VALUE key, VALUE value, VALUE argument)
{
    struct multi *multi = (struct multi *)argument;

    rb_ary_push(multi->names, key);
    rb_ary_push(multi->values, value);
    return ST_CONTINUE;
}

/* Encoding calls the user's serializer, so it comes after the iteration over the user's Hash. */
static void encode_all(struct multi *multi)
{
    multi->flags = rb_ary_new_capa(RARRAY_LEN(multi->names));
    for (long i = 0; i < RARRAY_LEN(multi->names); i++) {
        struct pel_memcached_encoded value = pel_memcached_encode(&multi->call, RARRAY_AREF(multi->values, i));
        if (RSTRING_LEN(value.string) > PEL_MEMCACHED_VALUE_LIMIT)
            pel_memcached_raise_write_error(&multi->call, PEL_ELIMIT);
        rb_ary_store(multi->names, i, multi_name(RARRAY_AREF(multi->names, i)));
        rb_ary_store(multi->values, i, rb_str_new_frozen(value.string));
        rb_ary_store(multi->flags, i, UINT2NUM(value.flags));
    }
}

/* set_multi(hash, ttl:, flags:, raw:, timeout:) */
static VALUE client_set_multi(int argc, VALUE *argv, VALUE self)
{
    struct multi multi = {.command = {.flags = PEL_MEMCACHED_FLAG('F')}};
    VALUE pairs, options;

    rb_scan_args(argc, argv, "1:", &pairs, &options);
    pel_memcached_begin(&multi.call, self, options,
                        PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_TTL | PEL_MEMCACHED_FLAGS | PEL_MEMCACHED_RAW);
    pairs = rb_convert_type(pairs, T_HASH, "Hash", "to_hash");
    multi.names = rb_ary_new_capa(RHASH_SIZE(pairs));
    multi.values = rb_ary_new_capa(RHASH_SIZE(pairs));
    rb_hash_foreach(pairs, take_pair, (VALUE)&multi);
    encode_all(&multi);
    pel_memcached_take_ttl(&multi.call, &multi.command);
    return run_multi(&multi, PEL_MEMCACHED_FAN_OUT_STORED, "set_multi");
}

void pel_init_memcached_multi(VALUE class)
{
    rb_define_method(class, "get_multi", client_get_multi, -1);
    rb_define_method(class, "set_multi", client_set_multi, -1);
    rb_define_method(class, "delete_multi", client_delete_multi, -1);
}
