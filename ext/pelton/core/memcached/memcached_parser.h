#pragma once

#include "core/base/error.h"
#include "core/memcached/memcached_reply.h"

/*
 * The parser for memcached's replies to meta commands, and to those that have no meta counterpart. It accepts the bytes
 * in pieces of any size, keeps at most one incomplete line, allocates nothing and copies no value.
 */

/* The longest line of a reply including its CRLF, in bytes. */
#define PEL_MEMCACHED_LINE_LIMIT 2048
#define PEL_MEMCACHED_DEFAULT_VALUE_LIMIT (UINT64_C(1) << 30)

/* The caller owns the struct; it has nothing to free. */
struct pel_memcached_parser {
    /* A longer value makes the parser return PEL_ELIMIT. The caller may change the limit between two calls. */
    uint64_t value_limit;
    /* private: */
    uint64_t pending;
    int state;
    int error;
    unsigned line_length;
    char line[PEL_MEMCACHED_LINE_LIMIT];
};

/* Initializes the parser of a new connection. A parser in use cannot be switched to another byte stream. */
void pel_memcached_parser_init(struct pel_memcached_parser *parser);

/*
 * Parses at most one reply from `length` bytes (0 is allowed). The parser consumed `*consumed` bytes; call it again
 * with the rest.
 *
 *   1              `reply` is set
 *   0              more bytes are needed; all bytes were consumed
 *   PEL_EPROTOCOL  the server broke the protocol
 *   PEL_ELIMIT     a line or a value is too long
 *
 * After an error each call returns the same error: replies can no longer be matched to commands, so the caller must
 * drop the connection. An ERROR, CLIENT_ERROR or SERVER_ERROR from the server is an ordinary reply, not an error here.
 * But after an ERROR, or a "CLIENT_ERROR bad data chunk", the server may have read the value of a set as commands, and
 * sends a reply to each of them: the caller must drop the connection then, too.
 */
int pel_memcached_parse(struct pel_memcached_parser *parser, const char *bytes, size_t length, size_t *consumed,
                        struct pel_memcached_reply *reply);

/*
 * Skips the value's next `length` bytes, which the caller has received without the parser. Only bytes of the value may
 * be skipped, never the CRLF after it.
 *
 *   0              skipped
 *   PEL_EARGUMENT  fewer bytes are pending; nothing was skipped
 */
int pel_memcached_parser_skip_value(struct pel_memcached_parser *parser, uint64_t length);

/* Whether a reply has begun and is not complete. */
int pel_memcached_parser_inside(const struct pel_memcached_parser *parser);

/* The number of bytes that the current value lacks; 0 outside of a value. */
static inline uint64_t pel_memcached_parser_pending(const struct pel_memcached_parser *parser)
{
    return parser->pending;
}

/*
 * Parses one complete line of a reply, without its CRLF. Sets all fields of the reply except `value`, `value_whole` and
 * `value_pending`. The slices point into the line. Returns 0, or PEL_EPROTOCOL: then the reply is undefined.
 */
int pel__memcached_parse_line(struct pel_slice line, struct pel_memcached_reply *reply);
