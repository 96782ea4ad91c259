#ifndef PEL_RUBY_MEMCACHED_H
#define PEL_RUBY_MEMCACHED_H

#include "../core/memcached_parser.h"
#include "../core/memcached_translation.h"
#include "../core/memcached_writer.h"
#include "../core/spin.h"
#include "operation.h"

/*
 * One pipelined connection to a memcached server. Commands of all fibers are appended to one output and go out
 * together; replies belong to the operations in order. When it fails it fails each operation that it owes, and is never
 * used again.
 */

/* What was asked, and what it is answered with. */
enum pel_memcached_request {
    PEL_MEMCACHED_GET,        /* the value, or nil */
    PEL_MEMCACHED_GET_CODED,  /* the same; or [value, flags] when there are flags */
    PEL_MEMCACHED_GETS,       /* [what GET_CODED is answered with, cas], or nil */
    PEL_MEMCACHED_GET_STREAM, /* a ValueStream, or nil */
    PEL_MEMCACHED_GET_ITEM,   /* [value, flags, cas, seconds it has left or -1, whether the caller won], or nil */
    PEL_MEMCACHED_STORE,      /* whether it was stored */
    PEL_MEMCACHED_DELETE,     /* whether it was there */
    PEL_MEMCACHED_TOUCH,      /* whether it was there */
    PEL_MEMCACHED_COUNT,      /* the number, or nil */
    PEL_MEMCACHED_COUNT_FROM, /* the same; of a counter that begins when it is absent */
    PEL_MEMCACHED_GET_VERSION,
    PEL_MEMCACHED_REST, /* never asked for: what follows the value that GET_STREAM began with */
    PEL_MEMCACHED_PART  /* one server's part of a gather */
};

struct pel_memcached_limits {
    size_t operations,
        bytes;       /* outstanding: at these, direct style waits; beyond twice these, callbacks get an error */
    int64_t timeout; /* nanoseconds without progress; PEL_FOREVER */
};

/* A value that is not received here while it flows on to another stream: memcached_value_stream.c. */
struct pel_memcached_flow {
    VALUE self;
    struct pel_waiter *waiter; /* the fiber that passes it on, while it waits for more */
    unsigned offered : 1;      /* the loop has turned since it began */
    unsigned passing : 1;      /* somebody has begun to pass it on */
};

struct pel_memcached_connection {
    struct pel_stream stream; /* first; without a descriptor while it is being connected: the output gathers */
    struct pel_reactor *reactor;
    VALUE self, reactor_object;
    VALUE address; /* String, for messages */
    VALUE error;   /* what ended it, nil */
    struct pel_memcached_limits limits;
    struct pel_memcached_parser parser;
    struct pel_listed listed; /* while it is being connected, or owes something: nobody else may hold it */
    struct pel_operation *owed, **owed_tail; /* in the order of the commands */
    size_t owed_count;
    struct pel_alarm alarm; /* of the next deadline */
    int64_t progress;       /* when bytes last came or went, or the first of the owed operations began */
    struct pel_memcached_deadline *deadlines, **deadlines_tail; /* of operations with a timeout of their own */
    struct pel_memcached_part *parts, **parts_tail;             /* those owed, in the order of the commands */
    struct pel_spin spin;
    struct pel_memcached_flow *flow; /* nothing is received before it has ended; or NULL */
    VALUE value;                     /* a long value that is being received, Qfalse */
    uint32_t value_flags;            /* and its item's other properties */
    uint64_t value_cas;
    int64_t value_ttl;
    int value_won;
    struct pel_memcached_place *room, **room_tail; /* fibers that wait for room, the first to come first */
    unsigned fork_generation;
    unsigned connected : 1, closed : 1, parsing : 1, excused : 1, replied : 1;
    unsigned classic : 1;                        /* the server knows no meta commands */
    unsigned end_follows : 1, counter_begun : 1; /* and where in the replies to one command it is */
    struct pel_buffer keys;                      /* of a classic one: hashes of the keys of the values that it owes */
    struct pel_buffer untranslated; /* of a classic one: the commands that were written since the last time it sent */
};

extern VALUE pel_cMemcachedConnection;

struct pel_memcached_connection *pel_memcached_connection_get(VALUE self);

/* After a command was appended to the output: owes its operation a reply. timeout: the operation's own, in nanoseconds,
 * or PEL_FOREVER. */
