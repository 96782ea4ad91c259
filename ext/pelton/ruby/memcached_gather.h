#ifndef PEL_RUBY_MEMCACHED_GATHER_H
#define PEL_RUBY_MEMCACHED_GATHER_H

#include "memcached.h"

/*
 * One operation over many commands, on one server or several. Each server has a part, whose commands go out together
 * and whose replies come in their order; the operation is settled when the last part is done. An error in one command
 * does not keep the others from being done: the first error is what the operation fails with at the end.
 *
 *     gather = pel_memcached_gather_new(reactor, kind, timeout);
 *     for each server: pel_memcached_gather_add, and its commands appended to its connection's output
 *     pel_memcached_gather_sealed(gather);
 */

enum pel_memcached_gather_kind {
    PEL_MEMCACHED_GATHER_VALUES,       /* a Hash of the keys that are there, to their values */
    PEL_MEMCACHED_GATHER_CODED_VALUES, /* the same; to [value, flags] where there are flags */
    PEL_MEMCACHED_GATHER_STORED,       /* how many were stored */
    PEL_MEMCACHED_GATHER_DELETED,      /* how many were there */
    PEL_MEMCACHED_GATHER_VERSIONS,     /* a Hash of the servers to their versions */
    PEL_MEMCACHED_GATHER_STATISTICS,   /* a Hash of the servers to Hashes */
    PEL_MEMCACHED_GATHER_FLUSHED       /* true */
};

struct pel_memcached_gather {
    struct pel_operation *operation; /* whoever finishes by it takes a reference of its own */
    enum pel_memcached_gather_kind kind;
    int64_t timeout;
    int partial; /* an error is no failure: the result is what there is */
    VALUE kept;  /* Array: the Hash, the first error or nil */
    size_t stored;
    size_t references; /* its parts, and whoever builds it */
};

/* The caller keeps gather->kept on its stack as long as it builds: connections mark the gathers whose parts they owe,
 * and nobody else does. Raises NoMemoryError. */
struct pel_memcached_gather *pel_memcached_gather_new(struct pel_reactor *reactor, enum pel_memcached_gather_kind kind,
                                                      int64_t timeout);

/* Owes the gather the replies to `count` commands, which the caller appends to the connection's output next. keys: an
 * Array of so many, or nil. */
void pel_memcached_gather_add(struct pel_memcached_gather *gather, struct pel_memcached_connection *connection,
                              VALUE keys, size_t count);

/* A part that was never sent fails. */
void pel_memcached_gather_fail(struct pel_memcached_gather *gather, VALUE error);

/* No more parts will come. The gather may be gone afterwards. */
void pel_memcached_gather_sealed(struct pel_memcached_gather *gather);

/* For the connection that owes parts: their marking, a reply, a reply's value, the connection's end, and that of its
 * reactor (all: of those, too, that a fiber awaits). pel_memcached_part_reply: 1 when the reply begins a value, 0, or
 * PEL_EPROTOCOL. */
void pel_memcached_mark_parts(struct pel_memcached_connection *connection);
int pel_memcached_part_reply(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);
int pel_memcached_part_value(struct pel_memcached_connection *connection, VALUE value);
void pel_memcached_fail_parts(struct pel_memcached_connection *connection, VALUE error);
void pel_memcached_cancel_parts(struct pel_memcached_connection *connection, VALUE error, int all);

/* Whether the oldest part owed is one of values. */
int pel_memcached_part_reads(const struct pel_memcached_connection *connection);

/* Frees them without a word: the connection is garbage. */
void pel_memcached_forget_parts(struct pel_memcached_connection *connection);

#endif
