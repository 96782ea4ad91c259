#pragma once

#include "ruby/memcached/call.h"

/* The commands of Pelton::Memcached::Client. The same functions serve `client.later`. */

void pel_init_memcached_read(VALUE class);
void pel_init_memcached_store(VALUE class);
void pel_init_memcached_change(VALUE class);
void pel_init_memcached_multi(VALUE class);
void pel_init_memcached_all_servers(VALUE class);
void pel_init_memcached_arguments(void);

/* ---- arguments: arguments.c ----------------------------------------------------------------------------------- */

/* Begins a command whose only positional argument is its key (see call.h). */
void pel_memcached_begin_for_key(struct pel_memcached_call *call, int argc, VALUE *argv, VALUE self,
                                 enum pel_memcached_options known);

/* ttl:, in seconds, as the number that memcached reads. May call Ruby code; raises TypeError, ArgumentError. */
int64_t pel_memcached_ttl(VALUE seconds);

/* Adds cas: or ttl: to a command, if the call has the option. May call Ruby code; raises TypeError, ArgumentError. */
void pel_memcached_take_cas(const struct pel_memcached_call *call, struct pel_memcached_command *command);
void pel_memcached_take_ttl(const struct pel_memcached_call *call, struct pel_memcached_command *command);

/* An integer argument from 0 to limit. Raises TypeError, RangeError, ArgumentError. */
uint64_t pel_memcached_number(VALUE number, const char *name, uint64_t limit);

/* A value as it is stored. */
struct pel_memcached_encoded {
    VALUE string;
    uint32_t flags;
};

/* Encodes a value with the client's codec, unless the client has none or the call has raw:. flags: of the call are
 * merged in. May call Ruby code. Raises TypeError, ArgumentError, ValueError. */
struct pel_memcached_encoded pel_memcached_encode(struct pel_memcached_call *call, VALUE value);

/* Whether the client has a codec and the call uses it. */
int pel_memcached_uses_codec(const struct pel_memcached_call *call);

/* Appends a set and its value. As much of a long value as the socket takes is sent at once, without a copy. 0 or the
 * writer's error code. */
int pel_memcached_write_value(struct pel_memcached_connection *connection, const struct pel_memcached_command *command,
                              VALUE value);
