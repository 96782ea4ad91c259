#ifndef PEL_MEMCACHED_SERVER_H
#define PEL_MEMCACHED_SERVER_H

#include "loop.h"
#include "memcached_session.h"
#include "stream.h"

/*
 * The embedded memcached: listeners and connections on a loop of the caller's. All of it runs in the loop's dispatch,
 * whoever turns the loop, and in the three functions that the caller is asked to call.
 */

#define PEL_MEMCACHED_INPUT 65536

struct pel_memcached_server {
    struct pel_memcached_service service;
    struct pel_loop *loop;
    /* Set by the owner: asks for a call of pel_memcached_server_turn, soon but not from here. Told once; again after
     * that call. */
    void (*on_backlog)(struct pel_memcached_server *server);
    /* private: */
    struct pel_memcached_listener *listeners;
    struct pel_memcached_peer *peers;   /* a list */
    struct pel_memcached_peer *backlog; /* those who had their share of a turn, and have more */
    struct pel_buffer output;           /* of the one that is served */
    char *input;                        /* likewise: PEL_MEMCACHED_INPUT bytes */
    int64_t started;
    unsigned asked : 1; /* on_backlog was called */
};

struct pel_memcached_limits {
    uint64_t memory, value; /* bytes: of all items; of one, with its key and header */
    uint32_t connections;   /* at most PEL_ITEM_REFERENCES */
    uint32_t idle_timeout;  /* seconds after which a connection without progress is closed; 0: never */
};

/* Makes a server without listeners. on_backlog is set already. 0, PEL_EMEMORY or PEL_ESYSTEM. */
int pel_memcached_server_open(struct pel_memcached_server *server, struct pel_loop *loop,
                              const struct pel_memcached_limits *limits);

/* Takes a listening descriptor over. 0, PEL_EMEMORY or PEL_ESYSTEM: then it stays the caller's. */
int pel_memcached_server_listen(struct pel_memcached_server *server, int fd);

/* Goes on with what was left when a turn ended. */
void pel_memcached_server_turn(struct pel_memcached_server *server);

/* To be called about once a second: frees what has expired, closes idle connections, and accepts again after
 * descriptors had run out. */
void pel_memcached_server_tick(struct pel_memcached_server *server);

/* Before a close: stops listening, and answers once more what clients have asked by now, as far as they take it: for
 * half a second at most. */
void pel_memcached_server_drain(struct pel_memcached_server *server);

/* Closes all, and frees all memory. Legal twice. */
void pel_memcached_server_close(struct pel_memcached_server *server);

/* In a child after a fork, and async-signal-safe: closes the descriptors, so that the parent's clients and port are not
 * kept by the child, and leaves the parent's loop as it is. Only pel_memcached_server_close may follow. */
void pel_memcached_server_abandon(struct pel_memcached_server *server);

#endif
