#include "ruby/http/response/http_response.h"

#include <errno.h>
#include <unistd.h>
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/connection/http_server.h"

/* Response bodies that do not pass through this process: files, and bytes that another connection receives. */

#define SENDFILE_BYTES (512 * 1024) /* at once: then it is the turn of other connections */
#define PIECE 65536                 /* bytes that are read at once where the file cannot be sent without reading it */

/* Parks until the descriptor takes more. Raises. */
static void wait_writable(struct pel_http_connection *connection, VALUE exchange)
{
    if (pel_http_wait(connection, exchange, &connection->response.writer, connection->server->write_timeout))
        return;
    connection->response.aborted = 1;
    pel_raise(PEL_ETIMEOUT, 0, "the client does not read the response");
}

static struct pel_http_connection *get_connected(VALUE exchange)
{
    struct pel_http_connection *connection = pel_http_exchange_get_open(exchange);

    if (connection->stream->core.error)
        rb_raise(pel_eClosedError, "the client is gone");
    return connection;
}

/* Through this process: for TLS and HTTP/2, and files of which the system does not send their bytes itself. */
static int64_t send_pieces(struct pel_http_connection *connection, VALUE exchange, int fd, off_t from, size_t length)
{
    static char piece[PIECE]; /* done with before anything can switch threads */
    struct pel_http_response_body *body = &connection->response.body;
    size_t left = length;

    while (left) {
        ssize_t count = pread(fd, piece, pel_min(left, sizeof piece), from);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            pel_raise(PEL_ESYSTEM, errno, "read a file");
        if (count == 0)
            break;
        pel_http_check_written(connection->protocol->append(connection, piece, (size_t)count));
        from += count;
        left -= (size_t)count;
        body->left -= (uint64_t)count;
        body->sent += (uint64_t)count;
        pel_http_send_soon(connection);
        if (!connection->protocol->await_room(connection, exchange)) {
            connection->response.aborted = 1;
            pel_raise(PEL_ETIMEOUT, 0, "the client does not read the response");
        }
        pel_http_exchange_get_open(exchange);
        pel_http_share(connection, (size_t)count);
        pel_http_exchange_get_open(exchange);
    }
    return (int64_t)(length - left);
}

int64_t pel_http_send_file(VALUE exchange, int fd, off_t from, size_t length)
{
    struct pel_http_connection *connection = pel_http_exchange_get(exchange);
    struct pel_http_response_body *body = &connection->response.body;
    struct pel_stream *core = &connection->stream->core;
    size_t left = length;

    if (!body->has_length || left > body->left)
        return -1;
    if (core->layer || connection->protocol->frames_bodies || pel_pipe_signal_kills())
        return send_pieces(connection, exchange, fd, from, length);
    while (left) {
        ssize_t sent;
        get_connected(exchange);
        if (pel_stream_pending(core)) {
            pel_stream_flush(core);
            if (pel_stream_pending(core)) {
                wait_writable(connection, exchange);
                continue;
            }
        }
        sent = pel_stream_send_file(core, fd, &from, left < SENDFILE_BYTES ? left : SENDFILE_BYTES);
        if (sent == PEL_EAGAIN) {
            wait_writable(connection, exchange);
            continue;
        }
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            connection->response.aborted = 1;
            rb_raise(pel_eClosedError, "the client is gone");
        }
        if (sent < 0 && left == length && (errno == EINVAL || errno == ENOSYS))
            return send_pieces(connection, exchange, fd, from, length);
        if (sent < 0)
            pel_raise(PEL_ESYSTEM, errno, "sendfile");
        if (sent == 0)
            break;
        left -= (size_t)sent;
        body->left -= (uint64_t)sent;
        body->sent += (uint64_t)sent;
        pel_http_share(connection, (size_t)sent);
    }
    RB_GC_GUARD(exchange);
    return (int64_t)(length - left);
}

/* send_file(fd, count, from = 0): sends so many bytes of a file, from there on, as a part of a body that has a length.
 * Returns the number of bytes sent, which is smaller when the file is shorter; nil when the body has no length, or is
 * shorter. */
static VALUE exchange_send_file(int argc, VALUE *argv, VALUE self)
{
    VALUE descriptor, length, from;
    int64_t sent;

    rb_scan_args(argc, argv, "21", &descriptor, &length, &from);
    sent = pel_http_send_file(self, NUM2INT(descriptor), NIL_P(from) ? 0 : NUM2OFFT(from), NUM2SIZET(length));
    return sent < 0 ? Qnil : LL2NUM(sent);
}

/* fits?(length): whether a body of so many bytes may be sent without passing through this process. A body that is
 * longer than its content-length must not: the client would take the rest for the next response. */
static VALUE exchange_fits_p(VALUE self, VALUE length)
{
    struct pel_http_connection *connection = get_connected(self);
    const struct pel_http_response_body *body = &connection->response.body;

    return !connection->stream->core.layer && !connection->protocol->frames_bodies && body->has_length &&
                   NUM2SIZET(length) <= body->left
               ? Qtrue
               : Qfalse;
}

/* write_directly(begun): sends the next bytes of a body that fits, a String or nil, without waiting. Returns the stream
 * if the bytes after them may be sent by it at once; else nil. */
static VALUE exchange_direct(VALUE self, VALUE begun)
{
    struct pel_http_connection *connection = get_connected(self);
    struct pel_stream *core = &connection->stream->core;

    if (!NIL_P(begun))
        pel_http_write_body(connection, begun);
    pel_stream_flush(core);
    return pel_stream_pending(core) || !core->writable ? Qnil : connection->stream_object;
}

/* passed(count): so many bytes of the body were sent by the stream. */
static VALUE exchange_passed(VALUE self, VALUE count)
{
    struct pel_http_response_body *body = &pel_http_exchange_get(self)->response.body;
    size_t passed = NUM2SIZET(count);

    body->left -= passed;
    body->sent += passed;
    return count;
}

void pel_init_http_response_file(VALUE exchange)
{
    rb_define_method(exchange, "fits?", exchange_fits_p, 1);
    rb_define_method(exchange, "write_directly", exchange_direct, 1);
    rb_define_method(exchange, "passed", exchange_passed, 1);
    rb_define_method(exchange, "send_file", exchange_send_file, -1);
}
