#include "reactor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <ruby/debug.h>
#include <ruby/fiber/scheduler.h>
#include <ruby/io.h>
#include <ruby/io/buffer.h>
#include "descriptor.h"
#include "scheduler.h"

/*
 * The hook io_read. The system call comes first and only EAGAIN waits, within the budget for what is ready. There is no
 * io_write: Ruby would then write the pieces of one writev one by one (docs/adr/007-io-read-without-io-write.md).
 *
 * A descriptor in blocking mode (standard input, what another process gave us) is never read unless poll says that this
 * cannot block. Its mode is not touched, because other processes share it.
 */

#define LARGEST (1024 * 1024) /* bytes for one system call: files answer at once, and others want their turn */

static int blocking_mode(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & O_NONBLOCK); /* the read itself reports a bad descriptor */
}

static int readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    if (poll(&one, 1, 0) != 0)
        return 1;
    errno = EAGAIN;
    return 0;
}

static ssize_t read_some(int fd, void *base, size_t size)
{
    ssize_t count;

    if (size > LARGEST)
        size = LARGEST;
    count = recv(fd, base, size, MSG_DONTWAIT);
    if (count >= 0 || errno != ENOTSOCK)
        return count;
    return blocking_mode(fd) && !readable(fd) ? -1 : read(fd, base, size);
}

struct reading {
    struct pel_reactor *reactor;
    VALUE io, buffer;
    size_t offset, size, minimum; /* bytes: at most, and at least */
    int fd;
    char *base;
};

/* Anew after each wait: meanwhile the IO may have been closed, the buffer freed or resized. */
static void locate(struct reading *reading)
{
    void *base;
    size_t size;

    reading->fd = rb_io_descriptor(reading->io);
    rb_io_buffer_get_bytes_for_writing(reading->buffer, &base, &size);
    if (reading->offset > size)
        rb_raise(rb_eArgError, "the offset lies behind the buffer's end");
    reading->base = (char *)base + reading->offset;
    if (reading->size > size - reading->offset)
        reading->size = size - reading->offset;
}

#if defined RUBY_FIBER_SCHEDULER_VERSION && RUBY_FIBER_SCHEDULER_VERSION >= 4
#define LENGTH_IS_THE_MOST 1 /* Ruby 4.1: and whoever wants to wait calls io_wait */
#else
#define LENGTH_IS_THE_MOST 0
#endif

/* Of all that call the hook with 0 for the least to read, this one alone must not wait, and only its frame tells. The
 * others would go back into Ruby, come to io_wait, and then call again. */
static int called_by_read_nonblock(void)
{
    VALUE frames[2], name;

    if (rb_profile_frames(0, 2, frames, NULL) < 2)
        return 0;
    name = rb_profile_frame_method_name(frames[1]);
    return RB_TYPE_P(name, T_STRING) && strcmp(StringValueCStr(name), "read_nonblock") == 0;
}

static int waits(const struct reading *reading)
{
    return !LENGTH_IS_THE_MOST && (reading->minimum || !called_by_read_nonblock());
}

static void wait_until_readable(struct reading *reading)
{
    int64_t deadline = PEL_FOREVER;

#ifdef HAVE_RB_IO_TIMEOUT
    deadline = pel_deadline(rb_io_timeout(reading->io));
#endif
    if (!pel_descriptor_wait(reading->reactor, reading->fd, PEL_READABLE, deadline))
        rb_raise(rb_const_get(rb_cIO, rb_intern("TimeoutError")), "the IO was not readable within its timeout");
    locate(reading);
}

#define FRAMES 1024 /* of the innermost callers that are looked at */

/* Whether code is being loaded that this fiber waits for. Ruby lets all fibers of a thread see what has been loaded of
 * it by then: a constant that autoload is about to define is there, and its class half empty. So nobody else has a
 * turn. */
static int loads_code(void)
{
    VALUE frames[FRAMES];
    int count = rb_profile_frames(0, FRAMES, frames, NULL);

    for (int i = 0; i < count; i++) {
        VALUE name = rb_profile_frame_method_name(frames[i]);
        if (RB_TYPE_P(name, T_STRING) && (!strcmp(RSTRING_PTR(name), "require") || !strcmp(RSTRING_PTR(name), "load") ||
                                          !strcmp(RSTRING_PTR(name), "require_relative")))
            return 1;
    }
    return 0;
}

/* Returns bytes or -errno. */
static VALUE read_all(struct reading *reading)
{
    size_t total = 0;

    /* Before the system call: what interrupts this must not lose bytes that have been read. */
    if (reading->reactor->budget > 1 || !loads_code())
        pel_spend(reading->reactor, 1);
    locate(reading);
    while (total < reading->size) {
        ssize_t count = read_some(reading->fd, reading->base + total, reading->size - total);
        if (count > 0) {
            total += (size_t)count;
            reading->reactor->budget -= (int32_t)(count / 4096);
        }
        if (count == 0 || (count > 0 && total >= reading->minimum))
            break;
        if (count < 0 && errno == EAGAIN && waits(reading))
            wait_until_readable(reading);
        else if (count < 0)
            return total ? SIZET2NUM(total) : INT2NUM(-errno);
    }
    return SIZET2NUM(total);
}

/* (io, buffer, length) in Ruby 3.1, (io, buffer, length, offset) from 3.2 on: length is the least to read. From 4.1
 * on it is (io, buffer, offset, length). Returns bytes or -errno. */
static VALUE scheduler_io_read(int argc, VALUE *argv, VALUE self)
{
    struct reading reading = {.io = argv[0], .buffer = argv[1], .size = SIZE_MAX};

    rb_check_arity(argc, 3, 4);
    reading.reactor = pel_scheduler_reactor(self);
    if (LENGTH_IS_THE_MOST) {
        reading.offset = NUM2SIZET(argv[2]);
        if (argc > 3)
            reading.size = NUM2SIZET(argv[3]);
    } else {
        reading.minimum = NUM2SIZET(argv[2]);
        if (argc > 3)
            reading.offset = NUM2SIZET(argv[3]);
    }
    return read_all(&reading);
}

void pel_init_scheduler_read(VALUE module)
{
    rb_define_method(module, "io_read", scheduler_io_read, -1);
}
