#include "memcached.h"

#include "error.h"

/*
 * Pelton::Memcached::Client's commands. Each ends in pel_operation_finish, which gives it its three styles. The same
 * functions serve `client.later`, whose object refers to the client.
 */

struct client {
    VALUE connection; /* of the thread that used it last */
    struct pel_memcached_connection *last;
};

static VALUE cClient, cLater, cKeyError;
static ID id_connection, id_client, id_timeout;
static ID option_names[2];

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

/* A call: where it goes and how it ends. */
struct call {
    struct pel_memcached_connection *connection;
    VALUE block;
    int later;
    VALUE timeout; /* seconds, nil: the connection's */
    VALUE ttl;
};

static struct pel_memcached_connection *usable(struct client *client)
{
    struct pel_memcached_connection *last = client->last;

    return last && last->reactor == pel_reactor_existing() && !last->closed ? last : NULL;
}

static void begin(struct call *call, VALUE self, VALUE options)
{
    struct client *client;

    call->later = RBASIC_CLASS(self) == cLater;
    if (call->later)
        self = rb_ivar_get(self, id_client);
    call->block = rb_block_given_p() ? rb_block_proc() : Qnil;
    call->timeout = call->ttl = Qnil;
    if (!NIL_P(options)) {
        VALUE values[2];
        rb_get_kwargs(options, option_names, 0, 2, values);
        if (values[0] != Qundef)
            call->timeout = values[0];
        if (values[1] != Qundef)
            call->ttl = values[1];
    }
    client = rb_check_typeddata(self, &client_type);
    /* Before anything is written: direct style may let the loop turn here. Callback style never does: what runs in a
     * callback runs to its end, unless it waits by its own will. */
    if (NIL_P(call->block) && !call->later && usable(client))
        pel_spend(client->last->reactor, 1);
    if (!(call->connection = usable(client))) {
        VALUE connection = rb_funcall(self, id_connection, 0); /* may connect, and park or block */
        RB_OBJ_WRITE(self, &client->connection, connection);
        call->connection = client->last = pel_memcached_connection_get(connection);
    }
}

static VALUE overload(struct call *call)
{
    struct pel_operation *operation = pel_operation_new(call->connection->reactor, 0);
    VALUE object = pel_operation_object(operation, pel_cOperation);

    pel_operation_fail(operation, pel_error_new(PEL_EOVERLOAD, 0, NULL));
    pel_operation_release(operation);
    return object;
}

/* Before a command is written. 0 when callback style goes on too fast. */
static inline int room(struct call *call)
{
    return pel_memcached_make_room(call->connection, NIL_P(call->block) && !call->later);
}

static VALUE finish(struct call *call, enum pel_memcached_request request)
{
    struct pel_memcached_connection *connection = call->connection;
    struct pel_reactor *reactor = connection->reactor;
    struct pel_operation *operation = pel_memcached_owe(connection, request);
    VALUE self = connection->self, result;
    int64_t deadline = NIL_P(call->timeout) ? PEL_FOREVER : pel_now() + pel_nanoseconds(call->timeout);

    if (pel_memcached_sent(connection) && reactor->phase != PEL_IDLE && (!NIL_P(call->block) || call->later)) {
        /* A long burst: the replies are taken meanwhile, so that the server does not stand still. */
        operation->references++;
        result = pel_operation_finish(reactor, operation, call->block, call->later, deadline);
        pel_look(reactor);
        pel_operation_release(operation);
    } else if (NIL_P(call->block) && !call->later && connection->owed_count == 1) {
        int64_t started = connection->progress; /* set just now, by the first that is owed */
        reactor->spin_ns = pel_spin_next(&connection->spin);
        result = pel_operation_finish(reactor, operation, call->block, call->later, deadline);
        pel_spin_took(&connection->spin, reactor->loop.now - started); /* now: when the last wait ended */
    } else {
        result = pel_operation_finish(reactor, operation, call->block, call->later, deadline);
    }
    if (!NIL_P(call->timeout) && (!NIL_P(call->block) || call->later))
        rb_funcall(result, id_timeout, 1, call->timeout);
    RB_GC_GUARD(self);
    return result;
}

static struct pel_slice key_of(VALUE *key)
{
    if (!RB_TYPE_P(*key, T_STRING))
        *key = RB_SYMBOL_P(*key) ? rb_sym2str(*key) : rb_str_to_str(*key);
    return (struct pel_slice){RSTRING_PTR(*key), (size_t)RSTRING_LEN(*key)};
}

NORETURN(static void refuse(int code, VALUE key));

static void refuse(int code, VALUE key)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code == PEL_ELIMIT && RSTRING_LEN(key) <= PEL_MEMCACHED_KEY_LIMIT)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("LimitError")),
                 "the value is longer than memcached's protocol can say");
    rb_raise(cKeyError, "a key has 1 to 250 bytes, and no space or control character: %+" PRIsVALUE, key);
}

/* get(key, timeout:) */
static VALUE client_get(int argc, VALUE *argv, VALUE self)
{
    struct call call;
    struct pel_memcached_command command = {.flags = PEL_MEMCACHED_FLAG('v')};
    VALUE key, options = Qnil;
    int code;

    if (argc == 1 && !rb_keyword_given_p())
        key = argv[0];
    else
        rb_scan_args(argc, argv, "1:", &key, &options);
    begin(&call, self, options);
    if (!room(&call))
        return overload(&call);
    command.key = key_of(&key); /* after what may park: nobody changes the key from here on */
    code = pel_memcached_write_get(&call.connection->stream.output, &command);
    if (code < 0)
        refuse(code, key);
    return finish(&call, PEL_MEMCACHED_GET);
}

