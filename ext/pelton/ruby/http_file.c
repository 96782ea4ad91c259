#include "http.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include "../core/socket.h"
#include "error.h"

/* Files, and what another connection receives: to the socket, without passing through this process. */

#define PIECE (512 * 1024) /* bytes at once: then it is the others' turn */

/* Parks until the descriptor takes more. Raises. When the exchange ends meanwhile nobody else keeps the connection. */
static void wait_writable(struct pel_http_connection *connection, VALUE exchange)
{
    struct pel_waiter waiter = {.exception = Qfalse};
    int64_t time = connection->server->write_timeout;
    VALUE self = connection->self;
    int state;

    connection->writer = &waiter;
    state = pel_park_protected(connection->reactor, &waiter,
                               time == PEL_FOREVER ? time : connection->reactor->loop.now + time);
    if (connection->writer == &waiter)
        connection->writer = NULL;
    RB_GC_GUARD(self);
    if (state)
        pel_rethrow(state);
    pel_http_exchange_get(exchange);
    if (waiter.timed_out) {
        connection->aborted = 1;
        pel_raise(PEL_ETIMEOUT, 0, "the client does not read");
    }
}

static struct pel_http_connection *still_there(VALUE exchange)
{
    struct pel_http_connection *connection = pel_http_exchange_get(exchange);

    if (connection->aborted || connection->state == PEL_HTTP_GONE || connection->stream->core.error)
        rb_raise(pel_eClosedError, "the client is gone");
    return connection;
}

static ssize_t send_piece(struct pel_http_connection *connection, int fd, off_t *offset, size_t count)
{
    struct pel_stream *core = &connection->stream->core;
    ssize_t sent;

    do
        sent = sendfile(core->handle.fd, fd, offset, count < PIECE ? count : PIECE);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == EAGAIN) {
        core->writable = 0;
        pel_loop_rearm(core->loop, &core->handle, PEL_WRITABLE);
        return PEL_EAGAIN;
    }
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        connection->aborted = 1;
        rb_raise(pel_eClosedError, "the client is gone");
    }
    return sent < 0 ? PEL_ESYSTEM : sent;
}

/* _send_file(fd, count): sends so many bytes of a file; they are a part of a body that has a length. The bytes sent:
 * fewer when the file is shorter. nil when it cannot be done this way. */
static VALUE exchange_send_file(VALUE self, VALUE descriptor, VALUE length)
{
    struct pel_http_connection *connection = pel_http_exchange_get(self);
    struct pel_stream *core = &connection->stream->core;
    size_t left = NUM2SIZET(length), total = left;
    int fd = NUM2INT(descriptor);
    off_t offset = 0;

    if (core->layer || !connection->has_length || left > connection->body_left || pel_pipe_signal_kills())
        return Qnil;
    while (left) {
        ssize_t sent;
        still_there(self);
        if (pel_stream_pending(core)) {
            pel_stream_flush(core);
            if (pel_stream_pending(core)) {
                wait_writable(connection, self);
                continue;
            }
        }
        sent = send_piece(connection, fd, &offset, left);
        if (sent == PEL_EAGAIN) {
            wait_writable(connection, self);
            continue;
        }
        if (sent < 0 && left == total && (errno == EINVAL || errno == ENOSYS))
            return Qnil;
        if (sent < 0)
            pel_raise(PEL_ESYSTEM, errno, "sendfile");
        if (sent == 0)
            break;
        left -= (size_t)sent;
        connection->body_left -= (uint64_t)sent;
        connection->body_sent += (uint64_t)sent;
        pel_spend(connection->reactor, (int32_t)(sent >> 12) + 1);
    }
    RB_GC_GUARD(self);
    return SIZET2NUM(total - left);
}

/* _fits?(length): whether a body of so many bytes may be sent without passing through here. One that is longer than its
 * content-length must not: the client would take the rest for the next response. */
static VALUE exchange_fits_p(VALUE self, VALUE length)
{
    struct pel_http_connection *connection = still_there(self);

    return !connection->stream->core.layer && connection->has_length && NUM2SIZET(length) <= connection->body_left
               ? Qtrue
               : Qfalse;
}

/* _direct(begun): sends the next bytes of a body that fits, a String or nil, without waiting. Then the stream, if what
 * follows may be sent by it; else nil. */
static VALUE exchange_direct(VALUE self, VALUE begun)
{
    struct pel_http_connection *connection = still_there(self);
    struct pel_stream *core = &connection->stream->core;

    if (!NIL_P(begun))
        pel_http_write(connection, begun);
    pel_stream_flush(core);
    return pel_stream_pending(core) || !core->writable ? Qnil : connection->stream_object;
}

/* _passed(count): so many bytes of the body were. */
static VALUE exchange_passed(VALUE self, VALUE count)
{
    struct pel_http_connection *connection = pel_http_exchange_get(self);
    size_t passed = NUM2SIZET(count);

    connection->body_left -= passed;
    connection->body_sent += passed;
    return count;
}

void pel_init_http_file(VALUE exchange)
{
    rb_define_private_method(exchange, "_fits?", exchange_fits_p, 1);
    rb_define_private_method(exchange, "_direct", exchange_direct, 1);
    rb_define_private_method(exchange, "_passed", exchange_passed, 1);
    rb_define_private_method(exchange, "_send_file", exchange_send_file, 2);
}
