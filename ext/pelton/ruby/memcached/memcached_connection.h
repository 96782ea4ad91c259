#pragma once

#include "core/loop/spin.h"
#include "core/memcached/memcached_parser.h"
#include "core/memcached/memcached_writer.h"
#include "ruby/memcached/capacity.h"
#include "ruby/memcached/memcached_deadline.h"
#include "ruby/memcached/memcached_failure.h"
#include "ruby/memcached/pending.h"
#include "ruby/memcached/reply.h"
#include "ruby/memcached/value_stream.h"

/*
 * One pipelined connection to a memcached server. Commands of all fibers are appended to one output and sent together;
 * each reply settles the oldest pending operation. When the connection fails, every pending operation fails with it,
 * and the connection is never used again.
 *
 * Each header here but this one has a part of the connection, which belongs to the file of its name.
 */

struct pel_memcached_connection {
    struct pel_stream stream; /* first. Without a descriptor while connecting: commands collect in its output */
    struct pel_reactor *reactor;
    VALUE self, reactor_object;
    VALUE address;        /* String, for messages */
    struct pel_root root; /* registered while it connects or has pending operations: nothing else may refer to it */
    struct pel_memcached_connection_limits limits;
    struct pel_memcached_parser parser;
    struct pel_memcached_pending pending;
    struct pel_memcached_clock clock;
    struct pel_memcached_value value;
    struct pel_memcached_relay *relay; /* or NULL. Nothing is received until it has ended */
    struct pel_turns capacity;         /* of the fibers that wait until the connection is below its limits */
    struct pel_memcached_failure failure;
    struct pel_spin spin;
    unsigned fork_generation;
    unsigned connected : 1, closed : 1;
    unsigned parsing : 1; /* pel_memcached_receive is on the stack, or an exception left it */
    unsigned replied : 1; /* the server has sent something that could be a reply */
};

struct pel_memcached_connection *pel_memcached_connection_get(VALUE self);

/* Call after commands were appended to the stream's output. Sends a large output at once and returns 1; otherwise the
 * flush at the tick's end sends it, and this returns 0. */
int pel_memcached_send_soon(struct pel_memcached_connection *connection);

/* Reads from an idle connection without waiting, where the loop has not looked at it lately: a connection that the
 * server has closed meanwhile, or has sent something on unasked, is closed. Costs a system call. */
void pel_memcached_look(struct pel_memcached_connection *connection);

void pel_init_memcached_connection(VALUE module);
