#ifndef PEL_RUBY_MEMCACHED_H
#define PEL_RUBY_MEMCACHED_H

#include "../core/memcached_parser.h"
#include "../core/memcached_writer.h"
#include "../core/spin.h"
#include "operation.h"

/*
 * One pipelined connection to a memcached server. Commands of all fibers are appended to one output and go out
 * together; replies belong to the operations in order. When it fails it fails each operation that it owes, and is never
 * used again.
 */

enum pel_memcached_request { PEL_MEMCACHED_GET, PEL_MEMCACHED_SET, PEL_MEMCACHED_DELETE, PEL_MEMCACHED_GET_VERSION };

struct pel_memcached_limits {
    size_t operations,
        bytes;       /* outstanding: at these, direct style waits; beyond twice these, callbacks get an error */
    int64_t timeout; /* nanoseconds without progress; PEL_FOREVER */
};

struct pel_memcached_connection {
    struct pel_stream stream; /* first; without a descriptor while it is being connected: the output gathers */
    struct pel_reactor *reactor;
    VALUE self, reactor_object;
    VALUE address; /* String, for messages */
    struct pel_memcached_limits limits;
    struct pel_memcached_parser parser;
    struct pel_operation *owed, **owed_tail; /* in the order of the commands */
    size_t owed_count;
    struct pel_alarm stall;
    int64_t progress; /* when the last bytes came, or the first of the owed operations began */
    struct pel_spin spin;
    VALUE value;                     /* a long value that is being received, Qfalse */
    struct pel_memcached_room *room; /* fibers that wait for room */
    unsigned connected : 1, closed : 1, parsing : 1;
};

extern VALUE pel_cMemcachedConnection;

struct pel_memcached_connection *pel_memcached_connection_get(VALUE self);

/* Waits (direct style) for room under the limits. 1 when there is room or a callback may still go on, 0 when callback
 * style must be told that it is too fast. Raises ClosedError, and what is raised in the fiber. */
int pel_memcached_make_room(struct pel_memcached_connection *connection, int direct);

/* After a command was appended to the output: owes its operation a reply. */
struct pel_operation *pel_memcached_owe(struct pel_memcached_connection *connection,
                                        enum pel_memcached_request request);

/* Sends what has gathered when it is much (1), else leaves it to the tick's end (0). */
int pel_memcached_sent(struct pel_memcached_connection *connection);

/* Receives and completes what it can, a turn's worth. */
void pel_memcached_receive(struct pel_memcached_connection *connection);

/* Closes the connection and fails all that is owed. No-op when it is closed. */
void pel_memcached_fail(struct pel_memcached_connection *connection, int code, int error_number, const char *what);

void pel_init_memcached(void);
void pel_init_memcached_connection(void);
void pel_init_memcached_reply(VALUE module);

#endif
