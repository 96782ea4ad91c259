#include "stream_private.h"

/*
 * Writing. Small strings gather and go out together when the loop turns; large ones are tried at once, and what the
 * descriptor does not take of them is sent from where it lies. Above the high-water mark direct style waits, and
 * callback style is told (on_drain), or refused at twice as much.
 */

#define AT_ONCE 16384   /* bytes of a string that is not gathered */
#define SEND_AT 65536   /* bytes gathered that do not wait for the tick's end */
#define LENT_FROM 65536 /* bytes that are not copied */

/* ---- after output was sent: C only ---------------------------------------------------------------------------- */

/* Memory is needed before an operation leaves the list, where it is marked. */
static void settle_writes(struct stream *stream)
{
    int closed = !pel_stream_open_p(&stream->core), ended = closed || stream->core.error;
    uint64_t sent = stream->appended - (closed ? stream->unsent : pel_stream_pending(&stream->core));

    while (stream->writes && (stream->writes->end <= sent || ended)) {
        struct write_operation *write = stream->writes;
        VALUE error = write->end <= sent ? Qnil : pel_stream_error(stream, "write");
        if (!(stream->writes = write->next))
            stream->writes_tail = &stream->writes;
        if (NIL_P(error))
            pel_operation_succeed(write->operation, SIZET2NUM(write->length));
        else
            pel_operation_fail(write->operation, error);
        pel_operation_release(write->operation);
        xfree(write);
    }
}

static void run_drain(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE self = stream->self, block = stream->on_drain;

    if (!NIL_P(block))
        rb_proc_call_with_block(block, 0, NULL, Qnil);
    RB_GC_GUARD(self);
    RB_GC_GUARD(block);
}

void pel_stream_write_ready(struct stream *stream)
{
    size_t pending = pel_stream_pending(&stream->core);

    for (struct write_waiter *writer = stream->writers; writer; writer = writer->next)
        if (pending <= writer->below || stream->core.error)
            pel_waiter_fire(stream->reactor, writer->waiter);
    if (stream->full && pending <= HIGH_WATER / 2) {
        stream->full = 0;
        if (!NIL_P(stream->on_drain))
            pel_enqueue(stream->reactor,
                        (struct pel_job){.run = run_drain, .mark = pel_stream_mark_job, .data = stream});
    }
    settle_writes(stream);
    if (!pending || stream->core.error)
        pel_stream_release(stream, HELD_BY_OUTPUT);
}

/* ---- queueing ------------------------------------------------------------------------------------------------- */

static void check(struct stream *stream, ssize_t code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code == PEL_ECLOSED)
        rb_raise(pel_eClosedError, "the stream is closed for writing");
    if (code < 0)
        rb_exc_raise(pel_stream_error(stream, "write"));
}

static void flush(struct stream *stream)
{
    int code = pel_stream_flush(&stream->core);

    pel_stream_write_ready(stream);
    check(stream, code);
}

static void put(struct stream *stream, VALUE string)
{
    size_t length = (size_t)RSTRING_LEN(string), sent = 0;
    int code = 0;

    if (length >= AT_ONCE && !stream->core.connecting) {
        ssize_t count = pel_stream_send_now(&stream->core, RSTRING_PTR(string),
                                            length < PEL_STREAM_BURST ? length : PEL_STREAM_BURST);
        check(stream, count);
        sent = (size_t)count;
    }
    if (length - sent >= LENT_FROM) {
        string = rb_str_new_frozen(string); /* a share: whoever changes the original has it copied first */
        code = pel_stream_lend(&stream->core, RSTRING_PTR(string) + sent, length - sent, string);
        RB_OBJ_WRITTEN(stream->self, Qundef, string);
    } else if (length - sent) {
        code = pel_stream_append(&stream->core, RSTRING_PTR(string) + sent, length - sent);
    }
    check(stream, code);
    stream->appended += length;
    RB_GC_GUARD(string);
}

/* Sees to it that what is queued will be sent. */
static void send_soon(struct stream *stream)
{
    size_t pending = pel_stream_pending(&stream->core);

    if ((pending >= SEND_AT || stream->reactor->phase == PEL_IDLE) && stream->core.writable) {
        flush(stream);
        pending = pel_stream_pending(&stream->core);
    }
    if (!pending)
        return;
    if (pending > HIGH_WATER)
        stream->full = 1;
    pel_stream_hold(stream, HELD_BY_OUTPUT);
    if (stream->core.writable)
        pel_stream_flush_later(&stream->core);
}

static size_t put_all(struct stream *stream, int count, const VALUE *strings)
{
    uint64_t before = stream->appended;

    for (int i = 0; i < count; i++)
        put(stream, strings[i]);
    send_soon(stream);
    return (size_t)(stream->appended - before);
}

/* ---- direct style --------------------------------------------------------------------------------------------- */

