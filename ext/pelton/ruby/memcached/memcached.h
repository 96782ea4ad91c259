#ifndef PELTON_RUBY_MEMCACHED_MEMCACHED_H
#define PELTON_RUBY_MEMCACHED_MEMCACHED_H

#include "core/loop/spin.h"
#include "core/memcached/parser.h"
#include "core/memcached/translation.h"
#include "core/memcached/writer.h"
#include "ruby/operation/operation.h"

/*
 * One pipelined connection to a memcached server. Commands of all fibers are appended to one output and sent together;
 * each reply settles the oldest pending operation. When the connection fails, every pending operation fails with it,
 * and the connection is never used again.
 *
 * The files call one another in one direction. From the bottom: deadline.c, capacity.c, pending.c, error.c, fan_out.c,
 * value_stream.c, failure.c, reply.c and classic_reply.c, receive.c, connection_class.c; above them the commands
 * (call.h).
 */

/* The request that an operation waits on, and the operation's result. */
enum pel_memcached_request {
    PEL_MEMCACHED_GET,         /* the value, or nil */
    PEL_MEMCACHED_GET_ENCODED, /* the same; or [value, flags] when there are flags */
    PEL_MEMCACHED_GETS,        /* [the result of GET_ENCODED, cas], or nil */
    PEL_MEMCACHED_GET_STREAM,  /* a ValueStream, or nil */
    PEL_MEMCACHED_GET_ITEM,    /* [value, flags, cas, remaining seconds or -1, whether the caller won], or nil */
    PEL_MEMCACHED_STORE,       /* whether the value was stored */
    PEL_MEMCACHED_DELETE,      /* whether the key existed */
    PEL_MEMCACHED_TOUCH,       /* whether the key existed */
    PEL_MEMCACHED_COUNT,       /* the number, or nil */
    PEL_MEMCACHED_COUNT_FROM,  /* the number; an absent counter is created */
    PEL_MEMCACHED_GET_VERSION,
    PEL_MEMCACHED_REST, /* never sent: stands for the remaining bytes of a GET_STREAM's value */
    PEL_MEMCACHED_SHARD /* the shard request of one server in a fan-out */
};

struct pel_memcached_connection_limits {
    size_t operations, bytes; /* in flight. At these direct style waits; at twice these callback style fails */
    int64_t timeout;          /* nanoseconds without progress; PEL_FOREVER */
};

/* A value that is relayed: its bytes go to another stream by splice instead of being received here (value_stream.c). */
struct pel_memcached_relay {
    VALUE self;
    struct pel_waiter *waiter; /* the fiber that relays, while it waits for more bytes */
    unsigned offered : 1;      /* the loop has iterated since the value's head came */
    unsigned started : 1;      /* a fiber has begun to relay */
};

/* The error that ended a connection, before its exception is made. */
struct pel_memcached_failure {
    int code, error_number;
    const char *what; /* a literal; NULL: no failure */
};

