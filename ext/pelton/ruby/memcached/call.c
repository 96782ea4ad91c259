#include "ruby/memcached/call.h"

#include "ruby/base/exception.h"
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"
#include "ruby/memcached/fan_out.h"
#include "ruby/reactor/yield.h"

#define UNWATCHED_NS (1000 * 1000) /* a loop that has not waited for so long (nanoseconds) may have missed an end */

static VALUE cLater, cInvalidKeyError;
static ID id_client;
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
        call->deadline = pel_memcached_instant(pel_nanoseconds(call->options[PEL_MEMCACHED_TIMEOUT_OPTION]));
}

void pel_memcached_begin(struct pel_memcached_call *call, VALUE self, VALUE options, enum pel_memcached_options known)
{
    int later = RBASIC_CLASS(self) == cLater;

    call->self = later ? rb_ivar_get(self, id_client) : self;
    call->client = pel_memcached_client_get(call->self);
    call->block = rb_block_given_p() ? rb_block_proc() : Qnil;
    call->direct = NIL_P(call->block) && !later;
    call->deadline = PEL_FOREVER;
    call->decode = 0;
    call->fixed = 0;
    call->key = call->on_end = call->connection_object = Qnil;
    for (int i = 0; i < PEL_MEMCACHED_OPTION_COUNT; i++)
        call->options[i] = Qnil;
    if (!NIL_P(options))
        take_options(call, options, known);
}

/* Whether the key decides which connection slot a command takes. */
static int key_chooses_slot(const struct pel_memcached_client *client)
{
    return client->ring || client->slot_count > 1;
}

void pel_memcached_set_key(struct pel_memcached_call *call, VALUE key)
{
    if (!RB_TYPE_P(key, T_STRING))
        key = RB_SYMBOL_P(key) ? rb_sym2str(key) : rb_str_to_str(key);
    /* A copy: the key must not change while this call waits for the connection that the key chose. */
    call->key = key_chooses_slot(call->client) ? rb_str_new_frozen(key) : key;
}

void pel_memcached_notify_subscribers(struct pel_memcached_call *call, const char *command)
{
    call->on_end = pel_upcall(command_began, ID2SYM(rb_intern(command)), call->key);
}

/* The command ends without a reply. */
static void notify_end(struct pel_memcached_call *call, VALUE error)
{
    VALUE arguments[] = {Qnil, error};

    if (!NIL_P(call->on_end))
        rb_proc_call_with_block(call->on_end, 2, arguments, Qnil);
}

NORETURN(static void end_by_jump(struct pel_memcached_call *call, int state));

static void end_by_jump(struct pel_memcached_call *call, int state)
{
    VALUE error = pel_take_error(state);

    if (NIL_P(error))
        pel_rethrow(state);
    notify_end(call, error);
    rb_exc_raise(error);
}

