#pragma once

#include "core/http1/http1_parser.h"
#include "ruby/http/connection/exchange.h"
#include "ruby/http/connection/http_server.h"
#include "ruby/http/connection/protocol.h"
#include "ruby/stream/stream_private.h"

/* A connection's struct and its state: the requests of one stream, one after the other; or one stream of an HTTP/2
 * connection, which has one request, and is IDLE until it begins. */

enum pel_http_state {
    PEL_HTTP_IDLE,      /* between requests, or within a head */
    PEL_HTTP_WAITING,   /* the request waits for a slot, or for a flight (flight.h) */
    PEL_HTTP_BUSY,      /* the application has the request, or its response is being sent */
    PEL_HTTP_DRAINING,  /* the response is complete; the rest of the request's body is dropped */
    PEL_HTTP_LINGERING, /* the last response is complete; whatever arrives is dropped until the peer closes */
    PEL_HTTP_GONE       /* closed, or the stream was handed to the application (hijacked) */
};

/* The jobs of a connection: pel_job.run, with the connection as data. serve.c defines them, since the files below it
 * queue jobs, but cannot know what the jobs call. */
struct pel_http_jobs {
    void (*proceed)(struct pel_reactor *reactor, void *connection); /* there is something to parse, or to drop */
    void (*answer)(struct pel_reactor *reactor, void *connection);  /* the waiting request has got a slot */
    /* The waiting request's flight has ended: it is answered from the cache, or goes on as any other. C only. */
    void (*resume)(struct pel_http_connection *connection);
    /* The first bytes received are the beginning of HTTP/2's preface: takes them. 0: HTTP/2 is not served. */
    int (*switch_to_http2)(struct pel_http_connection *connection, const char *bytes, size_t length);
};

struct pel_http_connection {
    struct stream *stream;
    struct pel_http_server *server;
    struct pel_reactor *reactor;
    const struct pel_http_jobs *jobs;
    const struct pel_http_protocol *protocol;
    void *http2; /* what the protocol keeps: of HTTP/2's connections and their streams; NULL */
    VALUE self, stream_object, server_object;
    VALUE parent;  /* of a stream of HTTP/2: its connection; Qfalse */
    VALUE address; /* REMOTE_ADDR; Qfalse until a request needs it */
    VALUE choice;  /* the TLS::Choice of a server with several contexts; Qfalse */
    VALUE host;    /* with a choice: the last host that belongs to it, in lower case; Qfalse */
    struct pel_root root;
    struct pel_http_connection *previous, *next;
    struct pel_http_list *list;
    struct pel_http1_parser parser;
    struct pel_reactor_timer timer;
    int64_t deadline;       /* PEL_FOREVER: none; the timer may be earlier */
    int64_t idle_since;     /* when all of the last response was sent, or the connection was accepted */
    size_t unsent_at_start; /* bytes pending when the peer was last given write_timeout to read; SIZE_MAX: not yet */
    uint32_t requests;      /* begun on this connection */
    unsigned fork_generation;
    uint8_t state;        /* enum pel_http_state; set by pel_http_become alone */
    unsigned queued : 1;  /* jobs->proceed is on the ready queue */
    unsigned lingers : 1; /* before it closes, the connection waits for the peer's end */
    struct pel_http_request request;
    struct pel_http_response response;
};

/* Sets a field of a connection to a Ruby object, with the write barrier. Only Qfalse may be assigned without it. */
#define PEL_HTTP_KEEP(connection, field, object) RB_OBJ_WRITE((connection)->self, &(connection)->field, object)

/* Ends the process when a connection must not go from one state to the other. */
void pel_http_check_step(enum pel_http_state from, enum pel_http_state to);

/* The only function that sets the state. The build of bin/test checks each step. C only. */
static inline void pel_http_become(struct pel_http_connection *connection, enum pel_http_state state)
{
#ifdef PELTON_CHECKED
    pel_http_check_step((enum pel_http_state)connection->state, state);
#endif
    connection->state = (uint8_t)state;
}

/* The stream of the request's client; NULL of a request that the server makes itself. */
static inline const struct pel_stream *pel_http_client(const struct pel_http_connection *connection)
{
    return connection->protocol->discards ? NULL : &connection->stream->core;
}

/* Whether a request is being answered, or waits for it. */
static inline int pel_http_answering_p(const struct pel_http_connection *connection)
{
    return connection->state == PEL_HTTP_BUSY || connection->state == PEL_HTTP_WAITING;
}
