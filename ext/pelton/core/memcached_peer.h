#ifndef PEL_MEMCACHED_PEER_H
#define PEL_MEMCACHED_PEER_H

#include "memcached_server.h"

/* Shared by the server's files: one connection, a stream and its session. */
struct pel_memcached_peer {
    struct pel_stream stream; /* first */
    struct pel_memcached_server *server;
    struct pel_memcached_peer *next, *previous, *next_backlog;
    struct pel_memcached_session session;
    struct pel_buffer rest; /* received, and not yet understood or not yet allowed */
    struct pel_item *lent;  /* its value is among the stream's output; a reference of ours */
    size_t moved;           /* bytes, in this turn */
    int64_t began;          /* the turn: nanoseconds */
    unsigned ended : 1;     /* the client has sent all it will send */
    unsigned waiting : 1;   /* on the backlog */
};

/* Takes an accepted descriptor over. NULL when that failed; then the descriptor is closed. */
struct pel_memcached_peer *pel__memcached_peer_open(struct pel_memcached_server *server, int fd);

/* Does all that can be done now. May close it. */
void pel__memcached_peer_serve(struct pel_memcached_peer *peer);

/* Frees it without telling the server. */
void pel__memcached_peer_free(struct pel_memcached_peer *peer);

/* In memcached_server.c: the loop's time becomes the store's; on_backlog is called unless it was; a peer is gone. */
void pel__memcached_server_set_time(struct pel_memcached_server *server);
void pel__memcached_server_ask(struct pel_memcached_server *server);
void pel__memcached_server_forget(struct pel_memcached_server *server, struct pel_memcached_peer *peer);

#endif
