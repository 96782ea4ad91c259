#ifndef PEL_MEMCACHED_REQUEST_PARSER_H
#define PEL_MEMCACHED_REQUEST_PARSER_H

#include <stdint.h>

#include "error.h"
#include "memcached_flags.h"
#include "slice.h"
#include "store.h"

/*
 * The server's side of memcached's protocol, classic text and meta: bytes from a client -> requests. It judges a line
 * as memcached 1.6.18 does, down to the words of its complaints, but for what could be read in two ways: numbers that
 * do not fit are errors, never cut to 32 bits, and so are a NUL, and a CR without its LF. Values are not parsed: a
 * storage request ends with its line.
 */

/* A line is shorter than this, its LF included, in bytes. Only the keys of a retrieval (get and its kin) may go on. */
#define PEL_MEMCACHED_REQUEST_LIMIT 2048
#define PEL_MEMCACHED_REQUEST_WORDS 23
#define PEL_MEMCACHED_REQUEST_FLAGS 18
#define PEL_MEMCACHED_MAX_VALUE 2147483645 /* what memcached takes for a length */

/*
 *   X(verb, word, shape)
 */
#define PEL_REQUESTS(X)                                                                                                \
    X(GET, "get", RETRIEVAL)                                                                                           \
    X(SET, "set", STORAGE)                                                                                             \
    X(META_GET, "mg", META)                                                                                            \
    X(META_SET, "ms", META)                                                                                            \
    X(META_DELETE, "md", META)                                                                                         \
    X(META_ARITHMETIC, "ma", META)                                                                                     \
    X(META_NOOP, "mn", PLAIN)                                                                                          \
    X(META_DEBUG, "me", META)                                                                                          \
    X(GETS, "gets", RETRIEVAL)                                                                                         \
    X(GAT, "gat", RETRIEVAL)                                                                                           \
    X(GATS, "gats", RETRIEVAL)                                                                                         \
    X(DELETE, "delete", DELETION)                                                                                      \
    X(INCR, "incr", ARITHMETIC)                                                                                        \
    X(DECR, "decr", ARITHMETIC)                                                                                        \
    X(ADD, "add", STORAGE)                                                                                             \
    X(CAS, "cas", STORAGE)                                                                                             \
    X(REPLACE, "replace", STORAGE)                                                                                     \
    X(APPEND, "append", STORAGE)                                                                                       \
    X(PREPEND, "prepend", STORAGE)                                                                                     \
    X(TOUCH, "touch", TOUCHING)                                                                                        \
    X(VERSION, "version", PLAIN)                                                                                       \
    X(STATS, "stats", PLAIN)                                                                                           \
    X(FLUSH_ALL, "flush_all", FLUSHING)                                                                                \
    X(VERBOSITY, "verbosity", LEVEL)                                                                                   \
    X(CACHE_MEMLIMIT, "cache_memlimit", LEVEL)                                                                         \
    X(QUIT, "quit", PLAIN)                                                                                             \
    X(SHUTDOWN, "shutdown", PLAIN)

enum pel_request_verb {
#define PEL_REQUEST_VERB(name, word, shape) PEL_REQUEST_##name,
    PEL_REQUESTS(PEL_REQUEST_VERB)
#undef PEL_REQUEST_VERB
        PEL_REQUEST_BAD /* `error` says why */
};

/*
 * One request. Which fields are set depends on the verb; the others hold anything. Slices point into the bytes that
 * were parsed, or into the request, and are valid as long as both.
 */
struct pel_memcached_request {
    enum pel_request_verb verb;
    const char *error; /* BAD: the reply, without CRLF; static. NULL: close the connection */
    int noreply;       /* BAD too: say nothing */
    uint64_t swallow;  /* BAD: bytes of a value that is to be thrown away, its CRLF included */

    struct pel_slice key;    /* raw bytes, also when they came as base64; without one, it is empty */
    int64_t expiry;          /* storage, touch, gat, flush_all: as the client sent it */
    uint64_t cas;            /* cas */
    uint64_t delta;          /* incr, decr; cache_memlimit and verbosity: the argument */
    uint64_t length;         /* storage, ms: of the value that follows, without its CRLF */
    uint32_t client_flags;   /* storage */
    int last;                /* a retrieval: no key comes after this one. key.length 0: there was no key any more */
    struct pel_slice *words; /* PLAIN: what follows the verb */
    int word_count;

    /* meta: the letters in the client's order, as a set (others: empty), and their tokens. T, N, R, F, C, E, M, J, D, O
     * are set only if the letter is there. */
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

/* Zeroed: a new connection's. Owned by the caller, nothing to free. private: */
struct pel_memcached_request_parser {
    uint8_t state, verb;
    const char *error; /* of a line whose rest is thrown away */
    int64_t expiry;
};

/*
 * Parse at most one request from `length` bytes. `*consumed` bytes were taken: give the rest again, with more behind
 * it. A retrieval is one request for each of its keys.
 *
 *   1              `request` is set
 *   0              more bytes are needed
 *   PEL_ELIMIT     a line without end: nothing that follows can be understood
 *   PEL_EPROTOCOL  the binary protocol, likewise
 */
int pel_memcached_request_parse(struct pel_memcached_request_parser *parser, const char *bytes, size_t length,
                                size_t *consumed, struct pel_memcached_request *request);

static inline int pel_request_has(const struct pel_memcached_request *request, char letter)
{
    return (request->flags & PEL_MEMCACHED_FLAG(letter)) != 0;
}

#endif
