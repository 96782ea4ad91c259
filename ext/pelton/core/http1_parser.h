#ifndef PEL_HTTP1_PARSER_H
#define PEL_HTTP1_PARSER_H

#include "http1_head.h"

/*
 * HTTP/1 messages from bytes: a server's requests, or a client's responses. Pulled: each call gives one event. It
 * allocates nothing, copies nothing, and may be fed in pieces of any size.
 *
 * Bytes that a call did not consume must be given again, with what came behind them: of an incomplete line, or an
 * incomplete head. The slices of an event lie in the bytes of its call.
 *
 *   HEAD, any number of DATA, END: one message. After END comes the next HEAD.
 *
 * After the head of a response with status 101, of an answered CONNECT, or of a request that is upgraded, what follows
 * is not HTTP/1: the owner stops calling. 1xx responses have a HEAD and an END of their own before the final one.
 */

enum pel_http1_event {
    PEL_HTTP1_MORE = 0, /* nothing, until there are more bytes */
    PEL_HTTP1_HEAD,     /* `head` is set */
    PEL_HTTP1_DATA,     /* `data` holds a part of the body, of one byte at least */
    PEL_HTTP1_END       /* the message is complete; head->headers are its trailers, usually none */
};

/* Owned by the caller, any memory; nothing to free. */
struct pel_http1_parser {
    const struct pel_http1_limits *limits; /* the caller's; may be changed between two messages */
    /* For a client, before each response: the request was a HEAD. Stays until the final response's END. */
    unsigned no_body : 1;
    /* private: */
    unsigned state : 4;
    unsigned response : 1;
    unsigned blank_line : 1; /* one was skipped before this request */
    unsigned informational : 1;
    unsigned char fault;
    size_t seen, line; /* of an incomplete head: bytes looked at, and where its last line begins */
    uint64_t left;     /* of the body, or of its chunk */
    uint64_t total;    /* of a chunked body, or one until the end */
    size_t excess;     /* bytes of chunk extensions */
};

/* kind: PEL_HTTP1_REQUEST or PEL_HTTP1_RESPONSE. */
void pel_http1_parser_init(struct pel_http1_parser *parser, enum pel_http1_kind kind,
                           const struct pel_http1_limits *limits);

/*
 * The next event from `length` bytes (0 is allowed); *consumed of them were taken.
 *
 *   an event
 *   PEL_EPROTOCOL  pel_http1_parser_fault says why; each further call says so again
 *   PEL_ELIMIT     the same, of a limit
 */
int pel_http1_parse(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed,
                    struct pel_http1_head *head, struct pel_slice *data);

/*
 * The peer sends no more, and there are no unconsumed bytes.
 *
 *   PEL_HTTP1_END   a body that ends with the connection is complete
 *   PEL_HTTP1_MORE  between two messages: an orderly end
 *   PEL_EPROTOCOL   within a message
 */
int pel_http1_parse_end(struct pel_http1_parser *parser, struct pel_http1_head *head);

static inline enum pel_http1_fault pel_http1_parser_fault(const struct pel_http1_parser *parser)
{
    return (enum pel_http1_fault)parser->fault;
}

/* Whether a head was begun, or a message is not at its end. */
int pel_http1_parser_within(const struct pel_http1_parser *parser);

/* Bytes of the body, or of its present chunk, that are still to come; 0 outside of them. They may be received
 * elsewhere, past the parser: say so by pel_http1_parser_skip. */
uint64_t pel_http1_parser_left(const struct pel_http1_parser *parser);

/* 0, or PEL_EARGUMENT when fewer bytes than that are left. */
int pel_http1_parser_skip(struct pel_http1_parser *parser, uint64_t length);

#endif
