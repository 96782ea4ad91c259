#include "ruby/stream/stream_private.h"

#include <string.h>
#include "ruby/base/garbage.h"

/*
 * Receiving, from the stream's input (bytes that were received and not yet asked for) or from the descriptor. Each 4 KB
 * from the descriptor take one unit of the iteration's budget.
 */

static ssize_t receive_on_budget(struct stream *stream, char *bytes, size_t length)
{
    ssize_t count = pel_stream_receive(&stream->core, bytes, length);

    if (count > 0)
        stream->reactor->budget -= (int32_t)(count >> 12);
    return count;
}

size_t pel_stream_take_input(struct stream *stream, char *bytes, size_t length)
{
    size_t count = pel_buffer_length(&stream->input);

    if (count > length)
        count = length;
    if (count)
        memcpy(bytes, pel_buffer_head(&stream->input), count);
    pel_buffer_consume(&stream->input, count);
    return count;
}

ssize_t pel_stream_receive_bytes(struct stream *stream, char *bytes, size_t length)
{
    return pel_buffer_length(&stream->input) ? (ssize_t)pel_stream_take_input(stream, bytes, length)
                                             : receive_on_budget(stream, bytes, length);
}

/* Bytes come in bulk: receives them straight into the new String. */
static VALUE receive_bulk_string(struct stream *stream, ssize_t *count)
{
    VALUE string, copy = Qnil;

    string = rb_str_buf_new(PEL_HOT_BUFFER);
    pel_garbage_made(PEL_HOT_BUFFER); /* after the new String was made: see ruby/base/garbage.h */
    *count = receive_on_budget(stream, RSTRING_PTR(string), PEL_HOT_BUFFER);
    if (*count >= PEL_HOT_BUFFER / 2) {
        rb_str_set_len(string, *count);
        return string;
    }
    stream->reads.bulk = 0;
    if (*count > 0)
        copy = rb_str_new(RSTRING_PTR(string), *count);
    rb_str_resize(string, 0);
    return copy;
}

VALUE pel_stream_receive_string(struct stream *stream, size_t length, ssize_t *count)
{
    char *hot;

    if (stream->reads.bulk && length >= PEL_HOT_BUFFER && !pel_buffer_length(&stream->input))
        return receive_bulk_string(stream, count);
    /* An exact copy out of the loop's hot buffer is cheaper than a new String of full size. */
    hot = pel_hot_buffer(stream->reactor);
    *count = pel_stream_receive_bytes(stream, hot, length < PEL_HOT_BUFFER ? length : PEL_HOT_BUFFER);
    if (*count <= 0)
        return Qnil;
    stream->reads.bulk = *count >= PEL_HOT_BUFFER / 2;
    return rb_str_new(hot, *count);
}

ssize_t pel_stream_fill(struct stream *stream)
{
    char *hot = pel_hot_buffer(stream->reactor);
    ssize_t count = receive_on_budget(stream, hot, PEL_HOT_BUFFER);

    if (count > 0 && pel_buffer_append(&stream->input, hot, (size_t)count) < 0)
        rb_memerror();
    return count;
}
