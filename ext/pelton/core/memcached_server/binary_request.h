#ifndef PELTON_CORE_MEMCACHED_SERVER_BINARY_REQUEST_H
#define PELTON_CORE_MEMCACHED_SERVER_BINARY_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"

/*
 * The parser for requests of memcached's binary protocol, which is deprecated, but still the default of older clients.
 * Values are not parsed: a storage request ends with its key.
 */

/*
 *   X(name, opcode, opcode of the quiet command, bytes of extras, has a key, has a value)
 *
 * A quiet command gets no reply in the expected case. 0: there is no quiet command.
 */
#define PEL_BINARY_COMMANDS(X)                                                                                         \
    X(GET, 0x00, 0x09, 0, 1, 0)                                                                                        \
    X(SET, 0x01, 0x11, 8, 1, 1)                                                                                        \
    X(ADD, 0x02, 0x12, 8, 1, 1)                                                                                        \
    X(REPLACE, 0x03, 0x13, 8, 1, 1)                                                                                    \
    X(DELETE, 0x04, 0x14, 0, 1, 0)                                                                                     \
    X(INCREMENT, 0x05, 0x15, 20, 1, 0)                                                                                 \
    X(DECREMENT, 0x06, 0x16, 20, 1, 0)                                                                                 \
    X(QUIT, 0x07, 0x17, 0, 0, 0)                                                                                       \
    X(FLUSH, 0x08, 0x18, 4, 0, 0)                                                                                      \
    X(NOOP, 0x0a, 0, 0, 0, 0)                                                                                          \
    X(VERSION, 0x0b, 0, 0, 0, 0)                                                                                       \
    X(GETK, 0x0c, 0x0d, 0, 1, 0)                                                                                       \
    X(APPEND, 0x0e, 0x19, 0, 1, 1)                                                                                     \
    X(PREPEND, 0x0f, 0x1a, 0, 1, 1)                                                                                    \
    X(STAT, 0x10, 0, 0, 1, 0)                                                                                          \
    X(TOUCH, 0x1c, 0, 4, 1, 0)                                                                                         \
    X(GAT, 0x1d, 0x1e, 4, 1, 0)                                                                                        \
    X(GATK, 0x23, 0x24, 4, 1, 0)

enum pel_binary_command {
#define PEL_BINARY_COMMAND(name, opcode, quiet, extras, key, value) PEL_BINARY_##name,
    PEL_BINARY_COMMANDS(PEL_BINARY_COMMAND)
#undef PEL_BINARY_COMMAND
        PEL_BINARY_BAD /* `status` is the reason */
};

enum pel_binary_status {
    PEL_BINARY_OK = 0x00,
    PEL_BINARY_NOT_FOUND = 0x01,
    PEL_BINARY_EXISTS = 0x02,
    PEL_BINARY_TOO_LARGE = 0x03,
    PEL_BINARY_INVALID = 0x04,
    PEL_BINARY_NOT_STORED = 0x05,
    PEL_BINARY_NOT_A_NUMBER = 0x06,
    PEL_BINARY_UNKNOWN = 0x81,
    PEL_BINARY_NO_MEMORY = 0x82
};

#define PEL_BINARY_MAGIC 0x80             /* the first byte of a request */
#define PEL_BINARY_REPLY_MAGIC 0x81       /* the first byte of a reply */
#define PEL_BINARY_HEADER 24              /* the bytes of either header */
#define PEL_BINARY_NO_CREATION UINT32_MAX /* an expiry: increment and decrement create no counter */

/* Fields that a command lacks are 0. Slices point into the parsed bytes. */
struct pel_binary_request {
    enum pel_binary_command command;
    enum pel_binary_status status; /* BAD */
    int closing;                   /* BAD: the bytes behind it cannot be parsed */
    int quiet;
    uint8_t opcode;
    char opaque[4]; /* bytes of the client that the reply returns */
    uint64_t cas;   /* 0: any */
    struct pel_slice key;
    uint32_t length; /* the length of the value that follows; BAD: the bytes to discard */
    uint32_t client_flags, expiry;
    uint64_t delta, initial;
};

/*
 * Parses at most one request. The parser consumed `*consumed` bytes; pass the rest again, followed by further bytes.
 *
 *   1              `request` is set
 *   0              more bytes are needed; a request has fewer than 600
 *   PEL_EPROTOCOL  the bytes are no binary request; those behind them cannot be parsed
 */
int pel_memcached_binary_parse(const char *bytes, size_t length, size_t *consumed, struct pel_binary_request *request);

/* The name of a command, for logs. */
const char *pel_binary_command_name(enum pel_binary_command command);

#endif
