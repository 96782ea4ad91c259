#include "ruby/stream/stream_read.h"

#include "ruby/reactor/yield.h"

/* Reads of several fibers on one stream: they wait in a queue, and one at a time is admitted. */

static void check_read_wait(struct read *read, int timed_out, int state)
{
    if (state)
        pel_rethrow(state);
    if (timed_out)
        pel_raise(PEL_ETIMEOUT, 0, "read");
    if (read->stream->close.begun)
        rb_raise(pel_eClosedError, "the stream was closed while this call waited");
}

static void wait_in_read_queue(struct read *read, int64_t deadline)
{
    struct stream *stream = read->stream;
    struct pel_waiter waiter = {.exception = Qfalse};
    int state;

    read->entry.turn.waiter = &waiter;
    pel_turns_enter(&stream->reads.queue, &read->entry.turn);
    state = pel_park_protected(stream->reactor, &waiter, deadline);
    pel_turns_leave(&stream->reads.queue, &read->entry.turn); /* unless it was admitted */
    check_read_wait(read, waiter.timed_out, state);
}

static void wait_for_bytes(struct read *read, int64_t deadline)
{
    struct stream *stream = read->stream;
    int timed_out, state;

    pel_stream_flush_scheduled(&stream->core); /* the peer works while other fibers run */
    if (pel_stream_receivable_p(&stream->core))
        return; /* the flush has failed */
    state = pel_park_at(stream->reactor, &stream->reads.waiter, deadline, &timed_out);
    check_read_wait(read, timed_out, state);
}

static void yield_budget(struct stream *stream)
{
    pel_budget_exhausted(stream->reactor);
    if (stream->close.begun)
        rb_raise(pel_eClosedError, "the stream was closed while this call read");
}

static VALUE read_by_turns(VALUE argument)
{
    struct read *read = (struct read *)argument;
    struct stream *stream = read->stream;
    int64_t deadline = pel_stream_deadline(stream, read->timeout);

    if (stream->reads.under_way)
        wait_in_read_queue(read, deadline);
    stream->reads.under_way = read->entry.admitted = 1;
    read->searched = 0;
    for (;;) {
        switch (read->attempt(read)) {
        case READ_DONE:
            read->filling = 0;
            return Qnil;
        case READ_WAITS:
            wait_for_bytes(read, deadline);
            break;
        case READ_YIELDS:
            yield_budget(stream);
            break;
        case READ_AGAIN:
            break;
        }
    }
}

static VALUE pass_turn_on(VALUE argument)
{
    struct read *read = (struct read *)argument;
    struct stream *stream = read->stream;
    struct read_waiter *next = (struct read_waiter *)stream->reads.queue.first;

    if (!read->entry.admitted)
        return Qnil;
    if (read->filling && pel_buffer_append(&stream->input, RSTRING_PTR(read->result), RSTRING_LEN(read->result)) < 0)
        stream->core.error = ENOMEM;
    if (!next) {
        stream->reads.under_way = 0;
        pel_stream_queue_delivery(stream); /* the user may have resumed the stream meanwhile */
        return Qnil;
    }
    pel_turns_leave(&stream->reads.queue, &next->turn);
    next->admitted = 1;
    pel_waiter_fire(stream->reactor, next->turn.waiter);
    return Qnil;
}

VALUE pel_stream_read(struct read *read)
{
    struct stream *stream = read->stream;
    struct pel_reactor *reactor = stream->reactor;

    if (!NIL_P(stream->delivery.on_data) && !stream->delivery.paused && !stream->delivery.running)
        rb_raise(pel_eError, "on_data gets the bytes of this stream: pause it before reading");
    /* Yield before the attempt: an exception that strikes while other fibers run must not lose received bytes. */
    if (reactor->budget-- <= 0)
        yield_budget(stream);
    if (stream->reads.under_way || read->attempt(read) != READ_DONE)
        rb_ensure(read_by_turns, (VALUE)read, pass_turn_on, (VALUE)read);
    return read->result;
}
