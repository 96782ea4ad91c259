#pragma once

#include "core/memcached_server/memcached_server.h"

/* What peer.c and memcached_server.c share: peers, listeners, and the server's lists of them. */

#define PEL_MEMCACHED_SECOND 1000000000 /* in nanoseconds */

struct pel_memcached_listener {
    struct pel_handle handle; /* first */
    struct pel_memcached_server *server;
    struct pel_memcached_listener *next;
    unsigned ready : 1;  /* there may be a connection to accept */
    unsigned paused : 1; /* out of descriptors: stops accepting until one is closed, or until the next tick */
};

/* One connection of the server: a stream and its session. */
struct pel_memcached_peer {
    struct pel_stream stream; /* first */
    struct pel_memcached_server *server;
    struct pel_memcached_peer *next, *previous, *next_backlog;
    struct pel_memcached_session session;
    struct pel_buffer rest;     /* received bytes that the session has not consumed yet */
    struct pel_item *sent_item; /* the item whose value is part of the stream's output; the peer owns a reference */
    size_t transferred;         /* bytes received and sent since served_at */
    int64_t served_at;          /* when pel__memcached_peer_serve was last called, in nanoseconds */
    unsigned end_of_file : 1;   /* the client has ended its output */
    unsigned queued : 1;        /* on the backlog */
};

/* Takes ownership of an accepted descriptor. Returns NULL on failure; then the descriptor is closed. */
struct pel_memcached_peer *pel__memcached_peer_open(struct pel_memcached_server *server, int fd);

/* Receives, executes and sends until the client must act or the budget is exhausted. May close and free the peer. */
void pel__memcached_peer_serve(struct pel_memcached_peer *peer);

/* Frees the peer, which must not be on the server's list any more. */
void pel__memcached_peer_free(struct pel_memcached_peer *peer);

/* ---- the server that peers belong to -------------------------------------------------------------------------- */

/* Sets the store's clock to the loop's time. */
void pel__memcached_server_set_time(struct pel_memcached_server *server);

/* Calls on_backlog, unless it was called since the last pel_memcached_server_run. */
void pel__memcached_server_notify_backlog(struct pel_memcached_server *server);

/* Has paused listeners accept again, because a descriptor was closed or time has passed. */
void pel__memcached_server_resume(struct pel_memcached_server *server);

/* Removes a peer, which is about to be freed, from the list of connections. */
void pel__memcached_server_remove(struct pel_memcached_server *server, struct pel_memcached_peer *peer);
