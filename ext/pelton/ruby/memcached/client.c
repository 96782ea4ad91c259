#include "ruby/memcached/client.h"

#include "ruby/base/upcall.h"

/* Pelton::Memcached::Client: its servers, and the connection slot of a key. */

#define RECHECK_NS (100 * 1000 * 1000) /* nanoseconds */

static void client_mark(void *data)
{
    const struct pel_memcached_client *client = data;

    for (size_t i = 0; i < client->server_count * client->slot_count; i++)
        rb_gc_mark(client->slots[i].connection);
    rb_gc_mark(client->ring_object);
    rb_gc_mark(client->namespace);
    rb_gc_mark(client->codec);
}

static void client_free(void *data)
{
    struct pel_memcached_client *client = data;

    xfree(client->slots);
    xfree(client->ring_servers);
    PEL_FREE(client);
}

static size_t client_size(const void *data)
{
    const struct pel_memcached_client *client = data;
    return sizeof(*client) +
           client->server_count * (client->slot_count * sizeof(*client->slots) + sizeof(*client->ring_servers));
}

static const rb_data_type_t client_type = {
    .wrap_struct_name = "Pelton::Memcached::Client",
    .function = {.dmark = client_mark, .dfree = client_free, .dsize = client_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static VALUE client_allocate(VALUE class)
{
    struct pel_memcached_client *client;
    VALUE self = TypedData_Make_Struct(class, struct pel_memcached_client, &client_type, client);

    client->ring_object = client->namespace = client->codec = Qnil;
    return self;
}

struct pel_memcached_client *pel_memcached_client_get(VALUE self)
{
    struct pel_memcached_client *client = rb_check_typeddata(self, &client_type);

    if (!client->server_count)
        rb_raise(rb_eTypeError, "this client was never set up: initialize was not called");
    return client;
}

size_t pel_memcached_key_slot(const struct pel_memcached_client *client, struct pel_slice key)
{
    size_t server = client->ring ? client->ring_servers[pel_hash_ring_find(client->ring, key.bytes, key.length)] : 0;

    if (client->slot_count == 1)
        return server;
    return server * client->slot_count + pel_key_hash_fnv1a_32(key.bytes, key.length) % client->slot_count;
}

void pel_memcached_recheck_servers(VALUE self, struct pel_memcached_client *client)
{
    int64_t now = pel_now();

    if (now < client->recheck_at)
        return;
    client->recheck_at = now + RECHECK_NS;
    pel_upcall(recheck_servers, self);
}

/* _set_up(number of servers, number of slots for each, namespace, codec) */
static VALUE client_set_up(VALUE self, VALUE count, VALUE slots, VALUE namespace, VALUE codec)
{
    struct pel_memcached_client *client = rb_check_typeddata(self, &client_type);
    size_t server_count = NUM2SIZET(count), slot_count = NUM2SIZET(slots);

    if (client->server_count)
        rb_raise(rb_eFrozenError, "this client is set up already");
    if (!NIL_P(namespace))
        Check_Type(namespace, T_STRING);
    if (!NIL_P(namespace) && pel_memcached_check_key(RSTRING_PTR(namespace), (size_t)RSTRING_LEN(namespace)) < 0)
        rb_raise(rb_eArgError, "namespace: is a key prefix without spaces and control characters, not %+" PRIsVALUE,
                 namespace);
    client->slots = ZALLOC_N(struct pel_memcached_slot, server_count * slot_count);
    client->ring_servers = ZALLOC_N(uint32_t, server_count);
    for (size_t i = 0; i < server_count * slot_count; i++)
        client->slots[i].connection = Qnil;
    client->server_count = server_count;
    client->slot_count = slot_count;
    RB_OBJ_WRITE(self, &client->namespace, namespace);
    RB_OBJ_WRITE(self, &client->codec, codec);
    return self;
}

/* _use(ring, servers): distributes keys over this ring from now on. servers: the index of each of the ring's servers
 * among all servers. */
static VALUE client_use(VALUE self, VALUE ring, VALUE servers)
{
    struct pel_memcached_client *client = pel_memcached_client_get(self);
    const struct pel_hash_ring *used = pel_hash_ring_get(ring);

    Check_Type(servers, T_ARRAY);
    if (used->server_count != (size_t)RARRAY_LEN(servers) || used->server_count > client->server_count)
        rb_raise(rb_eArgError, "the ring and the list of its servers differ in length");
    for (long i = 0; i < RARRAY_LEN(servers); i++) {
        size_t server = NUM2SIZET(RARRAY_AREF(servers, i));
        if (server >= client->server_count)
            rb_raise(rb_eArgError, "there is no server %zu", server);
        client->ring_servers[i] = (uint32_t)server;
    }
    RB_OBJ_WRITE(self, &client->ring_object, ring);
    client->ring = used;
    client->recheck_at = used->server_count < client->server_count ? pel_now() + RECHECK_NS : 0;
    return Qnil;
}

void pel_init_memcached_client(VALUE class)
{
    rb_define_alloc_func(class, client_allocate);
    rb_define_private_method(class, "_set_up", client_set_up, 4);
    rb_define_private_method(class, "_use", client_use, 2);
}
