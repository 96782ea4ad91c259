#include "memcached_call.h"

#include "error.h"
#include "memcached_gather.h"
#include "protect.h"

static VALUE cLater, cKeyError;
static ID id_call, id_connection, id_client, id_conclude;
static ID option_names[PEL_MEMCACHED_OPTION_COUNT];

static void take_options(struct pel_memcached_call *call, VALUE options, enum pel_memcached_options known)
{
    ID names[PEL_MEMCACHED_OPTION_COUNT];
    VALUE values[PEL_MEMCACHED_OPTION_COUNT];
    int count = 0, taken = 0;

    for (int i = 0; i < PEL_MEMCACHED_OPTION_COUNT; i++)
        if (known & 1 << i)
            names[count++] = option_names[i];
    rb_get_kwargs(options, names, 0, count, values);
    for (int i = 0; i < PEL_MEMCACHED_OPTION_COUNT; i++)
        if (known & 1 << i && values[taken++] != Qundef)
            call->options[i] = values[taken - 1];
    if (!NIL_P(call->options[PEL_MEMCACHED_TIMEOUT_OPTION]))
        call->timeout = pel_nanoseconds(call->options[PEL_MEMCACHED_TIMEOUT_OPTION]);
}

void pel_memcached_begin(struct pel_memcached_call *call, VALUE self, VALUE options, enum pel_memcached_options known)
{
    int later = RBASIC_CLASS(self) == cLater;

    call->self = later ? rb_ivar_get(self, id_client) : self;
    call->client = pel_memcached_client_get(call->self);
    call->block = rb_block_given_p() ? rb_block_proc() : Qnil;
    call->direct = NIL_P(call->block) && !later;
    call->timeout = PEL_FOREVER;
    call->decode = 0;
    call->fixed = 0;
    call->key = call->told = call->connection_object = Qnil;
    for (int i = 0; i < PEL_MEMCACHED_OPTION_COUNT; i++)
        call->options[i] = Qnil;
    if (!NIL_P(options))
        take_options(call, options, known);
}

/* Whether it depends on the key where a command goes. */
static int chooses(const struct pel_memcached_client *client)
{
    return client->ring || client->lane_count > 1;
}

void pel_memcached_set_key(struct pel_memcached_call *call, VALUE key)
{
    if (!RB_TYPE_P(key, T_STRING))
        key = RB_SYMBOL_P(key) ? rb_sym2str(key) : rb_str_to_str(key);
    /* While this call waits for a connection nobody may change what chose the server. */
    call->key = chooses(call->client) ? rb_str_new_frozen(key) : key;
}

void pel_memcached_tell_instrument(struct pel_memcached_call *call, const char *command)
{
    VALUE arguments[] = {ID2SYM(rb_intern(command)), call->key};

    call->told = rb_funcallv(call->client->instrument, id_call, 2, arguments);
}

struct pel_slice pel_memcached_key_in_namespace(struct pel_memcached_call *call)
{
    struct pel_slice key = {RSTRING_PTR(call->key), (size_t)RSTRING_LEN(call->key)};
    VALUE namespace = call->client->namespace;
    size_t length;