/* memcached reads more than 30 days as a date since 1970: such a ttl is sent as the date it means. */
static int64_t ttl_of(VALUE seconds)
{
    double ttl = NUM2DBL(seconds);
    struct timespec now;

    if (ttl < 0)
        return -1;
    if (ttl <= 60 * 60 * 24 * 30)
        return (int64_t)(ttl < 1 && ttl > 0 ? 1 : ttl);
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec + (int64_t)ttl;
}

#define SEND_UNCOPIED 16384

/* A long value goes out without being copied, as far as the socket takes it. */
static int write_value(struct pel_memcached_connection *connection, const struct pel_memcached_command *command,
                       const char *value, size_t length)
{
    struct pel_stream *stream = &connection->stream;
    ssize_t sent = 0;
    int code;

    if (length < SEND_UNCOPIED || !connection->connected)
        return pel_memcached_write_set(&stream->output, command, value, length);
    if ((code = pel_memcached_write_set_head(&stream->output, command, length)) < 0)
        return code;
    if (pel_stream_flush(stream) == 0 && (sent = pel_stream_send_now(stream, value, length)) < 0)
        sent = 0; /* the flush at the tick's end meets the error again, and ends the connection */
    if ((code = pel_buffer_append(&stream->output, value + sent, length - (size_t)sent)) < 0)
        return code;
    return pel_buffer_append(&stream->output, "\r\n", 2);
}

/* set(key, value, ttl:, timeout:) */
static VALUE client_set(int argc, VALUE *argv, VALUE self)
{
    struct call call;
    struct pel_memcached_command command = {.flags = 0};
    VALUE key, value, options = Qnil;
    int code;

    if (argc == 2 && !rb_keyword_given_p()) {
        key = argv[0];
        value = argv[1];
    } else {
        rb_scan_args(argc, argv, "2:", &key, &value, &options);
    }
    begin(&call, self, options);
    if (!RB_TYPE_P(value, T_STRING))
        rb_raise(rb_eTypeError, "a value is a String (it was %" PRIsVALUE "): serialize it first", rb_obj_class(value));
    if (!NIL_P(call.ttl)) {
        command.flags |= PEL_MEMCACHED_FLAG('T');
        command.ttl = ttl_of(call.ttl);
    }
    if (!room(&call))
        return overload(&call);
    command.key = key_of(&key);
    code = write_value(call.connection, &command, RSTRING_PTR(value), (size_t)RSTRING_LEN(value));
    if (code < 0)
        refuse(code, key);
    RB_GC_GUARD(value);
    return finish(&call, PEL_MEMCACHED_SET);
}

/* delete(key, timeout:) */
static VALUE client_delete(int argc, VALUE *argv, VALUE self)
{
    struct call call;
    struct pel_memcached_command command = {.flags = 0};
    VALUE key, options = Qnil;
    int code;

    if (argc == 1 && !rb_keyword_given_p())
        key = argv[0];
    else
        rb_scan_args(argc, argv, "1:", &key, &options);
    begin(&call, self, options);
    if (!room(&call))
        return overload(&call);
    command.key = key_of(&key); /* after what may park: nobody changes the key from here on */
    code = pel_memcached_write_delete(&call.connection->stream.output, &command);
    if (code < 0)
        refuse(code, key);
    return finish(&call, PEL_MEMCACHED_DELETE);
}

/* version(timeout:) */
static VALUE client_version(int argc, VALUE *argv, VALUE self)
{
    struct call call;
    VALUE options;

    rb_scan_args(argc, argv, "0:", &options);
    begin(&call, self, options);
    if (!room(&call))
        return overload(&call);
    if (pel_memcached_write_version(&call.connection->stream.output) < 0)
        rb_memerror();
    return finish(&call, PEL_MEMCACHED_GET_VERSION);
}

/* later: the same commands, each returning its Deferrable. */
static VALUE client_later(VALUE self)
{
    VALUE later = rb_obj_alloc(cLater);

    rb_ivar_set(later, id_client, self);
    return later;
}

static void define_commands(VALUE class)
{
    rb_define_method(class, "get", client_get, -1);
    rb_define_method(class, "set", client_set, -1);
    rb_define_method(class, "delete", client_delete, -1);
    rb_define_method(class, "version", client_version, -1);
}

void pel_init_memcached(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Memcached");

    pel_init_memcached_connection();
    id_connection = rb_intern("connection");
    id_client = rb_intern("@client");
    id_timeout = rb_intern("timeout");
    option_names[0] = rb_intern("timeout");
    option_names[1] = rb_intern("ttl");
    cKeyError = rb_define_class_under(module, "KeyError", pel_eError);
    cClient = rb_define_class_under(module, "Client", rb_cObject);
    cLater = rb_define_class_under(module, "Later", rb_cObject);
    rb_define_alloc_func(cClient, client_allocate);
    rb_define_method(cClient, "later", client_later, 0);
    define_commands(cClient);
    define_commands(cLater);
}
