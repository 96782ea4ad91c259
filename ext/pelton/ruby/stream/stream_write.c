#include "ruby/stream/stream_private.h"

#include "ruby/base/garbage.h"
#include "ruby/reactor/yield.h"

/*
 * Writing. Small strings collect in the output and are sent together at the tick's end. A large one is sent at once,
 * and the rest that the descriptor does not take is borrowed from the String instead of copied. Above the high-water
 * mark direct style waits, and callback style is notified by on_drain; at twice the mark callback style fails.
 */

#define SEND_AT_ONCE 16384 /* bytes of a string that is sent at once */
#define FLUSH_AT 65536     /* bytes of output that are sent before the tick's end */
#define BORROW_FROM 65536  /* bytes that are borrowed instead of copied */

/* ---- after output was sent: C only ---------------------------------------------------------------------------- */

/* Settling may collect garbage: each operation stays in the list, which marks it, until its error is made. */
static void settle_writes(struct stream *stream)
{
    int closed = !pel_stream_open_p(&stream->core), ended = closed || stream->core.error;
    uint64_t sent = stream->writes.appended - (closed ? stream->writes.unsent : pel_stream_pending(&stream->core));

    while (stream->writes.first && (stream->writes.first->end <= sent || ended)) {
        struct write_operation *write = stream->writes.first;
        VALUE error = write->end <= sent ? Qnil : pel_stream_error(stream, "write");
        if (!(stream->writes.first = write->next))
            stream->writes.tail = &stream->writes.first;
        if (NIL_P(error))
            pel_operation_succeed(write->operation, SIZET2NUM(write->length));
        else
            pel_operation_fail(write->operation, error);
        pel_operation_release(write->operation);
        PEL_FREE(write);
    }
}

static void run_on_drain(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE block = stream->delivery.on_drain;

    if (!NIL_P(block))
        rb_proc_call_with_block(block, 0, NULL, Qnil);
    RB_GC_GUARD(block);
}

void pel_stream_write_ready(struct stream *stream)
{
    size_t pending = pel_stream_pending(&stream->core);

    for (struct pel_turn *turn = stream->writes.waiters.first; turn; turn = turn->next)
        if (pending <= ((struct write_waiter *)turn)->below || stream->core.error)
            pel_waiter_fire(stream->reactor, turn->waiter);
    if (stream->delivery.drain_due && pending <= HIGH_WATER / 2) {
        stream->delivery.drain_due = 0;
        if (!NIL_P(stream->delivery.on_drain))
            pel_enqueue(stream->reactor, (struct pel_job){.run = run_on_drain, .data = stream, .object = stream->self});
    }
    settle_writes(stream);
    if (!pending || stream->core.error)
        pel_stream_release(stream, RETAINED_BY_OUTPUT);
}

/* ---- queueing ------------------------------------------------------------------------------------------------- */

static void check_write(struct stream *stream, ssize_t code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code == PEL_ECLOSED)
        rb_raise(pel_eClosedError, "the stream is closed for writing");
    if (code < 0)
        rb_exc_raise(pel_stream_error(stream, "write"));
}

static void flush_output(struct stream *stream)
{
    int code = pel_stream_flush(&stream->core);

    pel_stream_write_ready(stream);
    check_write(stream, code);
}

static void queue_string(struct stream *stream, VALUE string)
{
    size_t length = (size_t)RSTRING_LEN(string), sent = 0;
    int code = 0;

    if (length >= BORROW_FROM)
        pel_garbage_expected(length);
    if (length >= SEND_AT_ONCE && !stream->core.connecting) {
        ssize_t count = pel_stream_send_now(&stream->core, RSTRING_PTR(string),
                                            length < PEL_STREAM_BURST ? length : PEL_STREAM_BURST);
        check_write(stream, count);
        sent = (size_t)count;
    }
    if (length - sent >= BORROW_FROM) {
        string = rb_str_new_frozen(string); /* shares the bytes: changing the original copies them first */
        code = pel_stream_append_borrowed(&stream->core, RSTRING_PTR(string) + sent, length - sent, string, NULL);
        RB_OBJ_WRITTEN(stream->self, Qundef, string);
    } else if (length - sent) {
        code = pel_stream_append(&stream->core, RSTRING_PTR(string) + sent, length - sent);
    }
    check_write(stream, code);
    stream->writes.appended += length;
    RB_GC_GUARD(string);
}

