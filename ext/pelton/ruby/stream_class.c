#include "stream.h"

#include <errno.h>
#include <unistd.h>
#include "error.h"
#include "operation.h"
#include "protect.h"

/*
 * Pelton::Stream: a connected descriptor with buffers. Direct style: read and write calls park until they are done.
 * Callback style: on_data delivers what comes, in order, and never two pieces at once: while a callback is parked its
 * stream is busy, and what comes meanwhile waits in the kernel.
 */

#define HIGH_WATER (1024 * 1024)     /* bytes queued at which writers wait */
#define DELIVERY_BYTES (1024 * 1024) /* for one stream in one turn */

struct io_waiter {
    struct pel_waiter *waiter;
    struct io_waiter *next;
    unsigned events;
};

/* A write in callback style: settled when the stream has sent everything up to its end. */
struct write_operation {
    struct write_operation *next;
    struct pel_operation *operation;
    uint64_t end;
    size_t length;
};

struct stream {
    struct pel_stream core; /* first */
    struct pel_reactor *reactor;
    VALUE self, reactor_object;
    VALUE on_data, on_close, on_end, on_drain;
    struct io_waiter *waiters;
    struct write_operation *writes, **writes_tail;
    struct pel_listed listed; /* while callbacks are to be called */
    struct pel_buffer input;  /* read and not yet asked for, by gets */
    uint64_t appended;        /* bytes ever queued */
    unsigned paused : 1, delivering : 1, delivery_queued : 1, close_queued : 1, closed : 1, told_full : 1;
};

static VALUE cStream;

static void wake(struct stream *stream, unsigned events);
static void queue_delivery(struct stream *stream);
static void queue_close(struct stream *stream);

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void stream_mark(void *data)
{
    struct stream *stream = data;

    rb_gc_mark(stream->reactor_object);
    rb_gc_mark(stream->on_data);
    rb_gc_mark(stream->on_close);
    rb_gc_mark(stream->on_end);
    rb_gc_mark(stream->on_drain);
    for (struct write_operation *write = stream->writes; write; write = write->next)
        pel_operation_mark(write->operation);
}

static void stream_free(void *data)
{
    struct stream *stream = data;

    /* An unregistered handle with an open descriptor: the loop was closed before. */
    if (stream->core.handle.slot != PEL_UNREGISTERED)
        pel_flush_forget(stream->reactor, &stream->core);
    pel_stream_close(&stream->core);
    pel_buffer_free(&stream->input);
    while (stream->writes) {
        struct write_operation *write = stream->writes;
        stream->writes = write->next;
        pel_operation_release(write->operation);
        xfree(write);
    }
    xfree(stream);
}