struct pel_memcached_connection {
    struct pel_stream stream; /* first. Without a descriptor while connecting: commands collect in its output */
    struct pel_reactor *reactor;
    VALUE self, reactor_object;
    VALUE address;                        /* String, for messages */
    VALUE error;                          /* the error that ended the connection, or nil */
    struct pel_memcached_failure failure; /* the same error while it is not made yet */
    struct pel_memcached_connection_limits limits;
    struct pel_memcached_parser parser;
    struct pel_root root; /* registered while it connects or has pending operations: nothing else may refer to it */
    struct pel_operation *pending, **pending_tail; /* in the order of the commands */
    size_t pending_count;
    struct pel_reactor_timer timer; /* armed for the next deadline */
    int64_t progress; /* when bytes last moved in either direction, or the first operation became pending */
    struct pel_memcached_deadline *deadlines, **deadlines_tail; /* of operations with a timeout of their own */
    struct pel_memcached_shard_request *shards, **shards_tail;  /* pending, in the order of the commands */
    struct pel_spin spin;
    struct pel_memcached_relay *relay; /* or NULL. Nothing is received until it has ended */
    VALUE value;                       /* the long value that is being received, or Qfalse */
    uint32_t value_flags;              /* that item's flags, cas, ttl and win bit */
    uint64_t value_cas;
    int64_t value_ttl;
    int value_won;
    struct pel_memcached_capacity_waiter *capacity_waiters, **capacity_tail; /* first in, first out */
    unsigned fork_generation;
    unsigned connected : 1, closed : 1;
    unsigned ended_idle : 1;        /* closed while nothing was pending */
    unsigned parsing : 1;           /* pel_memcached_receive is on the stack, or an exception left it */
    unsigned grace_given : 1;       /* the timer was late and was extended, once since the last progress */
    unsigned replied : 1;           /* the server has sent something that could be a reply */
    unsigned classic : 1;           /* the server does not know meta commands */
    unsigned end_follows : 1;       /* classic: an END line is still due for the value just received */
    unsigned counter_begun : 1;     /* classic: the add before an incr or decr was answered */
    unsigned asks_key : 1;          /* the next get asks for its key */
    struct pel_buffer keys;         /* of each pending get a number of 32 bits: its key's mark, or 0 when its reply must
                                     * have no key; classic: the key's hash */
    struct pel_buffer untranslated; /* classic: commands appended since the last pel_memcached_send_soon */
};

struct pel_memcached_connection *pel_memcached_connection_get(VALUE self);

/* The buffer that commands are appended to. */
static inline struct pel_buffer *pel_memcached_output(struct pel_memcached_connection *connection)
{
    return connection->classic ? &connection->untranslated : &connection->stream.output;
}

/* Call after commands were appended. Sends a large output at once and returns 1; otherwise the flush at the tick's end
 * sends it, and this returns 0. */
int pel_memcached_send_soon(struct pel_memcached_connection *connection);

/* Reads from an idle connection without waiting, where the loop has not looked at it lately: a connection that the
 * server has closed meanwhile, or has sent something on unasked, is closed. Costs a system call. */
void pel_memcached_look(struct pel_memcached_connection *connection);

/* Receives replies and settles their operations, one iteration's share (receive.c). */
void pel_memcached_receive(struct pel_memcached_connection *connection);

/* ---- pending operations: pending.c ---------------------------------------------------------------------------- */

/* Call after a command was appended: adds the operation that its reply will settle. deadline: of the
 * operation's own timeout, or PEL_FOREVER. */
struct pel_operation *pel_memcached_add_pending(struct pel_memcached_connection *connection,
                                                enum pel_memcached_request request, int64_t deadline);

/* Appends a get, which asks for its key in the reply if the get before has not. So a reply too many, or too few, is
 * noticed by the next one. Returns as pel_memcached_write_get. */
int pel_memcached_write_read(struct pel_memcached_connection *connection, struct pel_memcached_command *command);

/* Whether the reply fits the key that the oldest pending operation asked for. 1, or PEL_EPROTOCOL. */
int pel_memcached_match_key(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply,
                            enum pel_memcached_request request);

/* Removes the oldest pending operation. The caller settles and releases it. */
struct pel_operation *pel_memcached_take_pending(struct pel_memcached_connection *connection);

/* ---- errors and failure: error.c, failure.c ------------------------------------------------------------------- */