/* Sends the output, or has it sent at the tick's end or when the descriptor takes more. */
static void schedule_output(struct stream *stream)
{
    size_t pending = pel_stream_pending(&stream->core);

    if ((pending >= FLUSH_AT || stream->reactor->phase == PEL_IDLE) && stream->core.writable) {
        flush_output(stream);
        pending = pel_stream_pending(&stream->core);
    }
    if (!pending)
        return;
    if (pending > HIGH_WATER)
        stream->delivery.drain_due = 1;
    pel_stream_retain(stream, RETAINED_BY_OUTPUT);
    if (stream->core.writable)
        pel_stream_flush_later(&stream->core);
}

static size_t queue_strings(struct stream *stream, int count, const VALUE *strings)
{
    uint64_t before = stream->writes.appended;

    for (int i = 0; i < count; i++)
        queue_string(stream, strings[i]);
    schedule_output(stream);
    return (size_t)(stream->writes.appended - before);
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

int pel_stream_await_below(struct stream *stream, size_t below, int64_t deadline)
{
    while (pel_stream_pending(&stream->core) > below) {
        struct pel_waiter waiter = {.exception = Qfalse};
        struct write_waiter entry = {.turn.waiter = &waiter, .below = below};
        int state;
        if (stream->core.error)
            check_write(stream, PEL_ESYSTEM);
        pel_turns_enter(&stream->writes.waiters, &entry.turn);
        state = pel_park_protected(stream->reactor, &waiter, deadline);
        pel_turns_leave(&stream->writes.waiters, &entry.turn);
        if (state)
            pel_rethrow(state);
        if (waiter.timed_out)
            return PEL_ETIMEOUT;
        if (stream->close.begun)
            rb_raise(pel_eClosedError, "the stream was closed while this call waited");
    }
    return 0;
}

void pel_stream_wait_below(struct stream *stream, size_t below, int64_t deadline)
{
    if (pel_stream_await_below(stream, below, deadline) == PEL_ETIMEOUT)
        pel_raise(PEL_ETIMEOUT, 0, "write");
}

static VALUE write_directly(VALUE self, int count, const VALUE *strings, VALUE timeout)
{
    struct stream *stream = pel_stream_get(self);
    struct pel_reactor *reactor = stream->reactor;
    size_t length, below;

    if (reactor->budget-- <= 0) {
        pel_budget_exhausted(reactor);
        pel_stream_get(self);
    }
    length = queue_strings(stream, count, strings);
    reactor->budget -= (int32_t)(length >> 12);
    below = reactor->phase == PEL_IDLE ? 0 : stream->delivery.drain_due ? HIGH_WATER / 2 : SIZE_MAX;
    if (pel_stream_pending(&stream->core) > below)
        pel_stream_wait_below(stream, below, pel_stream_deadline(stream, timeout));
    return SIZET2NUM(length);
}

/* ---- callback style ------------------------------------------------------------------------------------------- */

struct deferred_write {
    VALUE self;
    int count;
    const VALUE *strings;
    size_t length;
};

static VALUE queue_deferred(VALUE argument)
{
    struct deferred_write *deferred = (struct deferred_write *)argument;
    struct stream *stream = pel_stream_get(deferred->self);

    if (stream->core.error)
        check_write(stream, PEL_ESYSTEM);
    if (pel_stream_pending(&stream->core) > 2 * (size_t)HIGH_WATER)
        pel_raise(PEL_EOVERLOAD, 0, "write");
    deferred->length = queue_strings(stream, deferred->count, deferred->strings);
    return Qnil;
}

/* Queues the strings. Returns nil, or the error for the errbacks: the stream is overloaded, closed or broken. Raises
 * other errors. */
static VALUE try_queue_deferred(struct deferred_write *deferred)
{
    VALUE error;
    int state;

    pel_protect(queue_deferred, (VALUE)deferred, &state);
    if (!state)
        return Qnil;
    error = pel_take_error(state);
    if (NIL_P(error))
        pel_rethrow(state);
    if (!rb_obj_is_kind_of(error, pel_eError))
        rb_exc_raise(error);
    return error;
}

static VALUE write_later(VALUE self, int count, const VALUE *strings, VALUE timeout, VALUE block)
{
    struct stream *stream = pel_stream_any(self);
    struct deferred_write deferred = {.self = self, .count = count, .strings = strings};
    VALUE error = try_queue_deferred(&deferred), object;
    struct pel_operation *operation = pel_operation_new(stream->reactor, 1);

    if (NIL_P(error)) {
        struct write_operation *write = RB_ZALLOC(struct write_operation);
        *write =
            (struct write_operation){.operation = operation, .end = stream->writes.appended, .length = deferred.length};
        RB_OBJ_WB_UNPROTECT(self); /* code that adds callbacks to the operation has no stream to write-barrier */
        *stream->writes.tail = write;
        stream->writes.tail = &write->next;
        operation->references++;
        settle_writes(stream);
        object = pel_operation_finish(stream->reactor, operation, block, 1, pel_stream_deadline(stream, timeout));
    } else { /* the error waits for an errback, also where no reactor runs */
        object = pel_operation_object(operation, pel_cOperation);
        pel_operation_fail(operation, error);
    }
    pel_operation_release(operation);
    return object;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

static VALUE write_timeout(VALUE options)
{
    static ID keywords[1];
    VALUE timeout;

    if (!keywords[0])
        keywords[0] = rb_intern("timeout");
    rb_get_kwargs(options, keywords, 0, 1, &timeout);
    return timeout == Qundef ? Qnil : timeout;
}

/* Call before anything is queued, because it may call to_s of the user's objects. */
static void convert_strings(int count, VALUE *strings)
{
    for (int i = 0; i < count; i++)
        strings[i] = rb_obj_as_string(strings[i]);
}

/* The arguments of a write: makes Strings of *argc objects, and returns the timeout that follows them, or nil. */
static VALUE take_write_arguments(int *argc, VALUE *argv)
{
    VALUE timeout = *argc && rb_keyword_given_p() ? write_timeout(argv[--*argc]) : Qnil;

    convert_strings(*argc, argv);
    return timeout;
}

/* write(*strings, timeout: nil) { |bytes| } */
static VALUE stream_write(int argc, VALUE *argv, VALUE self)
{
    VALUE timeout = take_write_arguments(&argc, argv);

    if (rb_block_given_p())
        return write_later(self, argc, argv, timeout, rb_block_proc());
    return write_directly(self, argc, argv, timeout);
}

/* write_later(*strings, timeout: nil): returns the Deferrable without a block. */
static VALUE stream_write_later(int argc, VALUE *argv, VALUE self)
{
    VALUE timeout = take_write_arguments(&argc, argv);

    return write_later(self, argc, argv, timeout, Qnil);
}

static VALUE stream_append(VALUE self, VALUE string)
{
    convert_strings(1, &string);
    write_directly(self, 1, &string, Qnil);
    return self;
}

/* put(string): queues the string, however much is queued already, and never waits. Returns its bytes. */
static VALUE stream_put(VALUE self, VALUE string)
{
    struct stream *stream = pel_stream_get(self);

    StringValue(string);
    stream->reactor->budget--;
    return SIZET2NUM(queue_strings(stream, 1, &string));
}

/* cork(whether): with true nothing is sent; with false the queued output is sent at once. */
static VALUE stream_cork(VALUE self, VALUE whether)
{
    struct stream *stream = pel_stream_any(self);

    stream->core.corked = RTEST(whether);
    if (!stream->core.corked && pel_stream_pending(&stream->core) && stream->core.writable &&
        pel_stream_flush(&stream->core) != 0)
        pel_stream_flush_later(&stream->core); /* also after a failure, which that flush reports */
    return whether;
}

/* _flush(timeout): sends the output, and waits until all of it is sent. */
static VALUE stream_flush(VALUE self, VALUE timeout)
{
    struct stream *stream = pel_stream_get(self);

    flush_output(stream);
    if (pel_stream_pending(&stream->core)) {
        if (stream->core.writable)
            pel_stream_flush_later(&stream->core);
        pel_stream_wait_below(stream, 0, pel_stream_deadline(stream, timeout));
    }
    return self;
}

static VALUE stream_close_write(VALUE self)
{
    struct stream *stream = pel_stream_get(self);

    int code = pel_stream_close_write(&stream->core);

    pel_stream_write_ready(stream);
    check_write(stream, code);
    return Qnil;
}

static VALUE stream_pending(VALUE self)
{
    return SIZET2NUM(pel_stream_pending(&pel_stream_any(self)->core));
}

void pel_init_stream_write(VALUE class)
{
    rb_define_method(class, "write", stream_write, -1);
    rb_define_method(class, "<<", stream_append, 1);
    rb_define_method(class, "write_later", stream_write_later, -1);
    rb_define_method(class, "put", stream_put, 1);
    rb_define_method(class, "cork", stream_cork, 1);
    rb_define_private_method(class, "_flush", stream_flush, 1);
    rb_define_method(class, "close_write", stream_close_write, 0);
    rb_define_method(class, "pending", stream_pending, 0);
}
