#ifndef PEL_MEMCACHED_WRITER_H
#define PEL_MEMCACHED_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "error.h"
#include "memcached_flags.h"
#include "slice.h"

/*
 * The client's side of memcached's protocol: commands -> bytes at the end of a buffer. Each function appends one whole
 * command or nothing, and nothing that could be read as a second command. All return
 *
 *   0              appended
 *   PEL_EARGUMENT  a key, an opaque or a number that memcached would not accept; nothing was appended
 *   PEL_ELIMIT     a key, an opaque or a value that is too long; nothing was appended
 *   PEL_EMEMORY    the buffer could not grow; nothing was appended
 *
 * The arguments are only read, and not kept.
 */

#define PEL_MEMCACHED_KEY_LIMIT 250
/* Of a key that is sent as base64 (flag b), before encoding. */
#define PEL_MEMCACHED_BINARY_KEY_LIMIT 186
#define PEL_MEMCACHED_OPAQUE_LIMIT 31
/* What memcached reads as a length. It would read the value of a longer one as commands. */
#define PEL_MEMCACHED_VALUE_LIMIT 2147483645

/*
 * A command of the meta protocol. `flags` tells which letters are sent; a field marked with a letter is sent with it
 * and is not looked at without it. What is not mentioned stays zero:
 *
 *     pel_memcached_write_get(buffer, &(struct pel_memcached_command){
 *         .key = {key, length}, .flags = PEL_MEMCACHED_FLAG('v') | PEL_MEMCACHED_FLAG('f')});
 *
 * A token that says what the server would do anyway is left out: F0 and T0 of a set, MS of a set, MI and D1 of an
 * arithmetic.
 */
struct pel_memcached_command {
    struct pel_slice key; /* any bytes with the flag b (sent as base64), else see pel_memcached_check_key */
    uint64_t flags;
    uint32_t client_flags;   /* F */
    char mode;               /* M: set E add, A append, P prepend, R replace, S set; arithmetic I incr, D decr */
    int64_t ttl;             /* T: seconds, or a date over 30 days; negative is expired at once; fits 32 bits */
    int64_t vivify_ttl;      /* N: as T */
    int64_t recache_ttl;     /* R: as T */
    uint64_t cas;            /* C: only if the item still has this one */
    uint64_t new_cas;        /* E: what it shall have then (memcached 1.6.22) */
    uint64_t delta;          /* D */
    uint64_t initial;        /* J: what vivify (N) starts from */
    struct pel_slice opaque; /* O: comes back with the reply */
};

/*
 *   0              the key can be sent: 1 to 250 bytes, none of them a control character, a space or DEL
 *   PEL_EARGUMENT  empty, or a byte that cannot be sent
 *   PEL_ELIMIT     too long
 */
int pel_memcached_check_key(const char *key, size_t length);

/* mg: get, gets, touch (flag T, without v), gat (T and v), recache. */
int pel_memcached_write_get(struct pel_buffer *buffer, const struct pel_memcached_command *command);
/* ms, and its value. */
int pel_memcached_write_set(struct pel_buffer *buffer, const struct pel_memcached_command *command, const char *value,
                            size_t length);
/* ms without its value: the caller sends `length` bytes from its own memory after it, and then "\r\n". */
int pel_memcached_write_set_head(struct pel_buffer *buffer, const struct pel_memcached_command *command, size_t length);
/* md. */
int pel_memcached_write_delete(struct pel_buffer *buffer, const struct pel_memcached_command *command);
/* ma: incr, decr. */
int pel_memcached_write_arithmetic(struct pel_buffer *buffer, const struct pel_memcached_command *command);

/* Classic text, for which there are no meta commands. */
int pel_memcached_write_version(struct pel_buffer *buffer);
/* `delay` in seconds, 0 at once. */
int pel_memcached_write_flush_all(struct pel_buffer *buffer, uint32_t delay);
/* `what` is "items", "slabs", "settings", "reset" ..., or empty. */
int pel_memcached_write_stats(struct pel_buffer *buffer, struct pel_slice what);

#endif
