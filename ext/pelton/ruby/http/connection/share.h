#ifndef PELTON_RUBY_HTTP_CONNECTION_SHARE_H
#define PELTON_RUBY_HTTP_CONNECTION_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct pel_http_connection;
struct pel_http_sharer;

/* How a server's response bodies share the loop: together they write so many bytes a tick (share.c). */
struct pel_http_share {
    struct pel_http_sharer *first, *last; /* fibers that wait for their turn, on their own stacks */
    uint64_t tick;                        /* the reactor's iteration to which `used` belongs */
    size_t used;
    unsigned queued : 1; /* the job that grants turns is on the ready queue */
};

/* A body has written `bytes`, or is about to begin (0). Parks until it is the body's turn to produce more, if other
 * bodies wait or the tick's share is used. Raises when the fiber is cancelled. The exchange may be over afterwards. */
void pel_http_share(struct pel_http_connection *connection, size_t bytes);

#endif