static size_t stream_size(const void *data)
{
    const struct stream *stream = data;
    return sizeof *stream + stream->core.output.capacity + stream->input.capacity;
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: its operations are written by C lists. */
static const rb_data_type_t stream_type = {
    .wrap_struct_name = "Pelton::Stream",
    .function = {.dmark = stream_mark, .dfree = stream_free, .dsize = stream_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static void on_ready(struct pel_stream *core, unsigned events);

static struct stream *stream_new(struct pel_reactor *reactor, VALUE class)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(class, struct stream, &stream_type, stream);

    stream->core.handle.fd = -1;
    stream->core.handle.slot = PEL_UNREGISTERED;
    stream->core.on_ready = on_ready;
    stream->reactor = reactor;
    stream->self = self;
    stream->reactor_object = reactor->self;
    stream->on_data = stream->on_close = stream->on_end = stream->on_drain = Qnil;
    stream->writes_tail = &stream->writes;
    pel_buffer_init(&stream->input);
    return stream;
}

VALUE pel_stream_object(struct pel_reactor *reactor, int fd)
{
    struct stream *stream = stream_new(reactor, cStream);

    if (pel_stream_open(&stream->core, &reactor->loop, fd) < 0) {
        int error = errno;
        close(fd);
        pel_raise(PEL_ESYSTEM, error, "cannot take a descriptor over");
    }
    return stream->self;
}

static struct stream *get_any(VALUE self)
{
    return rb_check_typeddata(self, &stream_type);
}

static struct stream *get(VALUE self)
{
    struct stream *stream = get_any(self);

    if (!pel_stream_open_p(&stream->core))
        rb_raise(pel_eClosedError, "the stream is closed");
    if (stream->reactor->fork_generation != pel_fork_generation)
        rb_raise(pel_eClosedError, "this stream belongs to the parent process: open one in the child");
    return stream;
}

/* ---- events, from the loop: C only ---------------------------------------------------------------------------- */

static void settle_writes(struct stream *stream)
{
    uint64_t sent = stream->appended - pel_stream_pending(&stream->core);

    while (stream->writes && (stream->writes->end <= sent || stream->core.error || !pel_stream_open_p(&stream->core))) {
        struct write_operation *write = stream->writes;
        if (!(stream->writes = write->next))
            stream->writes_tail = &stream->writes;
        if (write->end <= sent)
            pel_operation_succeed(write->operation, SIZET2NUM(write->length));
        else
            pel_operation_fail(write->operation, stream->core.error
                                                     ? pel_error_new(PEL_ESYSTEM, stream->core.error, "write")
                                                     : pel_error_new(PEL_ECLOSED, 0, NULL));
        pel_operation_release(write->operation);
        xfree(write);
    }
}

static void run_drain(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE block = stream->on_drain;

    if (!NIL_P(block))
        rb_proc_call_with_block(block, 0, NULL, Qnil);
    RB_GC_GUARD(block);
}

static void mark_stream_job(void *data)
{
    rb_gc_mark(((struct stream *)data)->self);
}

static void finish_close(struct stream *stream);

static void on_ready(struct pel_stream *core, unsigned events)
{
    struct stream *stream = (struct stream *)core;

    wake(stream, events);
    if (stream->writes)
        settle_writes(stream);
    if (stream->told_full && pel_stream_pending(core) <= HIGH_WATER / 2) {
        stream->told_full = 0;
        if (!NIL_P(stream->on_drain))
            pel_enqueue(stream->reactor, (struct pel_job){.run = run_drain, .mark = mark_stream_job, .data = stream});
    }
    if (core->close_when_sent && (core->error || !pel_stream_pending(core))) {
        finish_close(stream);
        return;
    }
    if (events & (PEL_READABLE | PEL_HANGUP) || core->error)
        queue_delivery(stream);
}

static void wake(struct stream *stream, unsigned events)
{
    struct io_waiter *waiter;

    for (waiter = stream->waiters; waiter; waiter = waiter->next)
        if (events & waiter->events || stream->core.error || !pel_stream_open_p(&stream->core))
            pel_waiter_fire(stream->reactor, waiter->waiter);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

static void remove_waiter(struct stream *stream, struct io_waiter *waiter)
{
    struct io_waiter **link = &stream->waiters;

    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link)
        *link = waiter->next;
}

static int64_t deadline_from(VALUE timeout)
{
    return NIL_P(timeout) ? PEL_FOREVER : pel_now() + pel_nanoseconds(timeout);
}

/* Waits for readiness. Raises TimeoutError, or what is raised in the fiber. */
static void wait_for(struct stream *stream, unsigned events, int64_t deadline)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    struct io_waiter link = {.waiter = &waiter, .next = stream->waiters, .events = events};
    int state;

    stream->waiters = &link;
    state = pel_park_protected(stream->reactor, &waiter, deadline);
    remove_waiter(stream, &link);
    if (state)
        pel_rethrow(state);
    if (waiter.timed_out)
        pel_raise(PEL_ETIMEOUT, 0, events & PEL_READABLE ? "read" : "write");
    if (!pel_stream_open_p(&stream->core))
        rb_raise(pel_eClosedError, "the stream was closed while this call waited");
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static size_t take_input(struct stream *stream, char *bytes, size_t length)
{
    size_t count = pel_buffer_length(&stream->input);

    if (count > length)
        count = length;
    memcpy(bytes, pel_buffer_head(&stream->input), count);
    pel_buffer_consume(&stream->input, count);
    return count;
}

/* _readpartial(max, buffer or nil, timeout): the string, or nil at the end. */
static VALUE stream_readpartial(VALUE self, VALUE max, VALUE buffer, VALUE timeout)
{
    struct stream *stream = get(self);
    long length = NUM2LONG(max);
    size_t count;

    if (length < 0)
        rb_raise(rb_eArgError, "cannot read %ld bytes", length);
    if (NIL_P(buffer)) {
        /* Out of the loop's hot buffer an exact copy is cheaper than a fresh string of full size. */
        for (;;) {
            char *hot = pel_hot_buffer(stream->reactor);
            size_t size = (size_t)length < PEL_HOT_BUFFER ? (size_t)length : PEL_HOT_BUFFER;
            ssize_t got = pel_buffer_length(&stream->input) ? (ssize_t)take_input(stream, hot, size)
                                                            : pel_stream_receive(&stream->core, hot, size);
            if (got == PEL_EAGAIN) {
                wait_for(stream, PEL_READABLE, deadline_from(timeout));
                continue;
            }
            if (got < 0)
                pel_raise((int)got, stream->core.error, "read");
            if (got == 0 && length)
                return Qnil;
            buffer = rb_str_new(hot, got);
            pel_spend(stream->reactor, 1 + (int32_t)(got >> 12));
            return buffer;
        }
    }
    StringValue(buffer);
    rb_str_modify(buffer);
    rb_str_set_len(buffer, 0);
    rb_str_modify_expand(buffer, length);
    if (pel_buffer_length(&stream->input)) {
        count = take_input(stream, RSTRING_PTR(buffer), (size_t)length);
    } else {
        for (;;) {
            ssize_t got = pel_stream_receive(&stream->core, RSTRING_PTR(buffer), (size_t)length);
            if (got >= 0) {
                count = (size_t)got;
                break;
            }
            if (got != PEL_EAGAIN)
                pel_raise((int)got, stream->core.error, "read");
            wait_for(stream, PEL_READABLE, deadline_from(timeout));
            rb_str_modify(buffer); /* other fibers ran: it may have been frozen, shared or shortened */
            rb_str_set_len(buffer, 0);
            rb_str_modify_expand(buffer, length);
        }
    }
    rb_str_set_len(buffer, (long)count);
    if (count == 0 && length)
        return Qnil;
    pel_spend(stream->reactor, 1 + (int32_t)(count >> 12));
    return buffer;
}

/* _fill(timeout): one more piece into the input buffer. false at the end of file. */
static VALUE stream_fill(VALUE self, VALUE timeout)
{
    struct stream *stream = get(self);
    ssize_t count;

    for (;;) {
        char *hot = pel_hot_buffer(stream->reactor);
        count = pel_stream_receive(&stream->core, hot, PEL_HOT_BUFFER);
        if (count == PEL_EAGAIN) {
            wait_for(stream, PEL_READABLE, deadline_from(timeout));
            continue;
        }
        if (count < 0)
            pel_raise((int)count, stream->core.error, "read");
        if (count == 0)
            return Qfalse;
        if (pel_buffer_append(&stream->input, hot, (size_t)count) < 0)
            rb_memerror();
        pel_spend(stream->reactor, 1 + (int32_t)(count >> 12));
        return Qtrue;
    }
}

/* _take(separator, limit or nil): what is buffered up to and with the separator, or limit bytes; nil when there is not
 * enough. An empty separator: exactly limit bytes. */
static VALUE stream_take(VALUE self, VALUE separator, VALUE limit, VALUE from)
{
    struct stream *stream = get_any(self);
    size_t length = pel_buffer_length(&stream->input), most = NIL_P(limit) ? SIZE_MAX : NUM2SIZET(limit), take = 0;
    size_t start = NUM2SIZET(from), width = (size_t)RSTRING_LEN(separator);
    const char *head = pel_buffer_head(&stream->input);
    VALUE string;

    if (width && length >= width) {
        if (start > length)
            start = length;
        const char *found = memmem(head + start, length - start, RSTRING_PTR(separator), width);
        if (found)
            take = (size_t)(found - head) + width;
    }
    if (take > most || (!take && length >= most))
        take = most;
    if (!take)
        return Qnil;
    string = rb_str_new(head, (long)take);
    pel_buffer_consume(&stream->input, take);
    return string;
}

static VALUE stream_buffered(VALUE self)
{
    return SIZET2NUM(pel_buffer_length(&get_any(self)->input));
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static void check_write(struct stream *stream, ssize_t code)
{
    if (code == PEL_ECLOSED)
        rb_raise(pel_eClosedError, "the stream is closed for writing");
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code < 0)
        pel_raise((int)code, stream->core.error, "write");
}

/* Queues what does not go out at once: large pieces are tried without a copy, small ones gather for the tick's end. */
static void put(struct stream *stream, const char *bytes, size_t length)
{
    ssize_t sent = 0;

    stream->appended += length;
    if (length >= 16384 && !stream->core.connecting) {
        sent = pel_stream_send_now(&stream->core, bytes, length);
        check_write(stream, sent);
    }
    if ((size_t)sent < length) {
        check_write(stream, pel_stream_append(&stream->core, bytes + sent, length - (size_t)sent));
        if (pel_stream_pending(&stream->core) >= 65536 && stream->core.writable)
            check_write(stream, pel_stream_flush(&stream->core) < 0 ? PEL_ESYSTEM : 0);
    }
    if (pel_stream_pending(&stream->core))
        pel_flush_later(stream->reactor, &stream->core);
}

/* _write(string, timeout): direct style. Waits while more than the high-water mark is queued. */
static VALUE stream_write(VALUE self, VALUE string, VALUE timeout)
{
    struct stream *stream = get(self);
    long length;

    string = rb_obj_as_string(string);
    length = RSTRING_LEN(string);
    put(stream, RSTRING_PTR(string), (size_t)length);
    RB_GC_GUARD(string);
    if (pel_stream_pending(&stream->core) > HIGH_WATER) {
        int64_t deadline = deadline_from(timeout);
        stream->told_full = 1;
        while (pel_stream_open_p(&stream->core) && pel_stream_pending(&stream->core) > HIGH_WATER / 2)
            wait_for(stream, PEL_WRITABLE, deadline);
    }
    pel_spend(stream->reactor, 1 + (int32_t)(length >> 12));
    return LONG2NUM(length);
}

/* _write_later(string): callback style. An Operation that succeeds when the string is sent. */
static VALUE stream_write_later(VALUE self, VALUE string)
{
    struct stream *stream = get(self);
    struct pel_operation *operation = pel_operation_new(stream->reactor, 1);
    VALUE object = pel_operation_object(operation, pel_cOperation);
    struct write_operation *write;

    string = rb_obj_as_string(string);
    if (pel_stream_pending(&stream->core) > 2 * (size_t)HIGH_WATER) {
        pel_operation_fail(operation, pel_error_new(PEL_EOVERLOAD, 0, "write"));
        pel_operation_release(operation);
        return object;
    }
    write = RB_ZALLOC(struct write_operation);
    put(stream, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    write->operation = operation;
    write->end = stream->appended;
    write->length = (size_t)RSTRING_LEN(string);
    *stream->writes_tail = write;
    stream->writes_tail = &write->next;
    if (pel_stream_pending(&stream->core) > HIGH_WATER)
        stream->told_full = 1;
    settle_writes(stream);
    RB_GC_GUARD(string);
    return object;
}

/* _flush(timeout): waits until all is sent. */
static VALUE stream_flush(VALUE self, VALUE timeout)
{
    struct stream *stream = get(self);
    int64_t deadline = deadline_from(timeout);

    check_write(stream, pel_stream_flush(&stream->core) < 0 ? PEL_ESYSTEM : 0);
    while (pel_stream_pending(&stream->core)) {
        wait_for(stream, PEL_WRITABLE, deadline);
        if (stream->core.error)
            check_write(stream, PEL_ESYSTEM);
    }
    return self;
}

static VALUE stream_pending(VALUE self)
{
    return SIZET2NUM(pel_stream_pending(&get_any(self)->core));
}

/* ---- closing -------------------------------------------------------------------------------------------------- */

static void delist(struct stream *stream)
{
    if (!stream->listed.next)
        return;
    pel_list_remove(stream->reactor, &stream->listed);
    stream->reactor->references--;
}

/* Closes for good. Whoever waits is told; on_close is called in a job of its own. C only. */
static void finish_close(struct stream *stream)
{
    if (stream->closed)
        return;
    stream->closed = 1;
    pel_flush_forget(stream->reactor, &stream->core);
    pel_stream_close(&stream->core);
    wake(stream, PEL_READABLE | PEL_WRITABLE);
    settle_writes(stream);
    queue_close(stream);
}

static VALUE stream_close(VALUE self)
{
    struct stream *stream = get_any(self);

    if (stream->closed || !pel_stream_open_p(&stream->core))
        return Qnil;
    if (stream->reactor->fork_generation != pel_fork_generation) {
        stream->core.handle.slot = PEL_UNREGISTERED; /* the registration is the parent's */
        close(stream->core.handle.fd);
        stream->core.handle.fd = -1;
        return Qnil;
    }
    if (pel_stream_pending(&stream->core) && !stream->core.error && pel_stream_flush(&stream->core) == 1) {
        stream->core.close_when_sent = 1;
        stream->paused = 1;
        if (!stream->listed.next) { /* keeps the object, and run, until the output is sent */
            stream->reactor->references++;
            pel_list_add(stream->reactor, &stream->listed, self);
        }
        return Qnil;
    }
    finish_close(stream);
    return Qnil;
}

/* Closes at once; queued output is dropped. */
static VALUE stream_abort(VALUE self)
{
    struct stream *stream = get_any(self);

    if (pel_stream_open_p(&stream->core) && stream->reactor->fork_generation == pel_fork_generation)
        finish_close(stream);
    return Qnil;
}

static VALUE stream_close_write(VALUE self)
{
    struct stream *stream = get(self);
    check_write(stream, pel_stream_close_write(&stream->core));
    return Qnil;
}

static VALUE stream_closed_p(VALUE self)
{
    return pel_stream_open_p(&get_any(self)->core) ? Qfalse : Qtrue;
}

static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    struct stream *stream = (struct stream *)((char *)listed - offsetof(struct stream, listed));

    reactor->references--;
    pel_stream_flush(&stream->core);
    finish_close(stream);
}

/* ---- callbacks ------------------------------------------------------------------------------------------------ */

static void run_close(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE self = stream->self, block = stream->on_close;
    VALUE error = stream->core.error ? pel_error_new(PEL_ESYSTEM, stream->core.error, "the connection failed") : Qnil;

    stream->on_data = stream->on_close = stream->on_end = stream->on_drain = Qnil;
    delist(stream);
    if (!NIL_P(block))
        rb_proc_call_with_block(block, 1, &error, Qnil);
    RB_GC_GUARD(self);
    RB_GC_GUARD(block);
}

static void queue_close(struct stream *stream)
{
    if (stream->close_queued)
        return;
    if (NIL_P(stream->on_close) && !stream->listed.next)
        return;
    stream->close_queued = 1;
    pel_enqueue(stream->reactor, (struct pel_job){.run = run_close, .mark = mark_stream_job, .data = stream});
}

static VALUE call_on_data(VALUE argument)
{
    VALUE *pair = (VALUE *)argument;
    return rb_proc_call_with_block(pair[0], 1, &pair[1], Qnil);
}

static void end_of_input(struct stream *stream)
{
    if (!NIL_P(stream->on_end) && !stream->core.error) {
        VALUE block = stream->on_end;
        stream->on_end = Qnil;
        stream->paused = 1;
        rb_proc_call_with_block(block, 0, NULL, Qnil);
        RB_GC_GUARD(block);
        return;
    }
    if (stream->core.error)
        finish_close(stream);
    else
        stream_close(stream->self);
}

static void run_delivery(struct pel_reactor *reactor, void *data)
{
    struct stream *stream = data;
    VALUE self = stream->self;
    size_t delivered = 0;

    stream->delivery_queued = 0;
    stream->delivering = 1;
    while (!NIL_P(stream->on_data) && !stream->paused && !stream->closed) {
        VALUE pair[2] = {stream->on_data, Qnil};
        char *hot;
        ssize_t count;
        if (delivered >= DELIVERY_BYTES || (delivered && pel_now() > reactor->batch_end)) {
            stream->delivering = 0;
            queue_delivery(stream);
            return;
        }
        hot = pel_hot_buffer(reactor);
        count = pel_buffer_length(&stream->input) ? (ssize_t)take_input(stream, hot, PEL_HOT_BUFFER)
                                                  : pel_stream_receive(&stream->core, hot, PEL_HOT_BUFFER);
        if (count <= 0) {
            if (count != PEL_EAGAIN)
                end_of_input(stream);
            break;
        }
        delivered += (size_t)count;
        pair[1] = rb_str_new(hot, count);
        pel_dispatch(reactor, call_on_data, (VALUE)pair);
    }
    stream->delivering = 0;
    RB_GC_GUARD(self);
}

static void queue_delivery(struct stream *stream)
{
    if (NIL_P(stream->on_data) || stream->paused || stream->delivering || stream->delivery_queued || stream->closed)
        return;
    stream->delivery_queued = 1;
    pel_enqueue(stream->reactor, (struct pel_job){.run = run_delivery, .mark = mark_stream_job, .data = stream});
}

static void list(struct stream *stream)
{
    if (stream->listed.next || stream->closed)
        return;
    stream->listed.stop = stop;
    pel_list_add(stream->reactor, &stream->listed, stream->self);
    stream->reactor->references++;
}

static VALUE stream_on_data(VALUE self)
{
    struct stream *stream = get(self);

    stream->on_data = rb_block_proc();
    list(stream);
    queue_delivery(stream);
    return self;
}

static VALUE stream_on_end(VALUE self)
{
    get(self)->on_end = rb_block_proc();
    return self;
}

static VALUE stream_on_close(VALUE self)
{
    struct stream *stream = get_any(self);

    stream->on_close = rb_block_proc();
    if (stream->closed) {
        stream->close_queued = 0;
        queue_close(stream);
    }
    return self;
}

static VALUE stream_on_drain(VALUE self)
{
    get(self)->on_drain = rb_block_proc();
    return self;
}

static VALUE stream_pause(VALUE self)
{
    get(self)->paused = 1;
    return self;
}

static VALUE stream_resume(VALUE self)
{
    struct stream *stream = get(self);

    stream->paused = 0;
    queue_delivery(stream);
    return self;
}

static VALUE stream_paused_p(VALUE self)
{
    return get_any(self)->paused ? Qtrue : Qfalse;
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

/* _connect(packed address): a stream that is connected or connecting. */
static VALUE stream_s_connect(VALUE class, VALUE address)
{
    struct pel_reactor *reactor = pel_reactor_current();
    struct stream *stream = stream_new(reactor, class);

    StringValue(address);
    if (pel_stream_connect(&stream->core, &reactor->loop, (const struct sockaddr *)RSTRING_PTR(address),
                           (socklen_t)RSTRING_LEN(address)) < 0)
        pel_raise(PEL_ESYSTEM, errno, "connect");
    return stream->self;
}

/* _first_connected(streams, seconds): the first that is connected, or failed; nil when the time is over. Parks. */
static VALUE stream_s_first_connected(VALUE class, VALUE streams, VALUE seconds)
{
    struct pel_reactor *reactor = pel_reactor_current();
    struct pel_waiter waiter = {.exception = Qfalse};
    struct io_waiter links[16];
    long count = RARRAY_LEN(streams), linked = 0;
    VALUE settled = Qnil;
    int state = 0;

    for (long i = 0; i < count && NIL_P(settled); i++)
        if (!get(RARRAY_AREF(streams, i))->core.connecting)
            settled = RARRAY_AREF(streams, i);
    if (!NIL_P(settled))
        return settled;
    for (; linked < count && linked < 16; linked++) {
        struct stream *stream = get(RARRAY_AREF(streams, linked));
        links[linked] = (struct io_waiter){.waiter = &waiter, .next = stream->waiters, .events = PEL_WRITABLE};
        stream->waiters = &links[linked];
    }
    state = pel_park_protected(reactor, &waiter, deadline_from(seconds));
    for (long i = 0; i < linked; i++)
        remove_waiter(get_any(RARRAY_AREF(streams, i)), &links[i]);
    if (state)
        pel_rethrow(state);
    for (long i = 0; i < count && NIL_P(settled); i++)
        if (!get_any(RARRAY_AREF(streams, i))->core.connecting)
            settled = RARRAY_AREF(streams, i);
    RB_GC_GUARD(streams);
    return settled;
}

/* The errno that ended it, or nil. */
static VALUE stream_errno(VALUE self)
{
    struct stream *stream = get_any(self);
    return stream->core.error ? INT2FIX(stream->core.error) : Qnil;
}

/* _detach: the descriptor, which is the caller's from now on; what was read and not taken is lost. */
static VALUE stream_detach(VALUE self)
{
    struct stream *stream = get(self);
    int fd = stream->core.handle.fd;

    pel_flush_forget(stream->reactor, &stream->core);
    pel_loop_disarm(&stream->reactor->loop, &stream->core.handle);
    stream->core.handle.fd = -1;
    pel_buffer_free(&stream->core.output);
    delist(stream);
    stream->closed = 1;
    return INT2FIX(fd);
}

static VALUE stream_fileno(VALUE self)
{
    return INT2FIX(get(self)->core.handle.fd);
}

/* Stream.for_fd(fd): takes a connected descriptor over. */
static VALUE stream_s_for_fd(VALUE class, VALUE fd)
{
    return pel_stream_object(pel_reactor_current(), NUM2INT(fd));
}

void pel_init_stream(void)
{
    cStream = rb_define_class_under(pel_mPelton, "Stream", rb_cObject);
    rb_undef_alloc_func(cStream);
    rb_define_singleton_method(cStream, "for_fd", stream_s_for_fd, 1);
    rb_define_singleton_method(cStream, "_connect", stream_s_connect, 1);
    rb_define_singleton_method(cStream, "_first_connected", stream_s_first_connected, 2);
    rb_define_private_method(cStream, "_readpartial", stream_readpartial, 3);
    rb_define_private_method(cStream, "_fill", stream_fill, 1);
    rb_define_private_method(cStream, "_take", stream_take, 3);
    rb_define_private_method(cStream, "_buffered", stream_buffered, 0);
    rb_define_private_method(cStream, "_write", stream_write, 2);
    rb_define_private_method(cStream, "_write_later", stream_write_later, 1);
    rb_define_private_method(cStream, "_flush", stream_flush, 1);
    rb_define_method(cStream, "_errno", stream_errno, 0);
    rb_define_method(cStream, "pending", stream_pending, 0);
    rb_define_method(cStream, "close", stream_close, 0);
    rb_define_method(cStream, "abort", stream_abort, 0);
    rb_define_method(cStream, "close_write", stream_close_write, 0);
    rb_define_method(cStream, "closed?", stream_closed_p, 0);
    rb_define_method(cStream, "on_data", stream_on_data, 0);
    rb_define_method(cStream, "on_end", stream_on_end, 0);
    rb_define_method(cStream, "on_close", stream_on_close, 0);
    rb_define_method(cStream, "on_drain", stream_on_drain, 0);
    rb_define_method(cStream, "pause", stream_pause, 0);
    rb_define_method(cStream, "resume", stream_resume, 0);
    rb_define_method(cStream, "paused?", stream_paused_p, 0);
    rb_define_method(cStream, "_detach", stream_detach, 0);
    rb_define_method(cStream, "fileno", stream_fileno, 0);
}
