#pragma once

#include "ruby/stream/stream_object.h"

/* Pelton::Listener, inside. From the bottom: listener.c (the object's memory), listener_accept.c, listener_class.c
 * (opening, closing, the class). */

struct listener {
    struct pel_handle handle; /* first */
    struct pel_reactor_timer pause;
    struct pel_reactor *reactor;
    VALUE self, reactor_object, block;
    struct pel_turns acceptors; /* the fibers in accept */
    struct pel_root root;
    uint64_t accepted, pauses;
    uint32_t queued;           /* accepted connections whose handler has not begun */
    unsigned ready : 1;        /* accept may find a connection */
    unsigned batch_queued : 1; /* a job that accepts is queued */
    unsigned shared : 1;       /* other processes accept from the same socket */
};

extern const rb_data_type_t pel_listener_type;

/* The listener of a Pelton::Listener, open or closed. Raises TypeError. */
struct listener *pel_listener_get(VALUE self);

/* The same of an open listener of this thread. Raises ClosedError, Error. */
struct listener *pel_listener_get_open(VALUE self);

/* For the handle, and for the timer that ends a pause. C only. */
void pel_listener_on_event(struct pel_handle *handle, unsigned events);
void pel_listener_pause_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer);

/* Accepts all connections in the backlog, and queues their handlers. Raises. */
void pel_listener_accept_rest(struct listener *listener);

void pel_init_listener_accept(VALUE class);
