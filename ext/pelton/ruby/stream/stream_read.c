#include "ruby/stream/stream_read.h"

#include <string.h>

/* The reads of direct style: the bytes that each takes, and its result. */

/* Returns the number of bytes, or PEL_EAGAIN. Raises for other codes. */
static ssize_t check_received(struct stream *stream, ssize_t count)
{
    if (count < 0 && count != PEL_EAGAIN)
        rb_exc_raise(pel_stream_error(stream, "read"));
    return count;
}

/* Empties the user's String and gives it capacity. */
static void clear_buffer(VALUE string, size_t capacity)
{
    rb_str_modify(string);
    rb_str_set_len(string, 0);
    rb_str_modify_expand(string, (long)capacity);
}

/* ---- readpartial ---------------------------------------------------------------------------------------------- */

static enum read_attempt attempt_partial(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count = PEL_EAGAIN;

    if (pel_stream_receivable_p(&stream->core) || pel_buffer_length(&stream->input))
        read->result = pel_stream_receive_string(stream, read->length, &count);
    return check_received(stream, count) == PEL_EAGAIN ? READ_WAITS : READ_DONE;
}

static enum read_attempt attempt_partial_into(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count;

    if (!pel_stream_receivable_p(&stream->core) && !pel_buffer_length(&stream->input))
        return READ_WAITS;
    clear_buffer(read->result, read->length);
    count = check_received(stream, pel_stream_receive_bytes(stream, RSTRING_PTR(read->result), read->length));
    if (count == PEL_EAGAIN)
        return READ_WAITS;
    rb_str_set_len(read->result, count);
    if (count == 0)
        read->result = Qnil;
    return READ_DONE;
}

/* A number of bytes, not negative. */
static size_t byte_count(VALUE number)
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
                        .attempt = NIL_P(buffer) ? attempt_partial : attempt_partial_into,
                        .timeout = timeout,
                        .result = NIL_P(buffer) ? Qnil : StringValue(buffer),
                        .length = byte_count(max)};

    if (read.length == 0)
        return NIL_P(buffer) ? rb_str_new(NULL, 0) : rb_str_resize(buffer, 0);
    return pel_stream_read(&read);
}

/* ---- read ----------------------------------------------------------------------------------------------------- */

/* Grows the result where that is needed. Returns the number of bytes that can be received into it now. */
static size_t reserve_result(VALUE string, size_t length)
{
    size_t have = (size_t)RSTRING_LEN(string), capacity = rb_str_capacity(string) - have;

    if (capacity < PEL_HOT_BUFFER) {
        capacity = have > PEL_HOT_BUFFER ? have : PEL_HOT_BUFFER;
        rb_str_modify_expand(string, (long)(capacity < length - have ? capacity : length - have));
        capacity = rb_str_capacity(string) - have;
    } else {
        rb_str_modify(string);
    }
    return capacity < length - have ? capacity : length - have;
}

static void begin_result(struct read *read)
{
    struct stream *stream = read->stream;
    size_t buffered = pel_buffer_length(&stream->input), length = buffered < read->length ? buffered : read->length;

    if (NIL_P(read->result))
        read->result = rb_str_buf_new((long)length);
    clear_buffer(read->result, length);
    rb_str_set_len(read->result, (long)pel_stream_take_input(stream, RSTRING_PTR(read->result), length));
    read->filling = 1;
}

static enum read_attempt attempt_whole(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count;
    long have;

    if (!read->filling) {
        /* If an exception strikes before all bytes have arrived, the bytes received so far would be lost. Only a read
         * that was admitted from the queue gives them back, so before that it takes all bytes or none. */
        if (!stream->reads.under_way && pel_buffer_length(&stream->input) < read->length)
            return READ_AGAIN;
        begin_result(read);
    }
    have = RSTRING_LEN(read->result);
    if ((size_t)have >= read->length)
        return READ_DONE;
    if (stream->reactor->budget <= 0)
        return READ_YIELDS;
    if (!pel_stream_receivable_p(&stream->core))
        return READ_WAITS;
    count = reserve_result(read->result, read->length);
    count = check_received(stream, pel_stream_receive(&stream->core, RSTRING_PTR(read->result) + have, (size_t)count));
    if (count > 0)
        rb_str_set_len(read->result, have + count);
    return count == PEL_EAGAIN ? READ_WAITS : count == 0 ? READ_DONE : READ_AGAIN;
}