struct pel_operation *pel_memcached_owe(struct pel_memcached_connection *connection, enum pel_memcached_request request,
                                        int64_t timeout);

/* Takes the operation that was owed first off the list: the caller settles and releases it. */
struct pel_operation *pel_memcached_next_owed(struct pel_memcached_connection *connection);

/* Where commands are appended. */
static inline struct pel_buffer *pel_memcached_output(struct pel_memcached_connection *connection)
{
    return connection->classic ? &connection->untranslated : &connection->stream.output;
}

/* After commands were appended: sends what has gathered when it is much (1), else leaves it to the tick's end (0). */
int pel_memcached_sent(struct pel_memcached_connection *connection);

/* Receives and completes what it can, a turn's worth: memcached_receive.c. */
void pel_memcached_receive(struct pel_memcached_connection *connection);

/* What the server said is wrong: a ServerError. */
VALUE pel_memcached_server_error(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* An error that names the server. */
VALUE pel_memcached_error(struct pel_memcached_connection *connection, int code, int error_number, const char *what);

/* Closes the connection and fails all that is owed. No-op when it is closed. */
void pel_memcached_fail(struct pel_memcached_connection *connection, int code, int error_number, const char *what);

/* ---- limits: memcached_room.c --------------------------------------------------------------------------------- */

enum pel_memcached_room {
    PEL_MEMCACHED_ROOM,  /* go on */
    PEL_MEMCACHED_FULL,  /* callback style goes on too fast */
    PEL_MEMCACHED_LATE,  /* the time was over before there was room */
    PEL_MEMCACHED_ENDED, /* the connection has ended meanwhile: nothing was sent, so another one will do */
};

/* Waits (direct style) for room under the limits. Raises what is raised in the fiber. */
enum pel_memcached_room pel_memcached_make_room(struct pel_memcached_connection *connection, int direct,
                                                int64_t timeout);

/* Lets one that waits for room go on if there is some; it lets the next one go on. */
void pel_memcached_offer_room(struct pel_memcached_connection *connection);

/* Lets all go on: the connection has ended. */
void pel_memcached_end_room(struct pel_memcached_connection *connection);

/* ---- time: memcached_deadline.c ------------------------------------------------------------------------------- */

/* When the time of what began at `started` is over: it counts from the connection's last progress. */
int64_t pel_memcached_due(const struct pel_memcached_connection *connection, int64_t started, int64_t timeout);

/* The connection has begun to owe something. */
void pel_memcached_begin_to_wait(struct pel_memcached_connection *connection);

/* Gives the operation, just owed, a timeout of its own. */
void pel_memcached_set_deadline(struct pel_memcached_connection *connection, struct pel_operation *operation,
                                int64_t timeout);

/* Forgets the deadlines of the operations that are settled, as far as they come first; or all. */
void pel_memcached_forget_deadlines(struct pel_memcached_connection *connection, int all);

/* The alarm's function. */
void pel_memcached_ring(struct pel_reactor *reactor, struct pel_alarm *alarm);

/* ---- replies: memcached_reply.c ------------------------------------------------------------------------------- */

/* A reply to the oldest command. 0, or PEL_EPROTOCOL when it is none. */
int pel_memcached_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* Of a classic server: makes of the reply what a meta server would have said. 1; 0 when it says nothing more; or
 * PEL_EPROTOCOL. memcached_classic_reply.c */
int pel_memcached_as_meta(struct pel_memcached_connection *connection, struct pel_memcached_reply *reply);

/* What a get of that kind is answered with, made of the value and of what is known of its item. */
VALUE pel_memcached_item(struct pel_memcached_connection *connection, enum pel_memcached_request request, VALUE value);

/* ---- values that go on to another stream: memcached_value_stream.c ---------------------------------------------- */

/* A ValueStream of a value that is there. */
VALUE pel_memcached_value_stream(VALUE value);

/* Whether what the reply has begun may be passed on. */
int pel_memcached_can_flow(const struct pel_memcached_connection *connection);

/* A ValueStream that flows, whose rest is owed behind the operation that asked for it. */
VALUE pel_memcached_begin_flow(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* More has come: tells who passes it on, or receives it when nobody does. */
void pel_memcached_flow_ready(struct pel_memcached_connection *connection);

/* The connection has ended. */
void pel_memcached_end_flow(struct pel_memcached_connection *connection);

void pel_init_memcached_value_stream(VALUE module);
void pel_init_memcached(void);
void pel_init_memcached_connection(void);

#endif