int pel_stream_await_below(struct stream *stream, size_t below, int64_t deadline)
{
    while (pel_stream_pending(&stream->core) > below) {
        struct pel_waiter waiter = {.exception = Qfalse};
        struct write_waiter link = {.waiter = &waiter, .next = stream->writers, .below = below}, **place;
        int state;
        if (stream->core.error)
            check(stream, PEL_ESYSTEM);
        stream->writers = &link;
        state = pel_park_protected(stream->reactor, &waiter, deadline);
        for (place = &stream->writers; *place != &link; place = &(*place)->next)
            ;
        *place = link.next;
        if (state)
            pel_rethrow(state);
        if (waiter.timed_out)
            return PEL_ETIMEOUT;
        if (stream->closing)
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
        pel_overspend(reactor);
        pel_stream_get(self);
    }
    length = put_all(stream, count, strings);
    reactor->budget -= (int32_t)(length >> 12);
    below = reactor->phase == PEL_IDLE ? 0 : stream->full ? HIGH_WATER / 2 : SIZE_MAX;
    if (pel_stream_pending(&stream->core) > below)
        pel_stream_wait_below(stream, below, pel_stream_deadline(stream, timeout));
    return SIZET2NUM(length);
}

/* ---- callback style ------------------------------------------------------------------------------------------- */

struct later {
    VALUE self;
    int count;
    const VALUE *strings;
    size_t length;
};

static VALUE put_later(VALUE argument)
{
    struct later *later = (struct later *)argument;
    struct stream *stream = pel_stream_get(later->self);

    if (stream->core.error)
        check(stream, PEL_ESYSTEM);
    if (pel_stream_pending(&stream->core) > 2 * (size_t)HIGH_WATER)
        pel_raise(PEL_EOVERLOAD, 0, "write");
    later->length = put_all(stream, later->count, later->strings);
    return Qnil;
}

/* The error that comes of it, for the errbacks: a stream that is full, closed or broken. Raises others. */
static VALUE try_put(struct later *later)
{
    VALUE error;
    int state;

    pel_protect(put_later, (VALUE)later, &state);
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
    struct later later = {.self = self, .count = count, .strings = strings};
    VALUE error = try_put(&later), object;
    struct pel_operation *operation = pel_operation_new(stream->reactor, 1);

    if (NIL_P(error)) {
        struct write_operation *write = RB_ZALLOC(struct write_operation);
        *write = (struct write_operation){.operation = operation, .end = stream->appended, .length = later.length};
        RB_OBJ_WB_UNPROTECT(self); /* who listens to the operation knows nothing of the stream */
        *stream->writes_tail = write;
        stream->writes_tail = &write->next;
        operation->references++;
        settle_writes(stream);
        object = pel_operation_finish(stream->reactor, operation, block, 1, pel_stream_deadline(stream, timeout));
    } else { /* it waits for an errback, also where no reactor runs */
        object = pel_operation_object(operation, pel_cOperation);
        pel_operation_fail(operation, error);
    }
    pel_operation_release(operation);
    return object;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

static VALUE timeout_of(VALUE options)
{
    static ID keywords[1];
    VALUE timeout;

    if (!keywords[0])
        keywords[0] = rb_intern("timeout");
    rb_get_kwargs(options, keywords, 0, 1, &timeout);
    return timeout == Qundef ? Qnil : timeout;
}

/* Before anything is queued, because it may run the user's to_s. */
static void convert(int count, VALUE *strings)
{
    for (int i = 0; i < count; i++)
        strings[i] = rb_obj_as_string(strings[i]);
}

/* write(*strings, timeout: nil) { |bytes| } */
static VALUE stream_write(int argc, VALUE *argv, VALUE self)
{
    VALUE timeout = Qnil;

    if (argc && rb_keyword_given_p())
        timeout = timeout_of(argv[--argc]);
    convert(argc, argv);
    if (rb_block_given_p())
        return write_later(self, argc, argv, timeout, rb_block_proc());
    return write_directly(self, argc, argv, timeout);
}

/* _write_later(*strings, timeout: nil): the Deferrable without a block. */
static VALUE stream_write_later(int argc, VALUE *argv, VALUE self)
{
    VALUE timeout = Qnil;

    if (argc && rb_keyword_given_p())
        timeout = timeout_of(argv[--argc]);
    convert(argc, argv);
    return write_later(self, argc, argv, timeout, Qnil);
}

static VALUE stream_append(VALUE self, VALUE string)
{
    convert(1, &string);
    write_directly(self, 1, &string, Qnil);
    return self;
}

/* _put(string): queues it, however much there is already, and never waits. Returns its bytes. */
static VALUE stream_put(VALUE self, VALUE string)
{
    struct stream *stream = pel_stream_get(self);

    StringValue(string);
    stream->reactor->budget--;
    return SIZET2NUM(put_all(stream, 1, &string));
}

/* _cork(whether): nothing is sent while it is true; then what is queued is sent at once. */
static VALUE stream_cork(VALUE self, VALUE whether)
{
    struct stream *stream = pel_stream_any(self);

    stream->core.corked = RTEST(whether);
    if (!stream->core.corked && pel_stream_pending(&stream->core) && stream->core.writable &&
        pel_stream_flush(&stream->core) != 0)
        pel_stream_flush_later(&stream->core); /* also when it failed: it is told then */
    return whether;
}

/* _flush(timeout): waits until all is sent. */
static VALUE stream_flush(VALUE self, VALUE timeout)
{
    struct stream *stream = pel_stream_get(self);

    flush(stream);
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
    check(stream, code);
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
    rb_define_private_method(class, "_write_later", stream_write_later, -1);
    rb_define_method(class, "_put", stream_put, 1);
    rb_define_method(class, "_cork", stream_cork, 1);
    rb_define_private_method(class, "_flush", stream_flush, 1);
    rb_define_method(class, "close_write", stream_close_write, 0);
    rb_define_method(class, "pending", stream_pending, 0);
}
