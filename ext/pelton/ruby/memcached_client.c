#include "memcached_client.h"

#define LOOK_EVERY (100 * 1000 * 1000) /* nanoseconds */

static ID id_look_again;

static void client_mark(void *data)
{
    const struct pel_memcached_client *client = data;

    for (size_t i = 0; i < client->server_count * client->lane_count; i++)
        rb_gc_mark(client->lanes[i].connection);
    rb_gc_mark(client->ring_object);
    rb_gc_mark(client->namespace);
    rb_gc_mark(client->codec);
    rb_gc_mark(client->instrument);
}

static void client_free(void *data)
{
    struct pel_memcached_client *client = data;

    xfree(client->lanes);
    xfree(client->places);
    xfree(client);
}

static size_t client_size(const void *data)
{
    const struct pel_memcached_client *client = data;
    return sizeof(*client) +
           client->server_count * (client->lane_count * sizeof(*client->lanes) + sizeof(*client->places));
}

static const rb_data_type_t client_type = {
    .wrap_struct_name = "Pelton::Memcached::Client",
    .function = {.dmark = client_mark, .dfree = client_free, .dsize = client_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static VALUE client_allocate(VALUE class)
{
    struct pel_memcached_client *client;
    VALUE self = TypedData_Make_Struct(class, struct pel_memcached_client, &client_type, client);

    client->ring_object = client->namespace = client->codec = client->instrument = Qnil;
    return self;
}

struct pel_memcached_client *pel_memcached_client_get(VALUE self)
{
    struct pel_memcached_client *client = rb_check_typeddata(self, &client_type);

    if (!client->server_count)
        rb_raise(rb_eTypeError, "this client was never set up: initialize was not called");
    return client;
}

size_t pel_memcached_place(const struct pel_memcached_client *client, struct pel_slice key)
{
    size_t server = client->ring ? client->places[pel_hash_ring_find(client->ring, key.bytes, key.length)] : 0;

    if (client->lane_count == 1)
        return server;
    return server * client->lane_count + pel_key_hash_fnv1a_32(key.bytes, key.length) % client->lane_count;
}

void pel_memcached_look_again(VALUE self, struct pel_memcached_client *client)
{
    int64_t now = pel_now();

    if (now < client->look_at)
        return;
    client->look_at = now + LOOK_EVERY;
    rb_funcall(self, id_look_again, 0);
}

/* _set_up(number of servers, of connections to each, namespace, codec, instrument) */
static VALUE client_set_up(VALUE self, VALUE count, VALUE lanes, VALUE namespace, VALUE codec, VALUE instrument)
{
    struct pel_memcached_client *client = rb_check_typeddata(self, &client_type);
    size_t server_count = NUM2SIZET(count), lane_count = NUM2SIZET(lanes);

    if (client->server_count)
        rb_raise(rb_eFrozenError, "a client is set up once");
    if (!NIL_P(namespace) && pel_memcached_check_key(RSTRING_PTR(namespace), (size_t)RSTRING_LEN(namespace)) < 0)
        rb_raise(rb_eArgError,
                 "namespace: is a key's beginning, without spaces and control characters, not %+" PRIsVALUE, namespace);
    client->lanes = ZALLOC_N(struct pel_memcached_lane, server_count * lane_count);
    client->places = ZALLOC_N(uint32_t, server_count);
    for (size_t i = 0; i < server_count * lane_count; i++)
        client->lanes[i].connection = Qnil;
    client->server_count = server_count;
    client->lane_count = lane_count;
    RB_OBJ_WRITE(self, &client->namespace, namespace);
    RB_OBJ_WRITE(self, &client->codec, codec);
    RB_OBJ_WRITE(self, &client->instrument, instrument);
    return self;
}

/* _use(ring, places): keys belong to the ring's servers, which have these places among all. */
static VALUE client_use(VALUE self, VALUE ring, VALUE places)
{
    struct pel_memcached_client *client = pel_memcached_client_get(self);
    const struct pel_hash_ring *used = pel_hash_ring_get(ring);

    Check_Type(places, T_ARRAY);
    if (used->server_count != (size_t)RARRAY_LEN(places) || used->server_count > client->server_count)
        rb_raise(rb_eArgError, "each of the ring's servers has a place");
    for (long i = 0; i < RARRAY_LEN(places); i++) {
        size_t place = NUM2SIZET(RARRAY_AREF(places, i));
        if (place >= client->server_count)
            rb_raise(rb_eArgError, "there is no server %zu", place);
        client->places[i] = (uint32_t)place;
    }
    RB_OBJ_WRITE(self, &client->ring_object, ring);
    client->ring = used;
    client->look_at = used->server_count < client->server_count ? pel_now() + LOOK_EVERY : 0;
    return Qnil;
}

void pel_init_memcached_client(VALUE class)
{
    id_look_again = rb_intern("look_again");
    rb_define_alloc_func(class, client_allocate);
    rb_define_private_method(class, "_set_up", client_set_up, 5);
    rb_define_private_method(class, "_use", client_use, 2);
}
