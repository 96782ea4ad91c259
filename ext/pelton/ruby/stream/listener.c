#include "ruby/stream/listener.h"

#include <unistd.h>
#include "ruby/base/exception.h"

/* What a Pelton::Listener wraps. */

static void listener_mark(void *data)
{
    struct listener *listener = data;

    rb_gc_mark(listener->self); /* pinned: C keeps the reference */
    rb_gc_mark(listener->block);
    rb_gc_mark(listener->reactor_object);
}

static void listener_free(void *data)
{
    struct listener *listener = data;

    if (listener->handle.slot != PEL_UNREGISTERED) {
        if (!pel_loop_inherited(&listener->reactor->loop)) /* a child must not touch its parent's timers */
            pel_timer_cancel(&listener->reactor->loop.timers, &listener->pause.entry);
        pel_loop_disarm(&listener->reactor->loop, &listener->handle);
    }
    if (listener->handle.fd >= 0)
        close(listener->handle.fd);
    PEL_FREE(listener);
}

static size_t listener_size(const void *data)
{
    return sizeof(struct listener);
}

const rb_data_type_t pel_listener_type = {
    .wrap_struct_name = "Pelton::Listener",
    .function = {.dmark = listener_mark, .dfree = listener_free, .dsize = listener_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

struct listener *pel_listener_get(VALUE self)
{
    return rb_check_typeddata(self, &pel_listener_type);
}

struct listener *pel_listener_get_open(VALUE self)
{
    struct listener *listener = pel_listener_get(self);

    if (listener->handle.fd < 0)
        rb_raise(pel_eClosedError, "the listener is closed");
    if (pel_loop_inherited(&listener->reactor->loop))
        rb_raise(pel_eClosedError, "this listener belongs to the parent process: "
                                   "use Listener.for_fd(listener.fileno) in the child");
    if (listener->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "a listener can be used only on the thread that opened it");
    return listener;
}
