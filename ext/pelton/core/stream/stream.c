#include "core/stream/stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- opening -------------------------------------------------------------------------------------------------- */

static void on_stream_event(struct pel_handle *handle, unsigned events);

static void prepare(struct pel_stream *stream, struct pel_loop *loop, int fd)
{
    void (*on_ready)(struct pel_stream *, unsigned) = stream->on_ready;
    unsigned notify_sent = stream->notify_sent;

    memset(stream, 0, sizeof *stream);
    stream->on_ready = on_ready;
    stream->notify_sent = notify_sent;
    stream->loop = loop;
    stream->handle = (struct pel_handle){.fd = fd, .slot = PEL_UNREGISTERED, .on_event = on_stream_event};
    stream->active_at = pel_now();
}

static int register_stream(struct pel_stream *stream, struct pel_loop *loop, int fd, int connecting)
{
    int code;

    prepare(stream, loop, fd);
    /* PEL_PRIORITY is requested only to know that reads may stop early, before an urgent byte. */
    code = pel_loop_arm(loop, &stream->handle, PEL_READABLE | PEL_WRITABLE | PEL_PRIORITY, PEL_EDGE);
    if (code < 0) {
        stream->handle.fd = -1;
        return code;
    }
    loop->streams++;
    stream->connecting = connecting;
    stream->readable = stream->writable = !connecting;
    return 0;
}

int pel_stream_open(struct pel_stream *stream, struct pel_loop *loop, int fd)
{
    return register_stream(stream, loop, fd, 0);
}

void pel_stream_open_carried(struct pel_stream *stream, struct pel_loop *loop, struct pel_carrier *carrier, int fd)
{
    prepare(stream, loop, fd);
    stream->carrier = carrier;
    stream->readable = stream->writable = 1;
}

