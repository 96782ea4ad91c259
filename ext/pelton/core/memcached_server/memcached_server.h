#pragma once

#include "core/loop/loop.h"
#include "core/memcached_server/memcached_session.h"
#include "core/stream/stream.h"

/*
 * The embedded memcached: listeners and connections on the caller's loop. All of its code runs in the loop's dispatch,
 * and in pel_memcached_server_run, _tick and _drain, which the owner calls.
 */

#define PEL_MEMCACHED_INPUT 65536

struct pel_memcached_server {
    struct pel_memcached_service service;
    struct pel_loop *loop;
    /* Set by the owner: requests a call of pel_memcached_server_run, soon but not from within this function. Called
     * once for each such call. */
    void (*on_backlog)(struct pel_memcached_server *server);
    /* private: */
    struct pel_memcached_listener *listeners;
    struct pel_memcached_peer *peers;   /* all connections, as a list */
    struct pel_memcached_peer *backlog; /* the connections that have exhausted their budget and have more to do */
    struct pel_buffer output;           /* the output of the connection being served */
    char *input;                        /* its input: PEL_MEMCACHED_INPUT bytes */
    int64_t started;
    unsigned backlog_notified : 1; /* on_backlog was called */
};

struct pel_memcached_limits {
    uint64_t memory, value; /* bytes of all items; bytes of one item with its key and header */
    uint32_t connections;   /* at most PEL_ITEM_REFERENCES */
    uint32_t idle_timeout;  /* seconds after which a connection without progress is closed; 0: never */
};

/* Opens a server without listeners. The caller has set on_backlog. Returns 0, PEL_EMEMORY or PEL_ESYSTEM. */
int pel_memcached_server_open(struct pel_memcached_server *server, struct pel_loop *loop,
                              const struct pel_memcached_limits *limits);

/* Takes ownership of a listening descriptor. Returns 0. On PEL_EMEMORY and PEL_ESYSTEM the caller still owns it. */
int pel_memcached_server_listen(struct pel_memcached_server *server, int fd);

/* Serves the connections on the backlog, and accepts further connections. */
void pel_memcached_server_run(struct pel_memcached_server *server);

/* The owner calls it about once a second: it frees expired items, closes idle connections, and accepts again if
 * descriptors had run out. */
void pel_memcached_server_tick(struct pel_memcached_server *server);

/* Prepares a close: stops listening, and replies to the requests that clients have sent by now, as far as they read the
 * replies, for half a second at most. */
void pel_memcached_server_drain(struct pel_memcached_server *server);

/* Closes all descriptors and frees all memory. Does nothing when called again. */
void pel_memcached_server_close(struct pel_memcached_server *server);

/* For a child after a fork; async-signal-safe: closes the descriptors, so that the child keeps neither the parent's
 * clients nor its port, and does not affect the parent's loop. Only pel_memcached_server_close may follow. */
void pel_memcached_server_abandon(struct pel_memcached_server *server);
