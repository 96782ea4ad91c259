#ifndef PEL_RUBY_MEMCACHED_CLIENT_H
#define PEL_RUBY_MEMCACHED_CLIENT_H

#include "hash_ring.h"
#include "memcached.h"

/*
 * What the commands need to know of a Pelton::Memcached::Client. Its Ruby part sets it, and makes the connections.
 */

/* One of the connections to a server. */
struct pel_memcached_lane {
    VALUE connection; /* of the thread that used it last */
    struct pel_memcached_connection *last;
};

struct pel_memcached_client {
    struct pel_memcached_lane *lanes; /* the first server's, the second's ... */
    size_t server_count, lane_count;  /* lanes of each */
    VALUE ring_object;
    const struct pel_hash_ring *ring; /* of those that are up; NULL: there is only one server */
    uint32_t *places;                 /* of the ring's servers, among all */
    int64_t look_at;                  /* when to look again whether those left out are up; 0: all are in use */
    VALUE namespace;                  /* what every key begins with: a frozen String, or nil */
    VALUE codec;                      /* a Pelton::Memcached::Value, or nil: values are Strings */
    VALUE instrument;                 /* what is called when an operation begins, or nil */
};

/* Of a Client. */
struct pel_memcached_client *pel_memcached_client_get(VALUE self);

/* The place of the key's lane among all servers'. A key's commands all take the same one, so that they keep their
 * order.
 */
size_t pel_memcached_place(const struct pel_memcached_client *client, struct pel_slice key);

/* While some servers are left out: now and then lets the Ruby part look whether they are up. May park or block. */
void pel_memcached_look_again(VALUE self, struct pel_memcached_client *client);

void pel_init_memcached_client(VALUE class);

#endif
