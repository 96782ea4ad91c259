#pragma once

#include <stdint.h>

#include "core/base/slice.h"
#include "core/memcached/flags.h"

/* A reply of memcached, as memcached_parser.c yields it. */

/*
 *   X(kind, the line's first word, the syntax of the rest)
 *
 * The most frequent kinds come first, because the parser searches in this order.
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
    X(END, "END", BARE)                                                                                                \
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
        PEL_MEMCACHED_VALUE_PART, /* more bytes of a value whose head was an earlier reply */
    PEL_MEMCACHED_VALUE_END       /* that value is complete, and its CRLF was correct */
};

/*
 * One reply. `kind` determines which fields are set; the others are undefined.
 *
 * Slices point into the bytes passed to pel_memcached_parse or into the parser. They are valid until the next call with
 * this parser, and no longer than the caller's bytes.
 */
struct pel_memcached_reply {
    enum pel_memcached_kind kind;

    /*
     * VA, HD, EN, NF, NS, EX, MN: the flags that the server sent, including unknown letters. A field whose
     * comment names a letter is set only if that flag is. Letters without a field (W, X, Z, b) have no token.
     */
    uint64_t flags;
    uint32_t client_flags;   /* f: the 32 bits stored with the value */
    int hit_before;          /* h: 0 or 1 */
    uint64_t cas;            /* c */
    int64_t ttl;             /* t: seconds left; -1: never expires */
    uint64_t idle;           /* l: seconds since the last access */
    uint64_t size;           /* s: bytes */
    struct pel_slice key;    /* k; the item's key in ME; the statistic's name in STAT */
    struct pel_slice opaque; /* O */

    /* ERROR, CLIENT_ERROR, SERVER_ERROR, VERSION, STAT, ME: the text after the word (and the key); may be empty. */
    struct pel_slice text;

    /*
     * VA: the value has `value_length` bytes. If `value_whole`, `value` holds all of them and the reply is
     * complete. Otherwise `value` holds the bytes available so far, maybe none, and `value_pending` bytes follow:
     * either as VALUE_PARTs (`value`, `value_pending`), or received without the parser
     * (pel_memcached_parser_skip_value). Then comes VALUE_END.
     */
    int value_whole;
    uint64_t value_length;
    uint64_t value_pending;
    struct pel_slice value;
};

/* The name of a kind, for messages: a static string, never NULL. Defined in line.c. */
const char *pel_memcached_kind_name(enum pel_memcached_kind kind);