/* _read(length or nil, buffer or nil, timeout): nil at the end, when a length was given. */
static VALUE stream_read(VALUE self, VALUE length, VALUE buffer, VALUE timeout)
{
    struct read read = {.stream = pel_stream_get(self),
                        .attempt = attempt_whole,
                        .timeout = timeout,
                        .result = NIL_P(buffer) ? Qnil : StringValue(buffer),
                        .length = NIL_P(length) ? LONG_MAX : byte_count(length)};

    pel_stream_read(&read);
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

static enum read_attempt attempt_line(struct read *read)
{
    struct stream *stream = read->stream;
    size_t length = pel_buffer_length(&stream->input), width = (size_t)RSTRING_LEN(read->separator);
    const char *head = pel_buffer_head(&stream->input), *found = NULL;
    ssize_t count;

    if (length - read->searched >= width)
        found = memmem(head + read->searched, length - read->searched, RSTRING_PTR(read->separator), width);
    if (found && (size_t)(found - head) + width <= read->length) {
        read->result = take_line(read, (size_t)(found - head) + width, 1);
        return READ_DONE;
    }
    if (found || length > read->length)
        pel_raise(PEL_ELIMIT, 0, "the line does not end within its limit");
    if (length >= width)
        read->searched = length - width + 1;
    if (stream->reactor->budget <= 0 && stream->reads.under_way)
        return READ_YIELDS;
    if (!pel_stream_receivable_p(&stream->core))
        return READ_WAITS;
    if ((count = check_received(stream, pel_stream_fill(stream))) != 0)
        return count == PEL_EAGAIN ? READ_WAITS : READ_AGAIN;
    if (length)
        read->result = take_line(read, length, 0);
    return READ_DONE;
}

/* _gets(separator, limit, chomp, timeout): nil at the end. */
static VALUE stream_gets(VALUE self, VALUE separator, VALUE limit, VALUE chomp, VALUE timeout)
{
    struct read read = {.stream = pel_stream_get(self),
                        .attempt = attempt_line,
                        .timeout = timeout,
                        .result = Qnil,
                        .separator = rb_str_new_frozen(StringValue(separator)),
                        .length = byte_count(limit),
                        .chomp = RTEST(chomp)};

    if (RSTRING_LEN(separator) == 0)
        rb_raise(rb_eArgError, "the separator of lines is empty");
    return pel_stream_read(&read);
}

/* ---- eof? ----------------------------------------------------------------------------------------------------- */

static enum read_attempt attempt_eof(struct read *read)
{
    struct stream *stream = read->stream;
    ssize_t count;

    if (pel_buffer_length(&stream->input))
        return READ_DONE;
    if (!pel_stream_receivable_p(&stream->core) ||
        (count = check_received(stream, pel_stream_fill(stream))) == PEL_EAGAIN)
        return READ_WAITS;
    if (count == 0)
        read->result = Qtrue;
    return READ_DONE;
}

/* _eof(timeout) */
static VALUE stream_eof(VALUE self, VALUE timeout)
{
    struct read read = {.stream = pel_stream_get(self), .attempt = attempt_eof, .timeout = timeout, .result = Qfalse};
    return pel_stream_read(&read);
}

void pel_init_stream_read(VALUE class)
{
    rb_define_private_method(class, "_readpartial", stream_readpartial, 3);
    rb_define_private_method(class, "_read", stream_read, 3);
    rb_define_private_method(class, "_gets", stream_gets, 4);
    rb_define_private_method(class, "_eof", stream_eof, 1);
}
