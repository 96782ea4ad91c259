#pragma once

#include "ruby/base/upcall.h"
#include "ruby/memcached/client.h"

/*
 * A call of a command for one key, from its arguments to its result in one of the three styles:
 *
 *     pel_memcached_begin(&call, self, options, ...);  reads the style and the options
 *     pel_memcached_set_key(&call, key);
 *     ... convert the command's own arguments ...
 *     if (!pel_memcached_ready(&call))                 finds a connection with capacity; may park or block
 *         return pel_memcached_finish_failed(&call);
 *     ... append the command for call.key_slice to call.connection->stream.output ...
 *     return pel_memcached_finish(&call, request);
 *
 * Between ready and finish nothing may call Ruby code: the connection could end meanwhile.
 */

/* X(NAME, name): the commands' options. */
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

/* A set of options, one bit each. */
enum pel_memcached_options {
#define PEL_MEMCACHED_OPTION(NAME, name) PEL_MEMCACHED_##NAME = 1 << PEL_MEMCACHED_##NAME##_OPTION,
    PEL_MEMCACHED_OPTIONS(PEL_MEMCACHED_OPTION)
#undef PEL_MEMCACHED_OPTION
};

struct pel_memcached_call {
    VALUE self; /* the Client */
    struct pel_memcached_client *client;
    struct pel_memcached_connection *connection;
    VALUE connection_object; /* keeps it alive: while this call waits, another may replace the slot's connection */
    VALUE block;
    int direct;
    int fixed;        /* the command is for one server, the first one or that of ready_at: no other will do */
    int64_t deadline; /* of `timeout:`, the instant by pel_now, or PEL_FOREVER */
    VALUE options[PEL_MEMCACHED_OPTION_COUNT];
    VALUE key;                  /* a String, without the namespace */
    struct pel_slice key_slice; /* with the namespace; valid from ready to finish */
    enum pel_upcall decode;     /* makes the result of the reply; 0: the reply is the result */
    VALUE on_end;               /* a Proc for the result or the error, which notifies subscribers; or nil */
    VALUE error;                /* the reason when the call is not ready */
    char whole_key[PEL_MEMCACHED_KEY_LIMIT + 1];
};

/* self: a Client or a Later. options: a Hash or nil. known: the command's options. Raises ArgumentError for others, and
 * TypeError. */
void pel_memcached_begin(struct pel_memcached_call *call, VALUE self, VALUE options, enum pel_memcached_options known);

/* key: a String, a Symbol, or an object with to_str. Raises TypeError. May call Ruby code. */
void pel_memcached_set_key(struct pel_memcached_call *call, VALUE key);

void pel_memcached_notify_subscribers(struct pel_memcached_call *call, const char *command);

/* The command begins. */
static inline void pel_memcached_notify(struct pel_memcached_call *call, const char *command)
{
    if (pel_observed[PEL_EVENT_command])
        pel_memcached_notify_subscribers(call, command);
}

/* 1: a command may be appended to call->connection. 0: the call has failed with call->error. Raises ClosedError when
 * the client is closed. */
int pel_memcached_ready(struct pel_memcached_call *call);

/* The same for the connection slot of this index. -1: the keys have moved to other servers. */
int pel_memcached_ready_at(struct pel_memcached_call *call, size_t slot_index);

struct pel_slice pel_memcached_key_in_namespace(struct pel_memcached_call *call);

/* The namespace and call->key, as one slice. Take it when nothing can park any more, so that no other code can change
 * the String. For a key that is too long the slice is too long as well. */
static inline struct pel_slice pel_memcached_whole_key(struct pel_memcached_call *call)
{
    if (!NIL_P(call->client->namespace))
        return pel_memcached_key_in_namespace(call);
    return pel_string_slice(call->key);
}

/* Raises the error for a command that could not be written: `code` is the writer's. */
NORETURN(void pel_memcached_raise_write_error(struct pel_memcached_call *call, int code));

static inline void pel_memcached_check_written(struct pel_memcached_call *call, int code)
{
    if (code < 0)
        pel_memcached_raise_write_error(call, code);
}

/* Ends a call that is not ready: raises call->error, or returns the failed Pelton::Operation. */
VALUE pel_memcached_finish_failed(struct pel_memcached_call *call);

/* Ends a call whose command was appended: returns the result or the Pelton::Operation, or raises. */
VALUE pel_memcached_finish(struct pel_memcached_call *call, enum pel_memcached_request request);

struct pel_memcached_fan_out;

/* Ends a call of many commands. write_shards(argument) appends them and adds them to the fan-out; it may raise and
 * park. */
VALUE pel_memcached_finish_fan_out(struct pel_memcached_call *call, struct pel_memcached_fan_out *fan_out,
                                   VALUE (*write_shards)(VALUE), VALUE argument);

void pel_init_memcached_call(VALUE client_class, VALUE later_class);
