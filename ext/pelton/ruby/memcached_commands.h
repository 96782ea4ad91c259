#ifndef PEL_RUBY_MEMCACHED_COMMANDS_H
#define PEL_RUBY_MEMCACHED_COMMANDS_H

#include "memcached_call.h"

/* Pelton::Memcached::Client's commands, in files by what they do. The same functions serve `client.later`. */

void pel_init_memcached_read(VALUE class);
void pel_init_memcached_store(VALUE class);
void pel_init_memcached_change(VALUE class);
void pel_init_memcached_multi(VALUE class);
void pel_init_memcached_everywhere(VALUE class);
void pel_init_memcached_arguments(void);

/* ---- their arguments: memcached_arguments.c ------------------------------------------------------------------- */

/* A ttl: in seconds, as memcached wants it. May call Ruby code; raises TypeError, ArgumentError. */
int64_t pel_memcached_ttl(VALUE seconds);

/* An option that is a whole number. Raises TypeError, RangeError, ArgumentError. */
uint64_t pel_memcached_number(VALUE number, const char *name, uint64_t limit);

/* What a value is stored as. */
struct pel_memcached_bytes {
    VALUE string;
    uint32_t flags;
};

/* By the client's codec, if it has one and raw: does not keep it out; flags: are the caller's own. May call Ruby code.
 * Raises TypeError, ValueError. */
struct pel_memcached_bytes pel_memcached_encode(struct pel_memcached_call *call, VALUE value);

/* Whether the client's codec, if it has one, decodes what is read. */
int pel_memcached_coded(const struct pel_memcached_call *call);

/* Appends a set and its value: a long one goes out without being copied, as far as the socket takes it. 0 or a code. */
int pel_memcached_write_value(struct pel_memcached_connection *connection, const struct pel_memcached_command *command,
                              VALUE value);

#endif
