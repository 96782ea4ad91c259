#include "stream_read.h"

void pel_stream_wake_reader(struct stream *stream)
{
    if (stream->reader)
        pel_waiter_fire(stream->reactor, stream->reader);
}

void pel_stream_wake_turns(struct stream *stream)
{
    for (struct read_turn *turn = stream->turns; turn; turn = turn->next)
        pel_waiter_fire(stream->reactor, turn->waiter);
}

static void check_parked(struct read *read, struct pel_waiter *waiter, int state)
{
    if (state)
        pel_rethrow(state);
    if (waiter->timed_out)
        pel_raise(PEL_ETIMEOUT, 0, "read");
    if (read->stream->closing)
        rb_raise(pel_eClosedError, "the stream was closed while this call waited");
}

static void wait_for_turn(struct read *read, int64_t deadline)
{
    struct stream *stream = read->stream;
    struct pel_waiter waiter = {.exception = Qfalse};
    struct read_turn **link = &stream->turns;
    int state;

    read->turn.waiter = &waiter;
    while (*link)
        link = &(*link)->next;
    *link = &read->turn;
    state = pel_park_protected(stream->reactor, &waiter, deadline);
    if (!read->turn.taken) {
        for (link = &stream->turns; *link != &read->turn; link = &(*link)->next)
            ;
        *link = read->turn.next;
    }
    check_parked(read, &waiter, state);
}

static void wait_for_bytes(struct read *read, int64_t deadline)
{
    struct stream *stream = read->stream;
    struct pel_waiter waiter = {.exception = Qfalse};
    int state;

    stream->reader = &waiter;
    state = pel_park_protected(stream->reactor, &waiter, deadline);
    stream->reader = NULL;
    check_parked(read, &waiter, state);
}

static void yield(struct stream *stream)
{
    pel_overspend(stream->reactor);
    if (stream->closing)
        rb_raise(pel_eClosedError, "the stream was closed while this call read");
}

static VALUE read_slowly(VALUE argument)
{
    struct read *read = (struct read *)argument;
    struct stream *stream = read->stream;
    int64_t deadline = pel_stream_deadline(stream, read->timeout);

    if (stream->reading)
        wait_for_turn(read, deadline);
    stream->reading = read->turn.taken = 1;
    read->searched = 0;
    for (;;) {
        switch (read->attempt(read)) {
        case READ_DONE:
            read->own = 0;
            return Qnil;
        case READ_WAITS:
            wait_for_bytes(read, deadline);
            break;
        case READ_YIELDS:
            yield(stream);
            break;
        case READ_GROWS:
            break;
        }
    }
}

static VALUE end_turn(VALUE argument)
{
    struct read *read = (struct read *)argument;
    struct stream *stream = read->stream;
    struct read_turn *next = stream->turns;

    if (!read->turn.taken)
        return Qnil;
    if (read->own && pel_buffer_append(&stream->input, RSTRING_PTR(read->result), RSTRING_LEN(read->result)) < 0)
        stream->core.error = ENOMEM;
    if (!next) {
        stream->reading = 0;
        pel_stream_queue_delivery(stream); /* which may have been resumed meanwhile */
        return Qnil;
    }
    stream->turns = next->next;
    next->taken = 1;
    pel_waiter_fire(stream->reactor, next->waiter);
    return Qnil;
}

VALUE pel_stream_read(struct read *read)
{
    struct stream *stream = read->stream;
    struct pel_reactor *reactor = stream->reactor;

    if (!NIL_P(stream->on_data) && !stream->paused && !stream->delivering)
        rb_raise(pel_eError, "on_data is given what this stream receives: pause it before reading");
    /* Before the attempt: an exception while others have their turn must not cost what was received. */
    if (reactor->budget-- <= 0)
        yield(stream);
    if (stream->reading || read->attempt(read) != READ_DONE)
        rb_ensure(read_slowly, (VALUE)read, end_turn, (VALUE)read);
    return read->result;
}
