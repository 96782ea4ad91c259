#pragma once

#include "core/memcached/hash_ring.h"
#include "ruby/memcached/memcached_connection.h"

/*
 * The C part of a Pelton::Memcached::Client, which the commands use. Its Ruby part fills it in and opens the
 * connections.
 */

/* A connection slot: one of the connections that each thread may have to a server. */
struct pel_memcached_slot {
    VALUE connection; /* of the thread that used the slot last */
    struct pel_memcached_connection *last;
};

struct pel_memcached_client {
    struct pel_memcached_slot *slots; /* slot_count for the first server, then those for the second ... */
    size_t server_count, slot_count;
    VALUE ring_object;
    const struct pel_hash_ring *ring; /* of the servers that are up; NULL: there is only one server */
    uint32_t *ring_servers;           /* for each server of the ring its index among all servers */
    int64_t recheck_at;               /* when to check again whether the ejected servers are up; 0: none is ejected */
    VALUE namespace;                  /* the prefix of every key, a frozen String, or nil */
    VALUE codec;                      /* a Pelton::Memcached::Value; nil: values are Strings */
};

/* Raises TypeError for an object that is no Client, or was never set up. */
struct pel_memcached_client *pel_memcached_client_get(VALUE self);

/* The index of the key's connection slot. All commands for a key take the same slot, so that they keep their order. */
size_t pel_memcached_key_slot(const struct pel_memcached_client *client, struct pel_slice key);

/* Call while some servers are ejected from the ring: now and then the Ruby part checks whether they are up. May park or
 * block. */
void pel_memcached_recheck_servers(VALUE self, struct pel_memcached_client *client);

/* The ring of a Pelton::Memcached::HashRing, which owns it. It has at least one server and never changes. Raises
 * TypeError. (hash_ring_class.c) */
const struct pel_hash_ring *pel_hash_ring_get(VALUE self);

void pel_init_memcached_client(VALUE class);
