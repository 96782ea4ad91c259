#include "memcached_commands.h"
#include "memcached_gather.h"

/* Commands over many keys: one operation, one write for each server. */

#define SENT UINT32_MAX

struct multi {
    struct pel_memcached_call call;
    struct pel_memcached_gather *gather;
    VALUE names;         /* Array of the keys as they were given: frozen Strings, or Symbols */
    VALUE values, flags; /* of a set: Arrays of Strings and Integers */
    uint32_t *places;    /* of the lanes; SENT */
    VALUE places_memory;
    struct pel_memcached_command command;
};

static VALUE name_of(VALUE key)
{
    return RB_SYMBOL_P(key) ? key : rb_str_new_frozen(rb_str_to_str(key));
}

/* Makes it the call's key. */
static struct pel_slice choose_key(struct multi *multi, long index)
{
    VALUE name = RARRAY_AREF(multi->names, index);

    multi->call.key = RB_SYMBOL_P(name) ? rb_sym2str(name) : name;
    return pel_memcached_whole_key(&multi->call);
}

static void check_keys(struct multi *multi)
{
    for (long i = 0; i < RARRAY_LEN(multi->names); i++) {
        int code;
        multi->call.key_slice = choose_key(multi, i);
        code = pel_memcached_check_key(multi->call.key_slice.bytes, multi->call.key_slice.length);
        if (code < 0)
            pel_memcached_refuse(&multi->call, code);
    }
}

static void place_keys(struct multi *multi)
{
    for (long i = 0; i < RARRAY_LEN(multi->names); i++)
        if (multi->places[i] != SENT)
            multi->places[i] = (uint32_t)pel_memcached_place(multi->call.client, choose_key(multi, i));
}

static int write_one(struct multi *multi, long index)
{
    struct pel_memcached_connection *connection = multi->call.connection;

    multi->command.key = choose_key(multi, index);
    switch (multi->gather->kind) {
    case PEL_MEMCACHED_GATHER_STORED:
        multi->command.client_flags = NUM2UINT(RARRAY_AREF(multi->flags, index));
        return pel_memcached_write_value(connection, &multi->command, RARRAY_AREF(multi->values, index));
    case PEL_MEMCACHED_GATHER_DELETED:
        return pel_memcached_write_delete(pel_memcached_output(connection), &multi->command);
    default:
        return pel_memcached_write_get(pel_memcached_output(connection), &multi->command);
    }
}

/* All commands for one lane, whose connection is ready. The replies are owed first: nothing can be raised between the
 * two, and a command that cannot be written ends the connection. */
static void write_part(struct multi *multi, uint32_t place)
{
    struct pel_memcached_connection *connection = multi->call.connection;
    VALUE self = connection->self, names = rb_ary_new();

    for (long i = 0; i < RARRAY_LEN(multi->names); i++)
        if (multi->places[i] == place)
            rb_ary_push(names, RARRAY_AREF(multi->names, i));
    pel_memcached_gather_add(multi->gather, connection, names, (size_t)RARRAY_LEN(names));
    for (long i = 0; i < RARRAY_LEN(multi->names); i++) {
        int code;
        if (multi->places[i] != place)
            continue;
        if (!connection->closed && (code = write_one(multi, i)) < 0)
            pel_memcached_fail(connection, code, 0, "a command could not be written");
        multi->places[i] = SENT;
    }
    if (!connection->closed)
        pel_memcached_sent(connection);
    RB_GC_GUARD(self);
    RB_GC_GUARD(names);
}

static void fail_part(struct multi *multi, uint32_t place)
{
    pel_memcached_gather_fail(multi->gather, multi->call.error);
    for (long i = 0; i < RARRAY_LEN(multi->names); i++)
        if (multi->places[i] == place)
            multi->places[i] = SENT;
}

static VALUE write_parts(VALUE argument)
{
    struct multi *multi = (struct multi *)argument;
    long count = RARRAY_LEN(multi->names);

    if (multi->call.client->look_at)
        pel_memcached_look_again(multi->call.self, multi->call.client);
    place_keys(multi);
    for (long i = 0; i < count;) {
        uint32_t place = multi->places[i];
        int ready;
        if (place == SENT) {
            i++;
        } else if ((ready = pel_memcached_ready_at(&multi->call, place)) < 0) {
            place_keys(multi);
        } else if (ready) {
            write_part(multi, place);
        } else {
            fail_part(multi, place);
        }
    }
    return Qnil;
}

static VALUE run(struct multi *multi, enum pel_memcached_gather_kind kind, const char *name)
{
    VALUE result, kept;

    check_keys(multi);
    multi->call.key = multi->names;
    pel_memcached_tell(&multi->call, name);
    multi->places = rb_alloc_tmp_buffer2(&multi->places_memory, RARRAY_LEN(multi->names), sizeof(uint32_t));
    memset(multi->places, 0, sizeof(uint32_t) * (size_t)RARRAY_LEN(multi->names));
    multi->gather = pel_memcached_gather_new(pel_reactor_current(), kind, multi->call.timeout);
    multi->gather->partial = RTEST(multi->call.options[PEL_MEMCACHED_PARTIAL_OPTION]);
    kept = multi->gather->kept;
    result = pel_memcached_finish_gather(&multi->call, multi->gather, write_parts, (VALUE)multi);
    rb_free_tmp_buffer(&multi->places_memory);
    RB_GC_GUARD(kept);
    return result;
}

