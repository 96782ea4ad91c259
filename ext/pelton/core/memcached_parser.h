#ifndef PEL_MEMCACHED_PARSER_H
#define PEL_MEMCACHED_PARSER_H

#include <stdint.h>

#include "error.h"
#include "memcached_flags.h"
#include "slice.h"

/*
 * The client's side of memcached's protocol, meta and classic text: bytes from the server -> replies. It may be fed in
 * pieces of any size, keeps at most one incomplete line, allocates nothing and copies no value.
 */

/* A reply's longest line, its CRLF included, in bytes. */
#define PEL_MEMCACHED_LINE_LIMIT 2048
#define PEL_MEMCACHED_DEFAULT_VALUE_LIMIT (UINT64_C(1) << 30)

/*
 *   X(kind, the line's first word, the shape of what follows it)
 *
 * The most frequent come first, because the parser searches in this order.
 */
#define PEL_MEMCACHED_REPLIES(X)                                                                                       \
    X(VA, "VA", META_VALUE)                                                                                            \
    X(HD, "HD", META)                                                                                                  \
    X(EN, "EN", META)                                                                                                  \
    X(NF, "NF", META)                                                                                                  \
    X(NS, "NS", META)                                                                                                  \
    X(EX, "EX", META)                                                                                                  \
    X(MN, "MN", META)                                                                                                  \
    X(ME, "ME", NAMED_TEXT)                                                                                            \
    X(VALUE, "VALUE", CLASSIC_VALUE)                                                                                   \
    X(END, "END", BARE)                                                                                                \
    X(STORED, "STORED", BARE)                                                                                          \
    X(NOT_STORED, "NOT_STORED", BARE)                                                                                  \
    X(EXISTS, "EXISTS", BARE)                                                                                          \
    X(NOT_FOUND, "NOT_FOUND", BARE)                                                                                    \
    X(DELETED, "DELETED", BARE)                                                                                        \
    X(TOUCHED, "TOUCHED", BARE)                                                                                        \
    X(STAT, "STAT", NAMED_TEXT)                                                                                        \
    X(OK, "OK", BARE)                                                                                                  \
    X(RESET, "RESET", BARE)                                                                                            \
    X(VERSION, "VERSION", TEXT)                                                                                        \
    X(ERROR, "ERROR", TEXT)                                                                                            \
    X(CLIENT_ERROR, "CLIENT_ERROR", TEXT)                                                                              \
    X(SERVER_ERROR, "SERVER_ERROR", TEXT)

enum pel_memcached_kind {
#define PEL_MEMCACHED_KIND(name, word, shape) PEL_MEMCACHED_##name,
    PEL_MEMCACHED_REPLIES(PEL_MEMCACHED_KIND)
#undef PEL_MEMCACHED_KIND
        PEL_MEMCACHED_NUMBER, /* a line of digits: the answer of a classic incr or decr */
    PEL_MEMCACHED_VALUE_PART, /* more bytes of a value whose head came before */
    PEL_MEMCACHED_VALUE_END   /* that value is complete, and its CRLF was right */
};

/*
 * One reply. Which fields are set depends on `kind`; the others hold anything.
 *
 * Slices point into the bytes given to pel_memcached_parse or into the parser, and are valid until the next call with
 * this parser, and no longer than the caller's bytes.
 */
struct pel_memcached_reply {
    enum pel_memcached_kind kind;

    /*
     * VA, HD, EN, NF, NS, EX, MN, VALUE: the letters of the flags the server sent, unknown ones included. A field that
     * is marked with a letter is set only if the letter is here. Letters without a field (W, X, Z, b) carry no token.
     * VALUE carries `k`, `f`, and `c` if the server sent it.
     */
    uint64_t flags;
    uint32_t client_flags;   /* f: the 32 bits the value was stored with */
    int hit_before;          /* h: 0 or 1 */
    uint64_t cas;            /* c */
    int64_t ttl;             /* t: seconds left; -1 never expires */
    uint64_t idle;           /* l: seconds since the last access */
    uint64_t size;           /* s: bytes */
    struct pel_slice key;    /* k; the item's key in ME; the statistic's name in STAT */
    struct pel_slice opaque; /* O */

    /* ERROR, CLIENT_ERROR, SERVER_ERROR, VERSION, STAT, ME: what follows the word (and the key); may be empty. */
    struct pel_slice text;
    /* NUMBER. */
    uint64_t number;

    /*
     * VA, VALUE: the value has `value_length` bytes. If `value_whole`, `value` holds all of them and the reply is done.
     * Else `value` holds those already there, maybe none, and `value_pending` are to come: as VALUE_PARTs (`value`,
     * `value_pending`), or past the parser (pel_memcached_parser_skip_value). Then comes VALUE_END.
     */
    int value_whole;
    uint64_t value_length;
    uint64_t value_pending;
    struct pel_slice value;
};

/* Owned by the caller, any memory; nothing to free. */
struct pel_memcached_parser {
    /* A longer value is PEL_ELIMIT. May be changed between two calls. */
    uint64_t value_limit;
    /* private: */
    uint64_t pending;
    int state;
    int error;
    unsigned line_length;
    char line[PEL_MEMCACHED_LINE_LIMIT];
};

/* For a new connection, and only then: a parser in the middle of something cannot be made to fit another byte stream.
 */
void pel_memcached_parser_init(struct pel_memcached_parser *parser);

/*
 * Parse at most one reply from `length` bytes (0 is allowed). `*consumed` bytes were taken; call again with the rest.
 *
 *   1              `reply` is set
 *   0              more bytes are needed; all bytes were taken
 *   PEL_EPROTOCOL  the server broke the protocol
 *   PEL_ELIMIT     a line or a value is too long
 *
 * After an error each call returns it again: which reply belongs to whom is no longer known, so drop the connection. An
 * ERROR, CLIENT_ERROR or SERVER_ERROR from the server is a reply like others, not an error here. But after an ERROR, or
 * a "CLIENT_ERROR bad data chunk", the server may have read the value of a set as commands, and answers each of them:
 * drop the connection then, too.
 */
int pel_memcached_parse(struct pel_memcached_parser *parser, const char *bytes, size_t length, size_t *consumed,
                        struct pel_memcached_reply *reply);

/*
 * Tell the parser that the caller has received the value's next `length` bytes elsewhere, without the parser seeing
 * them. Only value bytes: never the CRLF after them.
 *
 *   0              done
 *   PEL_EARGUMENT  fewer bytes than that are pending; nothing was skipped
 */
int pel_memcached_parser_skip_value(struct pel_memcached_parser *parser, uint64_t length);

/* Value bytes still to come: 0 outside of a value. */
static inline uint64_t pel_memcached_parser_pending(const struct pel_memcached_parser *parser)
{
    return parser->pending;
}

/* The kind's name, for messages; never NULL; static, the caller frees nothing. */
const char *pel_memcached_kind_name(enum pel_memcached_kind kind);

#endif
