#pragma once

#include "core/base/error.h"
#include "core/memcached_server/memcached_request.h"

/*
 * The parser for requests of memcached's text protocols, classic and meta. It accepts and refuses a line as memcached
 * 1.6.18 does, with the same error messages, except where a line could be read in two ways: a number that does not fit
 * is an error and never truncated to 32 bits, and so are a NUL, and a CR without LF. Values are not parsed: a storage
 * request ends with its line.
 */

/* A line including its LF is shorter than this, in bytes. Only the keys of a retrieval command (get, gets, gat, gats)
 * may exceed it. */
#define PEL_MEMCACHED_REQUEST_LIMIT 2048

/* The parser of one connection; the caller zeroes it and has nothing to free. private: */
struct pel_memcached_request_parser {
    uint8_t state, verb;
    const char *error; /* the error of a line whose rest is discarded */
    int64_t expiry;
};

/*
 * Parses at most one request from `length` bytes. The parser consumed `*consumed` bytes; pass the rest again, followed
 * by further bytes. A retrieval command yields one request for each of its keys.
 *
 *   1              `request` is set
 *   0              more bytes are needed
 *   PEL_ELIMIT     a line is too long; the bytes after it cannot be parsed
 *   PEL_EPROTOCOL  the client uses the binary protocol
 */
int pel_memcached_request_parse(struct pel_memcached_request_parser *parser, const char *bytes, size_t length,
                                size_t *consumed, struct pel_memcached_request *request);
