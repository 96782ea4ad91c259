#pragma once

#include <stddef.h>
#include <stdint.h>
#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/base/slice.h"
#include "core/memcached/flags.h"

/*
 * Appends memcached commands to a buffer. Each function appends one whole command or nothing, and never bytes that a
 * server could read as a second command. All return
 *
 *   0              appended
 *   PEL_EARGUMENT  memcached would not accept the key, the opaque or a number; nothing was appended
 *   PEL_ELIMIT     the key, the opaque or the value is too long; nothing was appended
 *   PEL_EMEMORY    the buffer could not grow; nothing was appended
 *
 * The functions do not retain their arguments.
 */

#define PEL_MEMCACHED_KEY_LIMIT 250
/* The limit of a key that is sent as base64 (flag b), before encoding. */
#define PEL_MEMCACHED_BINARY_KEY_LIMIT 186
#define PEL_MEMCACHED_OPAQUE_LIMIT 31
/* The longest length that memcached accepts. It would read a longer value as commands. */
#define PEL_MEMCACHED_VALUE_LIMIT 2147483645

/*
 * A command of the meta protocol. `flags` determines which letters are sent; a field whose comment names a letter is
 * sent with that letter and ignored without it. Other fields stay zero:
 *
 *     pel_memcached_write_get(buffer, &(struct pel_memcached_command){
 *         .key = {key, length}, .flags = PEL_MEMCACHED_FLAG('v') | PEL_MEMCACHED_FLAG('f')});
 *
 * Tokens that request a default are left out: F0, T0 and MS of a set, MI and D1 of an arithmetic command.
 */
struct pel_memcached_command {
    struct pel_slice key; /* with flag b any bytes, sent as base64; otherwise see pel_memcached_check_key */
    uint64_t flags;
    uint32_t client_flags;   /* F */
    char mode;               /* M: set E add, A append, P prepend, R replace, S set; arithmetic I incr, D decr */
    int64_t ttl;             /* T: seconds, beyond 30 days a Unix time; negative: expires at once; fits 32 bits */
    int64_t vivify_ttl;      /* N: as T */
    int64_t recache_ttl;     /* R: as T */
    uint64_t cas;            /* C: the item must still have this CAS number */
    uint64_t new_cas;        /* E: the item's new CAS number (memcached 1.6.22) */
    uint64_t delta;          /* D */
    uint64_t initial;        /* J: the number of an item that N creates */
    struct pel_slice opaque; /* O: the reply returns it */
};

/*
 *   0              the key can be sent: 1 to 250 bytes, none of them a control character, a space or DEL
 *   PEL_EARGUMENT  the key is empty, or has a byte that cannot be sent
 *   PEL_ELIMIT     the key is too long
 */
int pel_memcached_check_key(const char *key, size_t length);

/* mg: get, gets, touch (flag T, without v), gat (T and v), recache. */
int pel_memcached_write_get(struct pel_buffer *buffer, const struct pel_memcached_command *command);
/* ms with its value. */
int pel_memcached_write_set(struct pel_buffer *buffer, const struct pel_memcached_command *command, const char *value,
                            size_t length);
/* ms without its value: the caller then sends `length` bytes from its own memory, and "\r\n". */
int pel_memcached_write_set_head(struct pel_buffer *buffer, const struct pel_memcached_command *command, size_t length);
/* md. */
int pel_memcached_write_delete(struct pel_buffer *buffer, const struct pel_memcached_command *command);
/* ma: incr, decr. */
int pel_memcached_write_arithmetic(struct pel_buffer *buffer, const struct pel_memcached_command *command);

/* Commands that have no meta counterpart. */
int pel_memcached_write_version(struct pel_buffer *buffer);
/* `delay` in seconds; 0: at once. */
int pel_memcached_write_flush_all(struct pel_buffer *buffer, uint32_t delay);
/* `what` is "items", "slabs", "settings", "reset" ..., or empty. */
int pel_memcached_write_stats(struct pel_buffer *buffer, struct pel_slice what);
