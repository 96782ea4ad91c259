#include "stream_private.h"

#include <string.h>

/*
 * Reading in direct style. A read is tried at once; only one that must wait goes the slow way. There it waits for its
 * turn first: fibers that read one stream do so one after the other, each its whole operation. What was received for a
 * read that does not come to its end (by a timeout, for instance) is there for the next one.
 */

enum attempt {
    DONE,
    WAITS,  /* nothing can be received now */
    YIELDS, /* its share of this turn is used up */
    GROWS   /* more was received: try again */
};

struct read {
    struct stream *stream;
    enum attempt (*attempt)(struct read *read);
    VALUE timeout;
    VALUE result;                /* Qnil: none yet, or the end */
    VALUE separator;             /* of a line */
    size_t length;               /* at most, or exactly */
    size_t searched;             /* bytes of the input in which there is no separator */
    unsigned chomp : 1, own : 1; /* result is being filled with bytes received for this read alone */
    struct read_turn turn;
};

/* ---- turns ---------------------------------------------------------------------------------------------------- */

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
        case DONE:
            read->own = 0;
            return Qnil;
        case WAITS:
            wait_for_bytes(read, deadline);
            break;
        case YIELDS:
            yield(stream);
            break;
        case GROWS:
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

static VALUE perform(struct read *read)
{
    struct stream *stream = read->stream;
    struct pel_reactor *reactor = stream->reactor;

    if (!NIL_P(stream->on_data) && !stream->paused && !stream->delivering)
        rb_raise(pel_eError, "on_data is given what this stream receives: pause it before reading");
    /* Before the attempt: an exception while others have their turn must not cost what was received. */
    if (reactor->budget-- <= 0)
        yield(stream);
    if (stream->reading || read->attempt(read) != DONE)
        rb_ensure(read_slowly, (VALUE)read, end_turn, (VALUE)read);
    return read->result;
}

/* What was received, or PEL_EAGAIN. Raises for other codes. */
static ssize_t check(struct stream *stream, ssize_t count)
{
    if (count < 0 && count != PEL_EAGAIN)
        rb_exc_raise(pel_stream_error(stream, "read"));
    return count;
}

/* Empties a string of the user's and gives it room. */
static void clear(VALUE string, size_t room)
{
    rb_str_modify(string);
    rb_str_set_len(string, 0);
    rb_str_modify_expand(string, (long)room);
}

/* ---- readpartial ---------------------------------------------------------------------------------------------- */

static enum attempt attempt_new_string(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count = PEL_EAGAIN;

    if (pel_stream_ready(stream) || pel_buffer_length(&stream->input))
        read->result = pel_stream_receive_string(stream, read->length, &count);
    return check(stream, count) == PEL_EAGAIN ? WAITS : DONE;
}

static enum attempt attempt_buffer(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count;

    if (!pel_stream_ready(stream) && !pel_buffer_length(&stream->input))
        return WAITS;
    clear(read->result, read->length);
    count = check(stream, pel_stream_receive_bytes(stream, RSTRING_PTR(read->result), read->length));
    if (count == PEL_EAGAIN)
        return WAITS;
    rb_str_set_len(read->result, count);
    if (count == 0)
        read->result = Qnil;
    return DONE;
}

/* A number of bytes. */
static size_t length_of(VALUE number)
{
    long length = NUM2LONG(number);

    if (length < 0)
        rb_raise(rb_eArgError, "cannot read %ld bytes", length);
    return (size_t)length;
}

/* _readpartial(max, buffer or nil, timeout): the string, or nil at the end. */
static VALUE stream_readpartial(VALUE self, VALUE max, VALUE buffer, VALUE timeout)
{
    struct read read = {.stream = pel_stream_get(self),
                        .attempt = NIL_P(buffer) ? attempt_new_string : attempt_buffer,
                        .timeout = timeout,
                        .result = NIL_P(buffer) ? Qnil : StringValue(buffer),
                        .length = length_of(max)};

    if (read.length == 0)
        return NIL_P(buffer) ? rb_str_new(NULL, 0) : rb_str_resize(buffer, 0);
    return perform(&read);
}

/* ---- read ----------------------------------------------------------------------------------------------------- */

/* The bytes that can be received into the result now. */
static size_t make_room(VALUE string, size_t length)
{
    size_t have = (size_t)RSTRING_LEN(string), room = rb_str_capacity(string) - have;

    if (room < PEL_HOT_BUFFER) {
        room = have > PEL_HOT_BUFFER ? have : PEL_HOT_BUFFER;
        rb_str_modify_expand(string, (long)(room < length - have ? room : length - have));
        room = rb_str_capacity(string) - have;
    } else {
        rb_str_modify(string);
    }
    return room < length - have ? room : length - have;
}

static void begin_whole(struct read *read)
{
    struct stream *stream = read->stream;
    size_t buffered = pel_buffer_length(&stream->input), length = buffered < read->length ? buffered : read->length;

    if (NIL_P(read->result))
        read->result = rb_str_buf_new((long)length);
    clear(read->result, length);
    rb_str_set_len(read->result, (long)pel_stream_take_input(stream, RSTRING_PTR(read->result), length));
    read->own = 1;
}

