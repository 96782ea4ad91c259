#include "ruby/reactor/reactor.h"

/* Pelton::Inotify, which EventMachine's file watches use: the inotify system calls, for which Ruby has no methods. Ruby
 * code reads the descriptor, and parses the events. */

#ifdef HAVE_SYS_INOTIFY_H
#include <sys/inotify.h>

#define EVENTS (IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVE | IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB)

/* open: returns a descriptor. */
static VALUE inotify_s_open(VALUE module)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    if (fd < 0)
        rb_sys_fail("inotify_init1");
    rb_update_max_fd(fd);
    return INT2FIX(fd);
}

/* add(fd, path): returns the number of the file's watch. A file has one watch, however often it is added. */
static VALUE inotify_s_add(VALUE module, VALUE fd, VALUE path)
{
    int watch = inotify_add_watch(NUM2INT(fd), StringValueCStr(path), EVENTS);

    if (watch < 0)
        rb_sys_fail_str(path);
    return INT2NUM(watch);
}

/* remove(fd, watch): returns whether there was such a watch. */
static VALUE inotify_s_remove(VALUE module, VALUE fd, VALUE watch)
{
    return inotify_rm_watch(NUM2INT(fd), NUM2INT(watch)) == 0 ? Qtrue : Qfalse;
}
#endif

void pel_init_inotify(void)
{
#ifdef HAVE_SYS_INOTIFY_H
    VALUE module = rb_define_module_under(pel_mPelton, "Inotify");

    rb_define_singleton_method(module, "open", inotify_s_open, 0);
    rb_define_singleton_method(module, "add", inotify_s_add, 2);
    rb_define_singleton_method(module, "remove", inotify_s_remove, 2);
#endif
}
