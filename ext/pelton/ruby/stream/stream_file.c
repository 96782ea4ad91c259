#include "ruby/stream/stream_private.h"

#include "core/stream/socket.h"

/* Sends files without passing their bytes through Ruby, where the system can and no layer must seal them. */

/* send_file(descriptor, offset, length): sends as many bytes of a file as the socket takes now. Returns their number;
 * nil when this is not possible, and the caller must read and write the bytes. Raises as write does. */
static VALUE stream_send_file(VALUE self, VALUE descriptor, VALUE offset, VALUE length)
{
    struct stream *stream = pel_stream_get(self);
    off_t from = NUM2OFFT(offset);
    size_t left = NUM2SIZET(length), sent = 0;

    if (stream->core.layer || stream->core.connecting || stream->core.write_shut || pel_pipe_signal_kills())
        return Qnil;
    if (left > PEL_STREAM_BURST)
        left = PEL_STREAM_BURST; /* then other streams go on */
    while (sent < left && stream->core.writable && !stream->core.corked && !pel_stream_pending(&stream->core)) {
        ssize_t count = pel_stream_send_file(&stream->core, NUM2INT(descriptor), &from, left - sent);
        if (count == 0 || count == PEL_EAGAIN)
            break; /* 0: the file has become shorter */
        if (count < 0 && (errno == EINVAL || errno == ENOSYS))
            return sent ? SIZET2NUM(sent) : Qnil;
        if (count < 0) {
            stream->core.error = errno;
            rb_exc_raise(pel_stream_error(stream, "send a file"));
        }
        sent += (size_t)count;
    }
    stream->core.active_at = stream->core.loop->now;
    stream->writes.appended += sent;
    stream->reactor->budget -= (int32_t)(sent >> 12);
    return SIZET2NUM(sent);
}

void pel_init_stream_file(VALUE class)
{
    rb_define_method(class, "send_file", stream_send_file, 3);
}
