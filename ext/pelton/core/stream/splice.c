#include "core/stream/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "core/stream/socket.h"

#ifdef HAVE_SPLICE

/* The bytes requested from one splice call. A pipe of the usual size takes fewer or more, depending on how the bytes
 * are spread over pages. */
#define PIPE_BYTES 65536

static int open_splice_pipe(struct pel_splice *splice)
{
    if (!splice->open && pipe2(splice->fds, O_NONBLOCK | O_CLOEXEC) == 0)
        splice->open = 1;
    return splice->open;
}

static int can_splice(const struct pel_stream *from, const struct pel_stream *to)
{
    if (from->carrier || to->carrier)
        return 0;
    return pel_stream_open_p(from) && !from->layer && from->readable && !from->urgent && !from->end_of_file &&
           !from->error && pel_stream_open_p(to) && !to->layer && !to->connecting && to->writable && !to->corked &&
           !to->write_shut && !to->shut_when_sent && !to->error && !pel_stream_pending(to);
}

static ssize_t splice_bytes(int from, int to, size_t length)
{
    ssize_t count;

    do
        count = splice(from, NULL, to, NULL, length, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    while (count < 0 && errno == EINTR);
    return count;
}

/* Moves bytes from the stream into the pipe. Returns their number, or 0. */
static size_t fill_pipe(struct pel_splice *splice, struct pel_stream *from, size_t length)
{
    ssize_t count = splice_bytes(from->handle.fd, splice->fds[1], length < PIPE_BYTES ? length : PIPE_BYTES);

    if (count >= 0)
        return (size_t)count;
    if (errno == EAGAIN) {
        from->readable = 0;
        pel_loop_rearm(from->loop, &from->handle, PEL_READABLE);
    } else if (errno != EINVAL && errno != ENOSYS) {
        pel__stream_fail(from, errno); /* the kernel reports it only once */
    }
    return 0;
}

/* Appends the rest of the pipe to the target's output, to be sent later. */
static void queue_rest(struct pel_splice *splice, struct pel_stream *to, size_t length)
{
    char bytes[16384];

    while (length) {
        ssize_t count = read(splice->fds[0], bytes, length < sizeof bytes ? length : sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0 || pel_stream_append(to, bytes, (size_t)count) < 0) {
            pel__stream_fail(to, ENOMEM); /* bytes are lost, so no bytes may follow */
            pel_splice_close(splice);
            break;
        }
        length -= (size_t)count;
    }
    pel_stream_flush_later(to);
}

/* Sends all bytes of the pipe to the target, or queues them there. */
static void empty_pipe(struct pel_splice *splice, struct pel_stream *to, size_t length)
{
    while (length) {
        ssize_t count = splice_bytes(splice->fds[0], to->handle.fd, length);
        if (count > 0) {
            length -= (size_t)count;
            continue;
        }
        if (count < 0 && errno == EAGAIN) {
            to->writable = 0;
            pel_loop_rearm(to->loop, &to->handle, PEL_WRITABLE);
        } else if (count < 0 && errno != EINVAL && errno != ENOSYS) {
            pel__stream_fail(to, errno);
        }
        queue_rest(splice, to, length);
        return;
    }
}

size_t pel_splice_move(struct pel_splice *splice, struct pel_stream *from, struct pel_stream *to, size_t length)
{
    size_t moved = 0;

    if (pel_pipe_signal_kills())
        return 0;
    while (moved < length && can_splice(from, to) && open_splice_pipe(splice)) {
        size_t count = fill_pipe(splice, from, length - moved);
        if (!count)
            break;
        moved += count;
        empty_pipe(splice, to, count);
    }
    if (moved)
        from->active_at = to->active_at = from->loop->now;
    return moved;
}

void pel_splice_close(struct pel_splice *splice)
{
    if (!splice->open)
        return;
    splice->open = 0;
    close(splice->fds[0]);
    close(splice->fds[1]);
}

#else

size_t pel_splice_move(struct pel_splice *splice, struct pel_stream *from, struct pel_stream *to, size_t length)
{
    return 0;
}

void pel_splice_close(struct pel_splice *splice)
{
}

#endif