static enum attempt attempt_whole(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count;
    long have;

    if (!read->own) {
        /* What is taken before all is there would be lost by an exception: only in its turn is it given back. */
        if (!stream->reading && pel_buffer_length(&stream->input) < read->length)
            return GROWS;
        begin_whole(read);
    }
    have = RSTRING_LEN(read->result);
    if ((size_t)have >= read->length)
        return DONE;
    if (stream->reactor->budget <= 0)
        return YIELDS;
    if (!pel_stream_ready(stream))
        return WAITS;
    count = make_room(read->result, read->length);
    count = check(stream, pel_stream_receive(&stream->core, RSTRING_PTR(read->result) + have, (size_t)count));
    if (count > 0)
        rb_str_set_len(read->result, have + count);
    return count == PEL_EAGAIN ? WAITS : count == 0 ? DONE : GROWS;
}

/* _read(length or nil, buffer or nil, timeout): nil at the end, when a length was given. */
static VALUE stream_read(VALUE self, VALUE length, VALUE buffer, VALUE timeout)
{
    struct read read = {.stream = pel_stream_get(self),
                        .attempt = attempt_whole,
                        .timeout = timeout,
                        .result = NIL_P(buffer) ? Qnil : StringValue(buffer),
                        .length = NIL_P(length) ? LONG_MAX : length_of(length)};

    perform(&read);
    return read.length && !NIL_P(length) && RSTRING_LEN(read.result) == 0 ? Qnil : read.result;
}

/* ---- gets ----------------------------------------------------------------------------------------------------- */

static VALUE take_line(struct read *read, size_t length, int whole)
{
    struct stream *stream = read->stream;
    const char *head = pel_buffer_head(&stream->input);
    size_t kept = length;
    VALUE line;

    if (whole && read->chomp) {
        kept -= (size_t)RSTRING_LEN(read->separator);
        if (kept && head[kept] == '\n' && head[kept - 1] == '\r' && RSTRING_LEN(read->separator) == 1)
            kept--;
    }
    line = rb_str_new(head, (long)kept);
    pel_buffer_consume(&stream->input, length);
    return line;
}

static enum attempt attempt_line(struct read *read)
{
    struct stream *stream = read->stream;
    size_t length = pel_buffer_length(&stream->input), width = (size_t)RSTRING_LEN(read->separator);
    const char *head = pel_buffer_head(&stream->input), *found = NULL;
    ssize_t count;

    if (length - read->searched >= width)
        found = memmem(head + read->searched, length - read->searched, RSTRING_PTR(read->separator), width);
    if (found && (size_t)(found - head) + width <= read->length) {
        read->result = take_line(read, (size_t)(found - head) + width, 1);
        return DONE;
    }
    if (found || length > read->length)
        pel_raise(PEL_ELIMIT, 0, "the line does not end within its limit");
    if (length >= width)
        read->searched = length - width + 1;
    if (stream->reactor->budget <= 0 && stream->reading)
        return YIELDS;
    if (!pel_stream_ready(stream))
        return WAITS;
    if ((count = check(stream, pel_stream_fill(stream))) != 0)
        return count == PEL_EAGAIN ? WAITS : GROWS;
    if (length)
        read->result = take_line(read, length, 0);
    return DONE;
}

/* _gets(separator, limit, chomp, timeout): nil at the end. */
static VALUE stream_gets(VALUE self, VALUE separator, VALUE limit, VALUE chomp, VALUE timeout)
{
    struct read read = {.stream = pel_stream_get(self),
                        .attempt = attempt_line,
                        .timeout = timeout,
                        .result = Qnil,
                        .separator = rb_str_new_frozen(StringValue(separator)),
                        .length = length_of(limit),
                        .chomp = RTEST(chomp)};

    if (RSTRING_LEN(separator) == 0)
        rb_raise(rb_eArgError, "the separator of lines is empty");
    return perform(&read);
}

/* ---- eof? ----------------------------------------------------------------------------------------------------- */

static enum attempt attempt_input(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count;

    if (pel_buffer_length(&stream->input))
        return DONE;
    if (!pel_stream_ready(stream) || (count = check(stream, pel_stream_fill(stream))) == PEL_EAGAIN)
        return WAITS;
    if (count == 0)
        read->result = Qtrue;
    return DONE;
}

/* _eof(timeout) */
static VALUE stream_eof(VALUE self, VALUE timeout)
{
    struct read read = {.stream = pel_stream_get(self), .attempt = attempt_input, .timeout = timeout, .result = Qfalse};
    return perform(&read);
}

void pel_init_stream_read(VALUE class)
{
    rb_define_private_method(class, "_readpartial", stream_readpartial, 3);
    rb_define_private_method(class, "_read", stream_read, 3);
    rb_define_private_method(class, "_gets", stream_gets, 4);
    rb_define_private_method(class, "_eof", stream_eof, 1);
}
