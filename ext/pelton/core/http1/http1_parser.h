#pragma once

#include "core/http1/http1_head.h"

/*
 * A pull parser for HTTP/1 messages: requests for a server, or responses for a client. Each call returns one event. The
 * parser neither allocates nor copies, and accepts the bytes in pieces of any size. It writes to the bytes of a
 * response's head: see pel_http1_parse_head.
 *
 * The caller must pass unconsumed bytes (an incomplete line or head) again, followed by the bytes received since. The
 * slices of an event refer to the bytes of that call.
 *
 *   HEAD, any number of DATA, END: one message. After END comes the next HEAD.
 *
 * The bytes after the head of a response with status 101, of an answered CONNECT, or of an upgraded request are not
 * HTTP/1: the caller stops calling. Each 1xx response has a HEAD and an END of its own before the final response.
 */

enum pel_http1_event {
    PEL_HTTP1_MORE = 0, /* no event: more bytes are needed */
    PEL_HTTP1_HEAD,     /* `head` is set */
    PEL_HTTP1_DATA,     /* `data` is a part of the body, at least one byte */
    PEL_HTTP1_END       /* the message is complete; head->headers are its trailers, usually none */
};

/* The caller owns the struct; it has nothing to free. */
struct pel_http1_parser {
    const struct pel_http1_limits *limits; /* owned by the caller, who may change them between two messages */
    /* A client sets it before the response to a HEAD request. It stays set until the final response's END. */
    unsigned no_body : 1;
    /* private: */
    unsigned state : 4;
    unsigned response : 1;
    unsigned blank_line : 1; /* a blank line was skipped before this request */
    unsigned informational : 1;
    unsigned char fault;
    size_t searched; /* the bytes of an incomplete head that were searched for a line end */
    size_t line;     /* the offset of its last line */
    uint64_t left;   /* bytes left of the body, or of its chunk */
    uint64_t total;  /* bytes so far of a body that is chunked or ends with the connection */
    size_t excess;   /* bytes of chunk extensions */
};

/* kind: PEL_HTTP1_REQUEST or PEL_HTTP1_RESPONSE. */
void pel_http1_parser_init(struct pel_http1_parser *parser, enum pel_http1_kind kind,
                           const struct pel_http1_limits *limits);

/*
 * Returns the next event of `length` bytes (0 is allowed), of which the parser consumed *consumed.
 *
 *   an event
 *   PEL_EPROTOCOL  pel_http1_parser_fault is the reason; each further call fails again
 *   PEL_ELIMIT     likewise, for an exceeded limit
 */
int pel_http1_parse(struct pel_http1_parser *parser, const char *bytes, size_t length, size_t *consumed,
                    struct pel_http1_head *head, struct pel_slice *data);

/*
 * Call this when the peer has ended its output and all bytes are consumed.
 *
 *   PEL_HTTP1_END   a body that ends with the connection is complete
 *   PEL_HTTP1_MORE  the end came between two messages
 *   PEL_EPROTOCOL   the end came within a message
 */
int pel_http1_parse_end(struct pel_http1_parser *parser, struct pel_http1_head *head);

static inline enum pel_http1_fault pel_http1_parser_fault(const struct pel_http1_parser *parser)
{
    return (enum pel_http1_fault)parser->fault;
}

/* Whether the parser is within a message: its head was begun, or its end is not reached. */
int pel_http1_parser_within(const struct pel_http1_parser *parser);

/* The bytes left of the body, or of its current chunk; otherwise 0. The caller may receive them without the parser and
 * report them by pel_http1_parser_skip. */
uint64_t pel_http1_parser_left(const struct pel_http1_parser *parser);

/* Skips bytes of the body that the caller received without the parser. Returns 0; PEL_EARGUMENT if fewer are left. */
int pel_http1_parser_skip(struct pel_http1_parser *parser, uint64_t length);
