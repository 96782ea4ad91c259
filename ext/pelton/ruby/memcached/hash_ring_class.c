#include "ruby/memcached/client.h"

#include "ruby/base/exception.h"

static void hash_ring_free(void *data)
{
    pel_hash_ring_free(data);
    xfree(data);
}

static size_t hash_ring_size(const void *data)
{
    const struct pel_hash_ring *ring = data;
    return sizeof(*ring) + ring->point_count * sizeof(*ring->points);
}

static const rb_data_type_t hash_ring_type = {.wrap_struct_name = "Pelton::Memcached::HashRing",
                                              .function = {.dfree = hash_ring_free, .dsize = hash_ring_size},
                                              .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static VALUE hash_ring_allocate(VALUE class)
{
    struct pel_hash_ring *ring;
    return TypedData_Make_Struct(class, struct pel_hash_ring, &hash_ring_type, ring);
}

const struct pel_hash_ring *pel_hash_ring_get(VALUE self)
{
    const struct pel_hash_ring *ring = rb_check_typeddata(self, &hash_ring_type);

    if (!ring->server_count)
        rb_raise(rb_eTypeError, "this ring was never built: initialize was not called");
    return ring;
}

static pel_key_hash *key_hash_named(VALUE symbol)
{
#define IS_NAMED(NAME, name)                                                                                           \
    if (symbol == ID2SYM(rb_intern(#name)))                                                                            \
        return pel_key_hash_##name;
    PEL_KEY_HASHES(IS_NAMED)
#undef IS_NAMED
#define LISTED(NAME, name) " :" #name
    rb_raise(rb_eArgError, "hash: is one of" PEL_KEY_HASHES(LISTED) ", not %+" PRIsVALUE, symbol);
#undef LISTED
}

/* _build(names, weights, name of the hash function, weighted) */
static VALUE hash_ring_build(VALUE self, VALUE names, VALUE weights, VALUE hash, VALUE weighted)
{
    struct pel_hash_ring *ring = rb_check_typeddata(self, &hash_ring_type);
    pel_key_hash *function = key_hash_named(hash);
    struct pel_hash_ring_server *servers;
    VALUE memory;
    long count;
    int code;

    if (ring->server_count)
        rb_raise(rb_eFrozenError, "this ring is built already");
    Check_Type(names, T_ARRAY);
    Check_Type(weights, T_ARRAY);
    count = RARRAY_LEN(names);
    servers = rb_alloc_tmp_buffer2(&memory, count, sizeof(*servers));
    for (long i = 0; i < count; i++) {
        VALUE name = rb_ary_entry(names, i);
        servers[i].weight = NUM2UINT(rb_ary_entry(weights, i));
        servers[i].name = (struct pel_slice){StringValuePtr(name), (size_t)RSTRING_LEN(name)};
    }
    code = pel_hash_ring_build(ring, servers, (size_t)count,
                               RTEST(weighted) ? PEL_HASH_RING_WEIGHTED : PEL_HASH_RING_EQUAL, function);
    rb_free_tmp_buffer(&memory);
    RB_GC_GUARD(names);
    if (code == PEL_EARGUMENT)
        rb_raise(rb_eArgError, "a ring needs at least one server");
    if (code < 0)
        pel_raise(code, 0, "a ring of servers");
    return self;
}

/* index(key): the index of the key's server in the list. */
static VALUE hash_ring_index(VALUE self, VALUE key)
{
    const struct pel_hash_ring *ring = pel_hash_ring_get(self);
    size_t index;

    if (RB_SYMBOL_P(key))
        key = rb_sym2str(key);
    StringValue(key);
    index = pel_hash_ring_find(ring, RSTRING_PTR(key), (size_t)RSTRING_LEN(key));
    RB_GC_GUARD(key);
    return SIZET2NUM(index);
}

void pel_init_hash_ring(void)
{
    VALUE memcached = rb_define_module_under(rb_define_module("Pelton"), "Memcached");
    VALUE class = rb_define_class_under(memcached, "HashRing", rb_cObject);

    rb_define_alloc_func(class, hash_ring_allocate);
    rb_define_private_method(class, "_build", hash_ring_build, 4);
    rb_define_method(class, "index", hash_ring_index, 1);
}
