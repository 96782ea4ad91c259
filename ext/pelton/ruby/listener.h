#ifndef PEL_RUBY_LISTENER_H
#define PEL_RUBY_LISTENER_H

#include "stream.h"

/* Pelton::Listener, inside: listener_class.c opens and closes it, listener_accept.c accepts. */

/* A fiber in accept. */
struct acceptor {
    struct pel_waiter waiter;
    struct acceptor *next;
};

struct listener {
    struct pel_handle handle; /* first */
    struct pel_alarm pause;
    struct pel_reactor *reactor;
    VALUE self, reactor_object, block;
    struct acceptor *acceptors; /* in their order */
    struct pel_listed listed;
    uint64_t accepted, pauses;
    uint32_t queued; /* connections whose handler's turn has not come */
    unsigned ready : 1, turn_queued : 1, shared : 1;
};

/* The one behind a Pelton::Listener, closed or not. Raises TypeError. */
struct listener *pel_listener_get(VALUE self);

/* The same, of one that is open, and this thread's. Raises. */
struct listener *pel_listener_get_open(VALUE self);

/* For the handle, and the alarm of the pause. C only. */
void pel_listener_on_event(struct pel_handle *handle, unsigned events);
void pel_listener_end_of_pause(struct pel_reactor *reactor, struct pel_alarm *alarm);

/* Accepts what waits in the backlog, and queues its handlers. Raises. */
void pel_listener_accept_rest(struct listener *listener);

void pel_init_listener_accept(VALUE class);

#endif
