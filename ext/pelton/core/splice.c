#include "splice.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "socket.h"

#ifdef __linux__

/* Bytes asked for at once. A pipe of the usual size takes fewer, or more, as the pages lie. */
#define PIPE_BYTES 65536

static int open_pipe(struct pel_splice *splice)
{
    if (!splice->open && pipe2(splice->fds, O_NONBLOCK | O_CLOEXEC) == 0)
        splice->open = 1;
    return splice->open;
}

static int possible(const struct pel_stream *from, const struct pel_stream *to)
{
    return pel_stream_open_p(from) && !from->layer && from->readable && !from->urgent && !from->end_of_file &&
           !from->error && pel_stream_open_p(to) && !to->layer && !to->connecting && to->writable && !to->corked &&
           !to->write_shut && !to->shut_when_sent && !to->error && !pel_stream_pending(to);
}

static ssize_t move(int from, int to, size_t length)
{
    ssize_t count;

    do
        count = splice(from, NULL, to, NULL, length, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    while (count < 0 && errno == EINTR);
    return count;
}

/* Into the pipe: the number of bytes, or 0. */
static size_t take(struct pel_splice *splice, struct pel_stream *from, size_t length)
{
    ssize_t count = move(from->handle.fd, splice->fds[1], length < PIPE_BYTES ? length : PIPE_BYTES);

    if (count >= 0)
        return (size_t)count;
    if (errno == EAGAIN) {
        from->readable = 0;
        pel_loop_rearm(from->loop, &from->handle, PEL_READABLE);
    } else if (errno != EINVAL && errno != ENOSYS) {
        pel__stream_fail(from, errno); /* the kernel tells of it once */
    }
    return 0;
}

/* The rest of the pipe is the target's to send later. */
static void queue(struct pel_splice *splice, struct pel_stream *to, size_t length)
{
    char bytes[16384];

    while (length) {
        ssize_t count = read(splice->fds[0], bytes, length < sizeof bytes ? length : sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0 || pel_stream_append(to, bytes, (size_t)count) < 0) {
            pel__stream_fail(to, ENOMEM); /* bytes are lost: nothing may follow them */
            pel_splice_close(splice);
            break;
        }
        length -= (size_t)count;
    }
    pel_stream_flush_later(to);
}

/* Out of the pipe, all of it. */
static void give(struct pel_splice *splice, struct pel_stream *to, size_t length)
{
    while (length) {
        ssize_t count = move(splice->fds[0], to->handle.fd, length);
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
        queue(splice, to, length);
        return;
    }
}

size_t pel_splice_move(struct pel_splice *splice, struct pel_stream *from, struct pel_stream *to, size_t length)
{
    size_t moved = 0;

    if (pel_pipe_signal_kills())
        return 0;
    while (moved < length && possible(from, to) && open_pipe(splice)) {
        size_t count = take(splice, from, length - moved);
        if (!count)
            break;
        moved += count;
        give(splice, to, count);
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
