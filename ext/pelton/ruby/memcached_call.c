#include "memcached_call.h"

#include "error.h"

struct client {
    VALUE connection; /* of the thread that used it last */
    struct pel_memcached_connection *last;
};

static VALUE cLater;
static ID id_connection, id_client;
static ID option_names[PEL_MEMCACHED_TTL];

static void client_mark(void *data)
{
    rb_gc_mark(((struct client *)data)->connection);
}

static size_t client_size(const void *data)
{
    return sizeof(struct client);
}

static const rb_data_type_t client_type = {
    .wrap_struct_name = "Pelton::Memcached::Client",
    .function = {.dmark = client_mark, .dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = client_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static VALUE client_allocate(VALUE class)
{
    struct client *client;
    VALUE self = TypedData_Make_Struct(class, struct client, &client_type, client);

    client->connection = Qnil;
    return self;
}

void pel_memcached_begin(struct pel_memcached_call *call, VALUE self, VALUE options, enum pel_memcached_options known)
{
    int later = RBASIC_CLASS(self) == cLater;

    call->client = later ? rb_ivar_get(self, id_client) : self;
    call->block = rb_block_given_p() ? rb_block_proc() : Qnil;
    call->direct = NIL_P(call->block) && !later;
    call->timeout = PEL_FOREVER;
    call->ttl = Qnil;
    if (!NIL_P(options)) {
        VALUE values[PEL_MEMCACHED_TTL] = {Qundef, Qundef};
        rb_get_kwargs(options, option_names, 0, (int)known, values);
        if (values[0] != Qundef && !NIL_P(values[0]))
            call->timeout = pel_nanoseconds(values[0]);
        if (values[1] != Qundef)
            call->ttl = values[1];
    }
}

/* Whether the caller has to connect by itself: no task runs meanwhile. */
static int in_place(const struct pel_memcached_call *call, struct pel_reactor *reactor)
{
    return reactor->phase == PEL_IDLE || (call->direct && reactor->phase != PEL_RUNNING);
}

static int usable(const struct pel_memcached_call *call, struct pel_memcached_connection *last)
{
    return last && last->reactor == pel_reactor_existing() && !last->closed &&
           (last->connected || !in_place(call, last->reactor));
}

static int find_connection(struct pel_memcached_call *call, struct client *client)
{
    VALUE place = in_place(call, pel_reactor_current()) ? Qtrue : Qfalse;
    VALUE connection = rb_funcall(call->client, id_connection, 1, place); /* may connect, and park or block */

    RB_OBJ_WRITE(call->client, &client->connection, connection);
    client->last = pel_memcached_connection_get(connection);
    call->error = client->last->error;
    return !client->last->closed;
}

int pel_memcached_ready(struct pel_memcached_call *call)
{
    struct client *client = rb_check_typeddata(call->client, &client_type);

    /* Direct style may let the loop turn here, before anything is written. Callback style never does: what runs in a
     * callback runs to its end, unless it waits by its own will. */
    if (call->direct && usable(call, client->last))
        pel_spend(client->last->reactor, 1);
    for (;;) {
        if (!usable(call, client->last) && !find_connection(call, client))
            return 0;
        call->connection = client->last;
        switch (pel_memcached_make_room(call->connection, call->direct, call->timeout)) {
        case PEL_MEMCACHED_ROOM:
            return 1;
        case PEL_MEMCACHED_FULL:
            call->error = pel_error_new(PEL_EOVERLOAD, 0, NULL);
            return 0;
        case PEL_MEMCACHED_LATE:
            call->error = pel_memcached_error(call->connection, PEL_ETIMEOUT, 0, "too many operations are before it");
            return 0;
        case PEL_MEMCACHED_ENDED:
            break;
        }
    }
}

VALUE pel_memcached_refused(struct pel_memcached_call *call)
{
    struct pel_operation *operation;
    VALUE object;

    if (call->direct)
        pel_operation_raise(call->error);
    operation = pel_operation_new(pel_reactor_current(), 0);
    object = pel_operation_object(operation, pel_cOperation);
    pel_operation_fail(operation, call->error);
    pel_operation_release(operation);
    return object;
}

VALUE pel_memcached_finish(struct pel_memcached_call *call, enum pel_memcached_request request)
{
    struct pel_memcached_connection *connection = call->connection;
    struct pel_reactor *reactor = connection->reactor;
    struct pel_operation *operation = pel_memcached_owe(connection, request, call->timeout);
    VALUE self = connection->self, result;

    if (pel_memcached_sent(connection) && reactor->phase != PEL_IDLE && !call->direct) {
        /* A long burst: the replies are taken meanwhile, so that the server does not stand still. */
        operation->references++;
        result = pel_operation_finish(reactor, operation, call->block, 1, PEL_FOREVER);
        pel_look(reactor);
        pel_operation_release(operation);
    } else if (call->direct && connection->owed_count == 1) {
        int64_t started = connection->progress; /* set just now, by the first that is owed */
        reactor->spin_ns = pel_spin_next(&connection->spin);
        result = pel_operation_finish(reactor, operation, Qnil, 0, PEL_FOREVER);
        pel_spin_took(&connection->spin, reactor->loop.now - started); /* now: when the last wait ended */
    } else {
        result = pel_operation_finish(reactor, operation, call->block, !call->direct, PEL_FOREVER);
    }
    RB_GC_GUARD(self);
    return result;
}

/* later: the same commands, each returning its Deferrable. */
static VALUE client_later(VALUE self)
{
    VALUE later = rb_obj_alloc(cLater);

    rb_ivar_set(later, id_client, self);
    return later;
}

void pel_init_memcached_call(VALUE client_class, VALUE later_class)
{
    cLater = later_class;
    id_connection = rb_intern("connection");
    id_client = rb_intern("@client");
    option_names[0] = rb_intern("timeout");
    option_names[1] = rb_intern("ttl");
    rb_define_alloc_func(client_class, client_allocate);
    rb_define_method(client_class, "later", client_later, 0);
}