/* The ServerError for an error reply. */
VALUE pel_memcached_server_error(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* An error whose message names the server. */
VALUE pel_memcached_error(struct pel_memcached_connection *connection, int code, int error_number, const char *what);

/* Closes the connection and fails all pending operations with such an error. No-op on a closed connection. `what` must
 * be a literal. */
void pel_memcached_fail(struct pel_memcached_connection *connection, int code, int error_number, const char *what);

/* The same with an error of the caller's. Plain C except that it may allocate. */
void pel_memcached_fail_with(struct pel_memcached_connection *connection, VALUE error);

/* The error that ended the connection, or nil. Makes the error if need be, so the connection must not be garbage. */
VALUE pel_memcached_failure(struct pel_memcached_connection *connection);

/* Releases the descriptor, the buffers and the timer. Legal when they are released. */
void pel_memcached_release_stream(struct pel_memcached_connection *connection);

/* ---- limits: capacity.c --------------------------------------------------------------------------------------- */

enum pel_memcached_capacity {
    PEL_MEMCACHED_HAS_CAPACITY,
    PEL_MEMCACHED_OVERLOADED,         /* callback style: twice the limits are in flight */
    PEL_MEMCACHED_CAPACITY_TIMED_OUT, /* direct style: the timeout passed while the fiber waited */
    PEL_MEMCACHED_CONNECTION_CLOSED,  /* while the fiber waited. Nothing was sent, so another connection will do */
};

/* Waits (direct style) until the connection is below its limits. Raises what is raised in the fiber. */
enum pel_memcached_capacity pel_memcached_wait_for_capacity(struct pel_memcached_connection *connection, int direct,
                                                            int64_t deadline);

/* Wakes the first waiting fiber if there is capacity. That fiber wakes the next one. */
void pel_memcached_offer_capacity(struct pel_memcached_connection *connection);

/* Wakes all waiting fibers: the connection is closed. */
void pel_memcached_end_capacity_waits(struct pel_memcached_connection *connection);

/* ---- time: deadline.c ----------------------------------------------------------------------------------------- */

/* The instant so many nanoseconds from now; PEL_FOREVER stays itself. */
int64_t pel_memcached_instant(int64_t timeout);

/* The instant at which the connection times out for an operation that began at `started`: counted from there or from
 * the last progress, whichever is later. */
int64_t pel_memcached_due(const struct pel_memcached_connection *connection, int64_t started);

/* Starts the connection's clock: its first operation has become pending. */
void pel_memcached_start_waiting(struct pel_memcached_connection *connection);

/* Gives an operation that was just added a deadline of its own. */
void pel_memcached_set_deadline(struct pel_memcached_connection *connection, struct pel_operation *operation,
                                int64_t due);

/* Drops the deadlines of settled operations at the head of the list; or, with `all`, every deadline. */
void pel_memcached_forget_deadlines(struct pel_memcached_connection *connection, int all);

/* Call when the timer has fired. Fails the overdue operations and arms the timer again. 1: the connection itself is
 * overdue, and the caller fails it. */
int pel_memcached_expire(struct pel_memcached_connection *connection);

/* ---- replies: reply.c, classic_reply.c ------------------------------------------------------------------------ */

/* Applies a reply to the oldest pending operation. 0, or PEL_EPROTOCOL when it fits no request. */
int pel_memcached_handle_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* Rewrites a classic server's reply as the meta reply of the same meaning. 1; 0 when the reply adds nothing to an
 * earlier one; or PEL_EPROTOCOL. */
int pel_memcached_classic_to_meta(struct pel_memcached_connection *connection, struct pel_memcached_reply *reply);

/* ---- values that are relayed to another stream: value_stream.c -------------------------------------------------- */

/* A ValueStream of a value that was received as a whole. */
VALUE pel_memcached_value_stream(VALUE value);

/* Whether the value whose head has come may be relayed. */
int pel_memcached_can_relay(const struct pel_memcached_connection *connection);

/* A ValueStream to be relayed. Adds a pending operation for the rest of its value, behind the operation that asked. */
VALUE pel_memcached_begin_relay(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* More bytes have come: wakes the relaying fiber, or has the rest received when no fiber relays. */
void pel_memcached_relay_ready(struct pel_memcached_connection *connection);

/* The connection is closed. */
void pel_memcached_end_relay(struct pel_memcached_connection *connection);

void pel_init_memcached_value_stream(VALUE module);
void pel_init_memcached_error(VALUE module);
void pel_init_memcached_connection(VALUE module);
void pel_init_memcached(void);

#endif