struct pel_slice pel_memcached_key_in_namespace(struct pel_memcached_call *call)
{
    struct pel_slice key = pel_string_slice(call->key);
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

/* Whether the caller must connect before this returns: no task could connect for it meanwhile. */
static int must_connect_now(const struct pel_memcached_call *call, struct pel_reactor *reactor)
{
    return reactor->phase == PEL_IDLE || (call->direct && reactor->phase != PEL_RUNNING);
}

static int connection_usable(const struct pel_memcached_call *call, struct pel_memcached_connection *last)
{
    return last && last->reactor == pel_reactor_existing() && !last->closed &&
           (last->connected || !must_connect_now(call, last->reactor));
}

/* Of the call's own timeout: a Float, 0 at least; or nil. */
static VALUE remaining_seconds(const struct pel_memcached_call *call)
{
    int64_t left;

    if (call->deadline == PEL_FOREVER)
        return Qnil;
    left = call->deadline - pel_now();
    return DBL2NUM(left < 0 ? 0 : (double)left / 1e9);
}

/* As pel_memcached_ready_at, but any connection that is not closed will do. May park or block. */
static int find_connection(struct pel_memcached_call *call, size_t slot_index)
{
    size_t slots = call->client->slot_count;
    VALUE now = must_connect_now(call, pel_reactor_current()) ? Qtrue : Qfalse;
    VALUE connection =
        pel_upcall(find_connection, call->self, SIZET2NUM(slot_index / slots), SIZET2NUM(slot_index % slots), now,
                   call->fixed ? Qfalse : Qtrue, remaining_seconds(call));
    struct pel_memcached_slot *slot = &call->client->slots[slot_index];

    if (NIL_P(connection))
        return -1;
    slot->last = pel_memcached_connection_get(connection);
    RB_OBJ_WRITE(call->self, &slot->connection, connection);
    call->error = pel_memcached_failure(slot->last);
    return !slot->last->closed;
}

/* Whether the connection is idle and the loop has not looked at it lately: no reactor runs, or it was blocked. */
static int unwatched(const struct pel_memcached_connection *connection)
{
    const struct pel_reactor *reactor = connection->reactor;

    return !connection->pending.first && connection->connected &&
           (reactor->phase == PEL_IDLE || pel_now() - reactor->loop.now > UNWATCHED_NS);
}

int pel_memcached_ready_at(struct pel_memcached_call *call, size_t slot_index)
{
    struct pel_memcached_slot *slot = &call->client->slots[slot_index];
    int found, looks = 0;

    /* Direct style may let the loop iterate here, before anything is written. Callback style never does: a callback is
     * not interrupted unless it chooses to wait. */
    if (call->direct && connection_usable(call, slot->last))
        pel_spend(slot->last->reactor, 1);
    for (;;) {
        if (!connection_usable(call, slot->last) && (found = find_connection(call, slot_index)) <= 0)
            return found;
        call->connection = slot->last;
        call->connection_object = call->connection->self;
        if (unwatched(call->connection)) {
            pel_memcached_look(call->connection);
            if (call->connection->closed && looks++) { /* the new one as well */
                call->error = pel_memcached_failure(call->connection);
                return 0;
            }
            if (call->connection->closed)
                continue;
        }
        switch (pel_memcached_wait_for_capacity(call->connection, call->direct, call->deadline)) {
        case PEL_MEMCACHED_HAS_CAPACITY:
            return 1;
        case PEL_MEMCACHED_OVERLOADED:
            call->error = pel_error_new(PEL_EOVERLOAD, 0, NULL);
            return 0;
        case PEL_MEMCACHED_CAPACITY_TIMED_OUT:
            call->error =
                pel_memcached_error(call->connection, PEL_ETIMEOUT, 0, "too many operations are pending before it");
            return 0;
        case PEL_MEMCACHED_CONNECTION_CLOSED:
            break;
        }
    }
}

static int ready_for_key(struct pel_memcached_call *call)
{
    int ready;

    if (call->client->recheck_at)
        pel_memcached_recheck_servers(call->self, call->client);
    do {
        size_t slot_index =
            key_chooses_slot(call->client) ? pel_memcached_key_slot(call->client, pel_memcached_whole_key(call)) : 0;
        ready = pel_memcached_ready_at(call, slot_index);
    } while (ready < 0);
    if (ready)
        call->key_slice = pel_memcached_whole_key(call);
    return ready;
}

static VALUE call_ready(VALUE argument)
{
    struct pel_memcached_call *call = (struct pel_memcached_call *)argument;

    return INT2FIX(call->fixed ? pel_memcached_ready_at(call, 0) : ready_for_key(call));
}

int pel_memcached_ready(struct pel_memcached_call *call)
{
    VALUE ready;
    int state;

    if (NIL_P(call->on_end))
        return call->fixed ? pel_memcached_ready_at(call, 0) : ready_for_key(call);
    ready = pel_protect(call_ready, (VALUE)call, &state);
    if (state)
        end_by_jump(call, state);
    return FIX2INT(ready);
}

static VALUE write_error(const struct pel_memcached_call *call, int code)
{
    if (code == PEL_ELIMIT && call->key_slice.length <= PEL_MEMCACHED_KEY_LIMIT)
        return rb_exc_new_cstr(rb_const_get(pel_mPelton, rb_intern("LimitError")),
                               "the value is longer than memcached's protocol can say");
    /* The key itself may be secret: the id of a session. */
    return rb_exc_new_str(
        cInvalidKeyError,
        rb_sprintf("a key has 1 to %d bytes%s, and no space or control character; this one has %ld bytes",
                   PEL_MEMCACHED_KEY_LIMIT, NIL_P(call->client->namespace) ? "" : ", the namespace included",
                   (long)call->key_slice.length));
}

void pel_memcached_raise_write_error(struct pel_memcached_call *call, int code)
{
    VALUE error;

    if (code == PEL_EMEMORY)
        rb_memerror();
    error = write_error(call, code);
    notify_end(call, error);
    rb_exc_raise(error);
}

/* ---- the result ----------------------------------------------------------------------------------------------- */

/* Whether the reply's value is the result, with nothing to be called in Ruby. */
static int finishes_in_c(const struct pel_memcached_call *call)
{
    return !call->decode && NIL_P(call->on_end);
}

/* The value must be decoded, or subscribers notified: Pelton::Memcached::Decoding does both in the caller's fiber or
 * in a callback. */
static VALUE finish_in_ruby(struct pel_memcached_call *call, struct pel_operation *operation)
{
    VALUE object = pel_operation_object(operation, pel_cOperation);
    VALUE decode = call->decode ? ID2SYM(pel_upcall_id(call->decode)) : Qnil;
    VALUE direct = call->direct ? Qtrue : Qfalse;

    return pel_upcall(conclude, call->self, object, decode, call->on_end, direct, call->block);
}

VALUE pel_memcached_finish_failed(struct pel_memcached_call *call)
{
    struct pel_operation *operation;
    VALUE result;

    if (call->direct && finishes_in_c(call))
        pel_operation_raise(call->error);
    operation = pel_operation_new(pel_reactor_current(), 0);
    result = finishes_in_c(call) ? pel_operation_object(operation, pel_cOperation) : Qnil;
    pel_operation_fail(operation, call->error);
    if (NIL_P(result))
        result = finish_in_ruby(call, operation);
    pel_operation_release(operation);
    return result;
}

static VALUE finish_in_c(struct pel_memcached_call *call, struct pel_operation *operation)
{
    struct pel_memcached_connection *connection = call->connection;
    struct pel_reactor *reactor = connection->reactor;
    VALUE result;

    if (pel_memcached_send_soon(connection) && reactor->phase != PEL_IDLE && !call->direct) {
        /* A long burst of commands: receive replies in between, or the server would stop reading. */
        operation->references++;
        result = pel_operation_finish(reactor, operation, call->block, 1, PEL_FOREVER);
        pel_poll(reactor);
        pel_operation_release(operation);
    } else if (call->direct && connection->pending.count == 1) {
        int64_t started = connection->clock.progress; /* set just now, when the first operation became pending */
        reactor->tick.spin_ns = pel_spin_next(&connection->spin);
        result = pel_operation_finish(reactor, operation, Qnil, 0, PEL_FOREVER);
        pel_spin_took(&connection->spin, reactor->loop.now - started); /* loop.now: the end of the last wait */
    } else {
        result = pel_operation_finish(reactor, operation, call->block, !call->direct, PEL_FOREVER);
    }
    return result;
}

VALUE pel_memcached_finish(struct pel_memcached_call *call, enum pel_memcached_request request)
{
    struct pel_memcached_connection *connection = call->connection;
    struct pel_operation *operation = pel_memcached_add_pending(connection, request, call->deadline);
    VALUE self = connection->self, result;

    if (finishes_in_c(call)) {
        result = finish_in_c(call, operation);
    } else if (call->direct && NIL_P(call->on_end)) {
        VALUE arguments[] = {call->self, finish_in_c(call, operation)};
        result = pel_upcallv(call->decode, 2, arguments);
    } else {
        pel_memcached_send_soon(connection);
        result = finish_in_ruby(call, operation);
    }
    RB_GC_GUARD(self);
    return result;
}

static VALUE finish_fan_out_call(struct pel_memcached_call *call, struct pel_operation *operation)
{
    struct pel_reactor *reactor = operation->reactor;

    if (!finishes_in_c(call))
        return finish_in_ruby(call, operation);
    if (reactor->phase == PEL_IDLE && operation->state == PEL_FAILED)
        operation->handled = 1; /* so that it is not reported before the call has returned it */
    return pel_operation_finish(reactor, operation, call->block, !call->direct, PEL_FOREVER);
}

VALUE pel_memcached_finish_fan_out(struct pel_memcached_call *call, struct pel_memcached_fan_out *fan_out,
                                   VALUE (*write_shards)(VALUE), VALUE argument)
{
    struct pel_operation *operation = fan_out->operation;
    VALUE result = Qnil;
    int state;

    operation->references++;
    pel_protect(write_shards, argument, &state);
    if (state) { /* the caller never gets this operation */
        operation->handled = 1;
        pel_operation_settle(operation, PEL_FAILED, Qnil, 0);
    }
    pel_operation_keep_running(operation);
    pel_memcached_fan_out_release(fan_out);
    if (!state)
        result = finish_fan_out_call(call, operation);
    pel_operation_release(operation);
    if (state)
        end_by_jump(call, state);
    return result;
}

/* later: an object with the same commands, each of which returns its Deferrable. */
static VALUE client_later(VALUE self)
{
    VALUE later = rb_obj_alloc(cLater);

    rb_ivar_set(later, id_client, self);
    return later;
}

void pel_init_memcached_call(VALUE client_class, VALUE later_class)
{
    cLater = later_class;
    cInvalidKeyError =
        rb_define_class_under(rb_define_module_under(pel_mPelton, "Memcached"), "InvalidKeyError", pel_eError);
    id_client = rb_intern("@client");
#define NAMED(NAME, name) option_names[PEL_MEMCACHED_##NAME##_OPTION] = rb_intern(#name);
    PEL_MEMCACHED_OPTIONS(NAMED)
#undef NAMED
    rb_define_method(client_class, "later", client_later, 0);
}
