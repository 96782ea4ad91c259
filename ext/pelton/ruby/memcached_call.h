#ifndef PEL_RUBY_MEMCACHED_CALL_H
#define PEL_RUBY_MEMCACHED_CALL_H

#include "memcached_client.h"

/*
 * A call of a command for one key, from its arguments to its end in one of the three styles:
 *
 *     pel_memcached_begin(&call, self, options, ...);  the style and the options
 *     pel_memcached_set_key(&call, key);
 *     ... convert the command's own arguments ...
 *     if (!pel_memcached_ready(&call))                 a connection with room, for which it may park or block
 *         return pel_memcached_refused(&call);
 *     ... append the command for call.key_slice to call.connection->stream.output ...
 *     return pel_memcached_finish(&call, request);
 *
 * Between ready and finish nothing may call Ruby code: the connection could end meanwhile.
 */

/* X(NAME, name): the options that commands have. */
#define PEL_MEMCACHED_OPTIONS(X)                                                                                       \
    X(TIMEOUT, timeout)                                                                                                \
    X(TTL, ttl)                                                                                                        \
    X(FLAGS, flags)                                                                                                    \
    X(CAS, cas)                                                                                                        \
    X(RAW, raw)                                                                                                        \
    X(INITIAL, initial)                                                                                                \
    X(RECACHE, recache)                                                                                                \
    X(PARTIAL, partial)                                                                                                \
    X(DELAY, delay)

enum {
#define PEL_MEMCACHED_OPTION(NAME, name) PEL_MEMCACHED_##NAME##_OPTION,
    PEL_MEMCACHED_OPTIONS(PEL_MEMCACHED_OPTION)
#undef PEL_MEMCACHED_OPTION
        PEL_MEMCACHED_OPTION_COUNT
};

/* A set of them, one bit each. */
enum pel_memcached_options {
#define PEL_MEMCACHED_OPTION(NAME, name) PEL_MEMCACHED_##NAME = 1 << PEL_MEMCACHED_##NAME##_OPTION,
    PEL_MEMCACHED_OPTIONS(PEL_MEMCACHED_OPTION)
#undef PEL_MEMCACHED_OPTION
};

struct pel_memcached_call {
    VALUE self; /* the Client */
    struct pel_memcached_client *client;
    struct pel_memcached_connection *connection;
    VALUE connection_object; /* kept here: while this call waits, another one may put a new one into the lane */
    VALUE block;
    int direct;
    int fixed;       /* it is for a server, not for a key: no other server will do */
    int64_t timeout; /* the operation's own, nanoseconds, or PEL_FOREVER */
    VALUE options[PEL_MEMCACHED_OPTION_COUNT];
    VALUE key;                  /* a String, without the namespace */
    struct pel_slice key_slice; /* with it; valid from ready to finish */
    ID decode;                  /* the Client's method that makes the value of the reply, or 0 */
    VALUE told;                 /* what the instrument said at the beginning, or nil */
    VALUE error;                /* why it is not ready */
    char whole_key[PEL_MEMCACHED_KEY_LIMIT + 1];
};

/* self: a Client or a Later. options: a Hash or nil; known: those that the command has. Raises what wrong options
 * deserve. */
void pel_memcached_begin(struct pel_memcached_call *call, VALUE self, VALUE options, enum pel_memcached_options known);

/* A key is a String, or a Symbol, or what is like a String. Raises TypeError. May call Ruby code. */
void pel_memcached_set_key(struct pel_memcached_call *call, VALUE key);

void pel_memcached_tell_instrument(struct pel_memcached_call *call, const char *command);

/* Tells the instrument, if there is one, that the command begins. Calls Ruby code then. */
static inline void pel_memcached_tell(struct pel_memcached_call *call, const char *command)
{
    if (!NIL_P(call->client->instrument))
        pel_memcached_tell_instrument(call, command);
}

/* 1: call->connection may be written to. 0: the operation has failed. Raises ClosedError when the client is closed. */
int pel_memcached_ready(struct pel_memcached_call *call);

/* The same for the lane at a place; -1: the keys belong to other servers now. */
int pel_memcached_ready_at(struct pel_memcached_call *call, size_t place);

struct pel_slice pel_memcached_key_in_namespace(struct pel_memcached_call *call);

/* The namespace and call->key. Taken when nothing can park any more, and so nobody can change the String. A key that is
 * too long stays too long. */
static inline struct pel_slice pel_memcached_whole_key(struct pel_memcached_call *call)
{
    if (!NIL_P(call->client->namespace))
        return pel_memcached_key_in_namespace(call);
    return (struct pel_slice){RSTRING_PTR(call->key), (size_t)RSTRING_LEN(call->key)};
}

/* Raises why the command was not written. */
NORETURN(void pel_memcached_refuse(struct pel_memcached_call *call, int code));

/* Ends a call that is not ready: raises, or returns the failed Pelton::Operation. */
VALUE pel_memcached_refused(struct pel_memcached_call *call);

/* Ends a call whose command was appended: returns the value or the Pelton::Operation, or raises. */
VALUE pel_memcached_finish(struct pel_memcached_call *call, enum pel_memcached_request request);

struct pel_memcached_gather;

/* Ends a call of many commands, which write_parts(argument) appends and adds to the gather. It may raise and park. */
VALUE pel_memcached_finish_gather(struct pel_memcached_call *call, struct pel_memcached_gather *gather,
                                  VALUE (*write_parts)(VALUE), VALUE argument);

void pel_init_memcached_call(VALUE client_class, VALUE later_class);

#endif
