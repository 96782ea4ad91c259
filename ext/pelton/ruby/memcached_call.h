#ifndef PEL_RUBY_MEMCACHED_CALL_H
#define PEL_RUBY_MEMCACHED_CALL_H

#include "memcached.h"

/*
 * A call of a command, from its arguments to its end in one of the three styles:
 *
 *     pel_memcached_begin(&call, self, options, ...);  the style and the options; converts nothing of the command's own
 *     if (!pel_memcached_ready(&call))                 a connection with room, for which it may park or block
 *         return pel_memcached_refused(&call);
 *     ... append the command to call.connection->stream.output ...
 *     return pel_memcached_finish(&call, request);
 *
 * Between ready and finish nothing may call Ruby code: the connection could end meanwhile.
 */
struct pel_memcached_call {
    VALUE client;
    struct pel_memcached_connection *connection;
    VALUE block;
    int direct;
    int64_t timeout; /* the operation's own, nanoseconds, or PEL_FOREVER */
    VALUE ttl;       /* as it was given, or nil */
    VALUE error;     /* why it is not ready */
};

enum pel_memcached_options { PEL_MEMCACHED_TIMEOUT = 1, PEL_MEMCACHED_TTL = 2 };

/* self: a Client or a Later. options: a Hash or nil; known: how many of the options above the command has. Raises what
 * wrong options deserve. */
void pel_memcached_begin(struct pel_memcached_call *call, VALUE self, VALUE options, enum pel_memcached_options known);

/* 1: call->connection may be written to. 0: the operation has failed. Raises ClosedError when the client is closed. */
int pel_memcached_ready(struct pel_memcached_call *call);

/* Ends a call that is not ready: raises, or returns the failed Pelton::Operation. */
VALUE pel_memcached_refused(struct pel_memcached_call *call);

/* Ends a call whose command was appended: returns the value or the Pelton::Operation, or raises. */
VALUE pel_memcached_finish(struct pel_memcached_call *call, enum pel_memcached_request request);

void pel_init_memcached_call(VALUE client_class, VALUE later_class);

#endif