int pel_stream_connect(struct pel_stream *stream, struct pel_loop *loop, const struct sockaddr *address,
                       socklen_t length, const struct sockaddr *local, socklen_t local_length)
{
    int connecting, fd = pel_socket_connect(address, length, local, local_length, &connecting), code;

    stream->handle.fd = -1;
    if (fd < 0)
        return fd;
    if ((code = register_stream(stream, loop, fd, connecting)) < 0) {
        int error = errno;
        close(fd);
        errno = error;
    }
    return code;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static void on_stream_event(struct pel_handle *handle, unsigned events)
{
    struct pel_stream *stream = (struct pel_stream *)handle;

    if (events & (PEL_READABLE | PEL_HANGUP))
        stream->readable = 1;
    if (events & PEL_HANGUP)
        stream->hangup = 1;
    if (events & PEL_PRIORITY)
        stream->urgent = 1;
    if (stream->connecting) {
        int error;
        if (!(events & PEL_WRITABLE))
            return;
        stream->connecting = 0;
        if ((error = pel_socket_error(handle->fd)))
            pel__stream_fail(stream, error);
    }
    if (events & PEL_WRITABLE && !stream->error) {
        stream->writable = 1;
        if (pel_stream_unsent_p(stream) || stream->shut_when_sent)
            pel__stream_flush_or_reschedule(stream);
    }
    stream->on_ready(stream, events);
}

void pel_stream_carried(struct pel_stream *stream, unsigned events)
{
    on_stream_event(&stream->handle, events);
}

/* ---- receiving ------------------------------------------------------------------------------------------------ */

ssize_t pel_stream_receive(struct pel_stream *stream, void *bytes, size_t length)
{
    ssize_t count;

    if (!pel_stream_open_p(stream))
        return PEL_ECLOSED;
    if (stream->end_of_file)
        return 0;
    if (pel_stream_securing_p(stream))
        return stream->error ? PEL_ESYSTEM : PEL_EAGAIN;
    count = stream->layer ? stream->layer->type->receive(stream, bytes, length)
                          : pel__stream_receive(stream, bytes, length);
    if (count == 0)
        stream->end_of_file = 1;
    return count;
}

/* ---- sending -------------------------------------------------------------------------------------------------- */

/* Returns 0, or PEL_ECLOSED if the write side is or will be shut. */
static int check_writable(const struct pel_stream *stream)
{
    if (!pel_stream_open_p(stream) || stream->write_shut || stream->shut_when_sent)
        return PEL_ECLOSED;
    return 0;
}

int pel_stream_append(struct pel_stream *stream, const void *bytes, size_t length)
{
    int code = check_writable(stream);
    return code < 0 ? code : pel_buffer_append(&stream->output, bytes, length);
}

int pel_stream_append_borrowed(struct pel_stream *stream, const void *bytes, size_t length, uintptr_t owner,
                               struct pel_lender *lender)
{
    int code = check_writable(stream);
    return code < 0 ? code : pel_borrowed_add(&stream->borrowed, &stream->output, bytes, length, owner, lender);
}

ssize_t pel_stream_send_now(struct pel_stream *stream, const void *bytes, size_t length)
{
    size_t sent = 0;
    int code = check_writable(stream);

    if (code < 0)
        return code;
    if (stream->error)
        return PEL_ESYSTEM;
    if (stream->layer)
        return stream->corked ? 0 : pel__layer_send_now(stream, bytes, length);
    while (sent < length && stream->writable && !stream->corked && !pel_stream_pending(stream)) {
        struct iovec part = {.iov_base = (char *)bytes + sent, .iov_len = length - sent};
        ssize_t count = pel__stream_send(stream, &part, 1);
        if (count == PEL_EAGAIN)
            break;
        if (count < 0)
            return count;
        sent += (size_t)count;
    }
    return (ssize_t)sent;
}

/* ---- closing -------------------------------------------------------------------------------------------------- */

int pel_stream_close_write(struct pel_stream *stream)
{
    if (!pel_stream_open_p(stream))
        return PEL_ECLOSED;
    stream->shut_when_sent = 1;
    return pel__stream_flush_or_reschedule(stream) < 0 ? PEL_ESYSTEM : 0;
}

int pel_stream_detach(struct pel_stream *stream)
{
    int fd = stream->handle.fd;

    if (fd < 0)
        return fd;
    pel_stream_flush_cancel(stream);
    if (stream->handle.slot != PEL_UNREGISTERED) { /* otherwise the loop was closed, and may be freed */
        stream->loop->streams--;
        pel_loop_disarm(stream->loop, &stream->handle);
    }
    stream->handle.fd = -1;
    pel_buffer_free(&stream->output);
    pel_borrowed_drop(&stream->borrowed);
    pel_layer_drop(pel_stream_take_layer(stream));
    return fd;
}

struct pel_layer *pel_stream_take_layer(struct pel_stream *stream)
{
    struct pel_layer *layer = stream->layer;

    stream->layer = NULL;
    return layer;
}

void pel_stream_give_layer(struct pel_stream *stream, struct pel_layer *layer)
{
    if ((stream->layer = layer))
        layer->type->moved(layer, stream);
}

/* Receives bytes that were meant for the layer itself, such as TLS's session tickets. Closing a socket with unread
 * bytes would reset the connection, and the peer would lose the bytes that it has not read yet. Returns as
 * pel__stream_receive: PEL_EAGAIN if the peer has not ended. */
static ssize_t discard_received(struct pel_stream *stream)
{
    char bytes[4096];
    ssize_t count = 1;

    for (int i = 0; i < 4 && count > 0; i++)
        count = pel__stream_receive(stream, bytes, sizeof bytes);
    return count;
}

/* Whether the stream has sent its end, and the peer may still be there: TLS's own failures (EPROTO) leave it. */
static int ended_p(const struct pel_stream *stream)
{
    return stream->handle.slot != PEL_UNREGISTERED && !pel_loop_inherited(stream->loop) && stream->layer &&
           stream->write_shut && (!stream->error || stream->error == EPROTO);
}

int pel_stream_lingers(struct pel_stream *stream)
{
    ssize_t count;

    if (!ended_p(stream) || stream->error)
        return 0;
    count = discard_received(stream);
    stream->error = 0; /* all was sent: a failure from now on is none of the stream */
    return count != 0 && count != PEL_ESYSTEM ? pel_socket_unacknowledged(stream->handle.fd) : 0;
}

void pel_stream_close(struct pel_stream *stream)
{
    struct pel_carrier *carrier = stream->carrier;
    int unsent = pel_stream_unsent_p(stream), fd;

    if (ended_p(stream))
        discard_received(stream);
    if ((fd = pel_stream_detach(stream)) < 0)
        return;
    if (carrier)
        carrier->type->close(stream, unsent);
    else
        close(fd);
}

void pel_stream_free_carrier(struct pel_stream *stream)
{
    struct pel_carrier *carrier = stream->carrier;

    if (!carrier)
        return;
    pel_stream_detach(stream);
    stream->carrier = NULL;
    carrier->type->free(carrier);
}