/* The keys of a call: get_multi("a", "b"), get_multi(["a", "b"]). */
static void begin(struct multi *multi, int argc, VALUE *argv, VALUE self, enum pel_memcached_options known)
{
    VALUE keys, options;

    rb_scan_args(argc, argv, "*:", &keys, &options);
    *multi = (struct multi){.command = {.flags = 0}};
    pel_memcached_begin(&multi->call, self, options, known);
    if (RARRAY_LEN(keys) == 1 && RB_TYPE_P(RARRAY_AREF(keys, 0), T_ARRAY))
        keys = RARRAY_AREF(keys, 0);
    multi->names = rb_ary_new_capa(RARRAY_LEN(keys));
    for (long i = 0; i < RARRAY_LEN(keys); i++)
        rb_ary_push(multi->names, name_of(RARRAY_AREF(keys, i)));
}

/* get_multi(*keys, partial:, raw:, timeout:) */
static VALUE client_get_multi(int argc, VALUE *argv, VALUE self)
{
    struct multi multi;

    begin(&multi, argc, argv, self, PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_RAW | PEL_MEMCACHED_PARTIAL);
    multi.command.flags = PEL_MEMCACHED_FLAG('v');
    if (!pel_memcached_coded(&multi.call))
        return run(&multi, PEL_MEMCACHED_GATHER_VALUES, "get_multi");
    multi.command.flags |= PEL_MEMCACHED_FLAG('f');
    multi.call.decode = rb_intern("decode_values");
    return run(&multi, PEL_MEMCACHED_GATHER_CODED_VALUES, "get_multi");
}

/* delete_multi(*keys, timeout:) */
static VALUE client_delete_multi(int argc, VALUE *argv, VALUE self)
{
    struct multi multi;

    begin(&multi, argc, argv, self, PEL_MEMCACHED_TIMEOUT);
    return run(&multi, PEL_MEMCACHED_GATHER_DELETED, "delete_multi");
}

static int take_pair(VALUE key, VALUE value, VALUE argument)
{
    struct multi *multi = (struct multi *)argument;

    rb_ary_push(multi->names, key);
    rb_ary_push(multi->values, value);
    return ST_CONTINUE;
}

/* Encoding runs code of others: after the Hash was left. */
static void encode_all(struct multi *multi)
{
    multi->flags = rb_ary_new_capa(RARRAY_LEN(multi->names));
    for (long i = 0; i < RARRAY_LEN(multi->names); i++) {
        struct pel_memcached_bytes value = pel_memcached_encode(&multi->call, RARRAY_AREF(multi->values, i));
        if (RSTRING_LEN(value.string) > PEL_MEMCACHED_VALUE_LIMIT)
            pel_memcached_refuse(&multi->call, PEL_ELIMIT);
        rb_ary_store(multi->names, i, name_of(RARRAY_AREF(multi->names, i)));
        rb_ary_store(multi->values, i, rb_str_new_frozen(value.string));
        rb_ary_store(multi->flags, i, UINT2NUM(value.flags));
    }
}

/* set_multi(hash, ttl:, flags:, raw:, timeout:) */
static VALUE client_set_multi(int argc, VALUE *argv, VALUE self)
{
    struct multi multi = {.command = {.flags = PEL_MEMCACHED_FLAG('F')}};
    VALUE pairs, options, ttl;

    rb_scan_args(argc, argv, "1:", &pairs, &options);
    pel_memcached_begin(&multi.call, self, options,
                        PEL_MEMCACHED_TIMEOUT | PEL_MEMCACHED_TTL | PEL_MEMCACHED_FLAGS | PEL_MEMCACHED_RAW);
    pairs = rb_convert_type(pairs, T_HASH, "Hash", "to_hash");
    multi.names = rb_ary_new_capa(RHASH_SIZE(pairs));
    multi.values = rb_ary_new_capa(RHASH_SIZE(pairs));
    rb_hash_foreach(pairs, take_pair, (VALUE)&multi);
    encode_all(&multi);
    ttl = multi.call.options[PEL_MEMCACHED_TTL_OPTION];
    if (!NIL_P(ttl)) {
        multi.command.flags |= PEL_MEMCACHED_FLAG('T');
        multi.command.ttl = pel_memcached_ttl(ttl);
    }
    return run(&multi, PEL_MEMCACHED_GATHER_STORED, "set_multi");
}

void pel_init_memcached_multi(VALUE class)
{
    rb_define_method(class, "get_multi", client_get_multi, -1);
    rb_define_method(class, "set_multi", client_set_multi, -1);
    rb_define_method(class, "delete_multi", client_delete_multi, -1);
}