    if (key.length == 0)
        return key;
    length = (size_t)RSTRING_LEN(namespace);
    if (length + key.length > PEL_MEMCACHED_KEY_LIMIT)
        return (struct pel_slice){key.bytes, PEL_MEMCACHED_KEY_LIMIT + 1};
    memcpy(call->whole_key, RSTRING_PTR(namespace), length);
    memcpy(call->whole_key + length, key.bytes, key.length);
    return (struct pel_slice){call->whole_key, length + key.length};
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

/* 1, 0, or -1 when the keys belong to other servers now. May park or block. */
static int find_connection(struct pel_memcached_call *call, size_t place)
{
    size_t lanes = call->client->lane_count;
    VALUE here = in_place(call, pel_reactor_current()) ? Qtrue : Qfalse;
    VALUE connection = rb_funcall(call->self, id_connection, 5, SIZET2NUM(place / lanes), SIZET2NUM(place % lanes),
                                  here, call->fixed ? Qfalse : Qtrue, call->options[PEL_MEMCACHED_TIMEOUT_OPTION]);
    struct pel_memcached_lane *lane = &call->client->lanes[place];

    if (NIL_P(connection))
        return -1;
    lane->last = pel_memcached_connection_get(connection);
    RB_OBJ_WRITE(call->self, &lane->connection, connection);
    call->error = lane->last->error;
    return !lane->last->closed;
}

int pel_memcached_ready_at(struct pel_memcached_call *call, size_t place)
{
    struct pel_memcached_lane *lane = &call->client->lanes[place];
    int found;

    /* Direct style may let the loop turn here, before anything is written. Callback style never does: what runs in a
     * callback runs to its end, unless it waits by its own will. */
    if (call->direct && usable(call, lane->last))
        pel_spend(lane->last->reactor, 1);
    for (;;) {
        if (!usable(call, lane->last) && (found = find_connection(call, place)) <= 0)
            return found;
        call->connection = lane->last;
        call->connection_object = call->connection->self;
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

int pel_memcached_ready(struct pel_memcached_call *call)
{
    int ready;

    if (call->client->look_at)
        pel_memcached_look_again(call->self, call->client);
    do {
        size_t place = chooses(call->client) ? pel_memcached_place(call->client, pel_memcached_whole_key(call)) : 0;
        ready = pel_memcached_ready_at(call, place);
    } while (ready < 0);
    if (ready)
        call->key_slice = pel_memcached_whole_key(call);
    return ready;
}

void pel_memcached_refuse(struct pel_memcached_call *call, int code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code == PEL_ELIMIT && call->key_slice.length <= PEL_MEMCACHED_KEY_LIMIT)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("LimitError")),
                 "the value is longer than memcached's protocol can say");
    rb_raise(cKeyError, "a key has 1 to %d bytes%s, and no space or control character: %+" PRIsVALUE,
             PEL_MEMCACHED_KEY_LIMIT, NIL_P(call->client->namespace) ? "" : ", the namespace included", call->key);
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

static int plain(const struct pel_memcached_call *call)
{
    return !call->decode && NIL_P(call->told);
}

/* The value has to be decoded, or the end told: both are done in Ruby, by the caller's fiber or in a callback. */
static VALUE conclude(struct pel_memcached_call *call, struct pel_operation *operation)
{
    VALUE object = pel_operation_object(operation, pel_cOperation);
    VALUE decode = call->decode ? ID2SYM(call->decode) : Qnil;
    VALUE direct = call->direct ? Qtrue : Qfalse;

    return rb_funcall(call->self, id_conclude, 5, object, decode, call->told, direct, call->block);
}

VALUE pel_memcached_refused(struct pel_memcached_call *call)
{
    struct pel_operation *operation;
    VALUE result;

    if (call->direct && plain(call))
        pel_operation_raise(call->error);
    operation = pel_operation_new(pel_reactor_current(), 0);
    result = plain(call) ? pel_operation_object(operation, pel_cOperation) : Qnil;
    pel_operation_fail(operation, call->error);
    if (NIL_P(result))
        result = conclude(call, operation);
    pel_operation_release(operation);
    return result;
}

static VALUE finish_plainly(struct pel_memcached_call *call, struct pel_operation *operation)
{
    struct pel_memcached_connection *connection = call->connection;
    struct pel_reactor *reactor = connection->reactor;
    VALUE result;

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
    return result;
}

VALUE pel_memcached_finish(struct pel_memcached_call *call, enum pel_memcached_request request)
{
    struct pel_memcached_connection *connection = call->connection;
    struct pel_operation *operation = pel_memcached_owe(connection, request, call->timeout);
    VALUE self = connection->self, result;

    if (plain(call)) {
        result = finish_plainly(call, operation);
    } else if (call->direct && NIL_P(call->told)) {
        result = rb_funcall(call->self, call->decode, 1, finish_plainly(call, operation));
    } else {
        pel_memcached_sent(connection);
        result = conclude(call, operation);
    }
    RB_GC_GUARD(self);
    return result;
}

static VALUE finish_sealed(struct pel_memcached_call *call, struct pel_operation *operation)
{
    struct pel_reactor *reactor = operation->reactor;

    if (!plain(call))
        return conclude(call, operation);
    if (reactor->phase == PEL_IDLE && operation->state == PEL_FAILED)
        operation->heard = 1; /* not before the call has returned */
    return pel_operation_finish(reactor, operation, call->block, !call->direct, PEL_FOREVER);
}

VALUE pel_memcached_finish_gather(struct pel_memcached_call *call, struct pel_memcached_gather *gather,
                                  VALUE (*write_parts)(VALUE), VALUE argument)
{
    struct pel_operation *operation = gather->operation;
    VALUE result = Qnil;
    int state;

    operation->references++;
    pel_protect(write_parts, argument, &state);
    if (state) { /* nobody will ask for what was written */
        operation->heard = 1;
        pel_operation_settle(operation, PEL_FAILED, Qnil, 0);
    }
    pel_operation_count(operation);
    pel_memcached_gather_sealed(gather);
    if (!state)
        result = finish_sealed(call, operation);
    pel_operation_release(operation);
    if (state)
        pel_rethrow(state);
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
    cKeyError = rb_define_class_under(rb_define_module_under(pel_mPelton, "Memcached"), "KeyError", pel_eError);
    id_call = rb_intern("call");
    id_connection = rb_intern("connection");
    id_client = rb_intern("@client");
    id_conclude = rb_intern("conclude");
#define NAMED(NAME, name) option_names[PEL_MEMCACHED_##NAME##_OPTION] = rb_intern(#name);
    PEL_MEMCACHED_OPTIONS(NAMED)
#undef NAMED
    rb_define_method(client_class, "later", client_later, 0);
}
