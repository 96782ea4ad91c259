#include "ruby/reactor/reactor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <ruby/debug.h>
#include <ruby/fiber/scheduler.h>
#include <ruby/io.h>
#include <ruby/io/buffer.h>
#include "ruby/reactor/yield.h"
#include "ruby/scheduler/scheduler.h"

/*
 * The hook io_read. It makes the system call first, and waits only after EAGAIN; data that is ready costs budget. There
 * is no io_write hook, because Ruby would then write the parts of one writev one by one
 * (docs/internals/adr/007-io-read-without-io-write.md).
 *
 * A descriptor in blocking mode (standard input, or one inherited from another process) is read only when poll says
 * that the read cannot block. Its mode stays as it is, because other processes share it.
 */

#define LARGEST_READ                                                                                                   \
    (1024 * 1024) /* bytes for one system call: a file is always ready, and a longer read would delay other fibers */

static int blocking_mode(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & O_NONBLOCK); /* the read itself reports a bad descriptor */
}

static int poll_readable(int fd)
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

    if (size > LARGEST_READ)
        size = LARGEST_READ;
    count = recv(fd, base, size, MSG_DONTWAIT);
    if (count >= 0 || errno != ENOTSOCK)
        return count;
    return blocking_mode(fd) && !poll_readable(fd) ? -1 : read(fd, base, size);
}

struct reading {
    struct pel_reactor *reactor;
    VALUE io, buffer;
    size_t offset, size, minimum; /* bytes; size is the most to read, minimum the least */
    int fd;
    char *base;
};

/* Looks the descriptor and the buffer up again after each wait: meanwhile the IO may have been closed, the buffer freed
 * or resized. */
static void locate_buffer(struct reading *reading)
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

/* From Ruby 4.1 on (version 3 of IO::Buffer), where a caller that wants to wait calls io_wait. */
static int length_is_the_most;

/* Among the methods that call the hook with 0 as the least to read, read_nonblock alone must not wait, and only its
 * frame identifies it. The other methods would return to Ruby, call io_wait, and then call the hook again. */
static int called_by_read_nonblock(void)
{
    VALUE frames[2], name;

    if (rb_profile_frames(0, 2, frames, NULL) < 2)
        return 0;
    name = rb_profile_frame_method_name(frames[1]);
    return RB_TYPE_P(name, T_STRING) && strcmp(StringValueCStr(name), "read_nonblock") == 0;
}

static int may_wait(const struct reading *reading)
{
    return !length_is_the_most && (reading->minimum || !called_by_read_nonblock());
}

static void wait_until_readable(struct reading *reading)
{
    int64_t deadline = PEL_FOREVER;

#ifdef HAVE_RB_IO_TIMEOUT
    deadline = pel_deadline(RB_TYPE_P(reading->io, T_FILE) ? rb_io_timeout(reading->io) : Qnil);
#endif
    if (!pel_descriptor_wait(reading->reactor, reading->io, reading->fd, PEL_READABLE, deadline))
        rb_raise(rb_const_get(rb_cIO, rb_intern("TimeoutError")), "the IO was not readable within its timeout");
    locate_buffer(reading);
}

#define CALLER_FRAMES 1024 /* the number of innermost frames that loads_code looks at */

/* Whether this fiber is loading code (require, load). Ruby lets all fibers of a thread see the part that is loaded so
 * far: a constant that autoload is about to define exists already, but its class is incomplete. So no other fiber may
 * run meanwhile. */
static int loads_code(void)
{
    VALUE frames[CALLER_FRAMES];
    int count = rb_profile_frames(0, CALLER_FRAMES, frames, NULL);

    for (int i = 0; i < count; i++) {
        VALUE name = rb_profile_frame_method_name(frames[i]);
        if (RB_TYPE_P(name, T_STRING) && (!strcmp(RSTRING_PTR(name), "require") || !strcmp(RSTRING_PTR(name), "load") ||
                                          !strcmp(RSTRING_PTR(name), "require_relative")))
            return 1;
    }
    return 0;
}

static VALUE scheduler_loads_code_p(VALUE self)
{
    return loads_code() ? Qtrue : Qfalse;
}

/* Returns bytes or -errno. */
static VALUE read_all(struct reading *reading)
{
    size_t total = 0;

    /* Spends the budget before the system call: an exception here must not lose bytes that have been read. */
    if (reading->reactor->budget > 1 || !loads_code())
        pel_spend(reading->reactor, 1);
    locate_buffer(reading);
    while (total < reading->size) {
        ssize_t count = read_some(reading->fd, reading->base + total, reading->size - total);
        if (count > 0) {
            total += (size_t)count;
            reading->reactor->budget -= (int32_t)(count / 4096);
        }
        if (count == 0 || (count > 0 && total >= reading->minimum))
            break;
        if (count < 0 && errno == EAGAIN && may_wait(reading))
            wait_until_readable(reading);
        else if (count < 0)
            return total ? SIZET2NUM(total) : INT2NUM(-errno);
    }
    return SIZET2NUM(total);
}

/* io_read(io, buffer, length) in Ruby 3.1, (io, buffer, length, offset) from 3.2 on: length is the least to read. From
 * 4.1 on (io, buffer, offset, length): length is the most to read. Returns bytes or -errno. */
static VALUE scheduler_io_read(int argc, VALUE *argv, VALUE self)
{
    struct reading reading = {.io = argv[0], .buffer = argv[1], .size = SIZE_MAX};

    rb_check_arity(argc, 3, 4);
    reading.reactor = pel_scheduler_reactor(self);
    if (length_is_the_most) {
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
    ID version = rb_intern("VERSION");

    length_is_the_most =
        rb_const_defined_from(rb_cIOBuffer, version) && NUM2INT(rb_const_get_from(rb_cIOBuffer, version)) >= 3;
    rb_define_method(module, "io_read", scheduler_io_read, -1);
    rb_define_private_method(module, "loads_code?", scheduler_loads_code_p, 0);
}
