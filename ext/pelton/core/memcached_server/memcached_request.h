#pragma once

#include <stdint.h>

#include "core/base/slice.h"
#include "core/memcached/flags.h"
#include "core/store/store.h"

/*
 * A request of memcached's text protocols, as request_parser.c yields it.
 */

#define PEL_MEMCACHED_REQUEST_WORDS 23
#define PEL_MEMCACHED_REQUEST_FLAGS 18
#define PEL_MEMCACHED_MAX_VALUE 2147483645 /* the longest length that memcached accepts */

/*
 *   X(verb, word, the parser of its arguments in request_line.c; retrieval has its own in request_parser.c)
 */
#define PEL_REQUESTS(X)                                                                                                \
    X(GET, "get", NULL)                                                                                                \
    X(SET, "set", parse_storage)                                                                                       \
    X(META_GET, "mg", pel__memcached_request_meta)                                                                     \
    X(META_SET, "ms", pel__memcached_request_meta)                                                                     \
    X(META_DELETE, "md", pel__memcached_request_meta)                                                                  \
    X(META_ARITHMETIC, "ma", pel__memcached_request_meta)                                                              \
    X(META_NOOP, "mn", parse_plain)                                                                                    \
    X(META_DEBUG, "me", pel__memcached_request_meta)                                                                   \
    X(GETS, "gets", NULL)                                                                                              \
    X(GAT, "gat", NULL)                                                                                                \
    X(GATS, "gats", NULL)                                                                                              \
    X(DELETE, "delete", parse_deletion)                                                                                \
    X(INCR, "incr", parse_arithmetic)                                                                                  \
    X(DECR, "decr", parse_arithmetic)                                                                                  \
    X(ADD, "add", parse_storage)                                                                                       \
    X(CAS, "cas", parse_storage)                                                                                       \
    X(REPLACE, "replace", parse_storage)                                                                               \
    X(APPEND, "append", parse_storage)                                                                                 \
    X(PREPEND, "prepend", parse_storage)                                                                               \
    X(TOUCH, "touch", parse_arithmetic)                                                                                \
    X(VERSION, "version", parse_plain)                                                                                 \
    X(STATS, "stats", parse_plain)                                                                                     \
    X(FLUSH_ALL, "flush_all", parse_flush_all)                                                                         \
    X(VERBOSITY, "verbosity", parse_level)                                                                             \
    X(CACHE_MEMLIMIT, "cache_memlimit", parse_level)                                                                   \
    X(QUIT, "quit", parse_plain)                                                                                       \
    X(SHUTDOWN, "shutdown", parse_plain)

enum pel_request_verb {
#define PEL_REQUEST_VERB(name, word, parser) PEL_REQUEST_##name,
    PEL_REQUESTS(PEL_REQUEST_VERB)
#undef PEL_REQUEST_VERB
        PEL_REQUEST_BAD /* `error` is the reason */
};

/*
 * One request. The verb determines which fields are set; the others are undefined. Slices point into the parsed bytes
 * or into the request, and are valid as long as both are.
 */
struct pel_memcached_request {
    enum pel_request_verb verb;
    const char *error; /* BAD: the reply, a static string without CRLF. NULL: close the connection */
    int noreply;       /* the client wants no reply; also set with BAD */
    uint64_t swallow;  /* BAD: the bytes of a value to discard, including its CRLF */

    struct pel_slice key;          /* raw bytes, decoded if the client sent base64; empty for commands without a key */
    int64_t expiry;                /* storage, touch, gat, flush_all: as the client sent it */
    uint64_t cas;                  /* cas */
    uint64_t delta;                /* incr, decr; cache_memlimit and verbosity: the argument */
    uint64_t length;               /* storage, ms: the length of the value that follows, without its CRLF */
    uint32_t client_flags;         /* storage */
    int last;                      /* retrieval: no key follows. With an empty key: the line had no further key */
    const struct pel_slice *words; /* stats: the words after the verb */
    int word_count;

    /* meta: the flags as a set (empty for other commands), their letters in the client's order, and their tokens. T, N,
     * R, F, C, E, M, J, D, O are set only if the flag is. */
    uint64_t flags;
    int flag_count;
    char letters[PEL_MEMCACHED_REQUEST_FLAGS];
    char mode;                            /* M; 0 without one */
    int64_t ttl, vivify_ttl, recache_ttl; /* T, N, R */
    uint64_t compare, new_cas;            /* C, E; 0 without one */
    uint64_t initial;                     /* J; 0 without one. delta: D; 1 without one */
    struct pel_slice opaque;              /* O, without the letter */

    /* private: */
    struct pel_slice word_memory[PEL_MEMCACHED_REQUEST_WORDS];
    char key_memory[PEL_STORE_KEY_LIMIT];
};

static inline int pel_request_has(const struct pel_memcached_request *request, char letter)
{
    return (request->flags & PEL_MEMCACHED_FLAG(letter)) != 0;
}

/* ---- for the parser ------------------------------------------------------------------------------------------- */

#define PEL_BAD_FORMAT "CLIENT_ERROR bad command line format"
#define PEL_BAD_EXPTIME "CLIENT_ERROR invalid exptime argument"

/* Refuses the request with an error. */
static inline void pel__memcached_request_bad(struct pel_memcached_request *request, const char *error)
{
    request->verb = PEL_REQUEST_BAD;
    request->error = error;
}
