#pragma once

#include <stdint.h>
#include <sys/types.h>
#include "core/base/error.h"
#include "core/http1/text.h"

/*
 * The head of an HTTP/1 message: its first line and its headers, as slices of the bytes it was parsed from. Parsing is
 * strict: a message that two parsers could read differently is refused, because one of them may be a proxy in front of
 * this server.
 */

/*
 * The reasons for which a message is refused.
 *
 *   X(name, the status of a server's response, text)
 */
#define PEL_HTTP1_FAULTS(X)                                                                                            \
    X(NONE, 200, "no fault")                                                                                           \
    X(LINE_END, 400, "a line does not end with CRLF")                                                                  \
    X(FIRST_LINE, 400, "the first line is malformed")                                                                  \
    X(METHOD, 400, "the method is malformed")                                                                          \
    X(TARGET, 400, "the target is malformed")                                                                          \
    X(VERSION, 505, "the version is neither HTTP/1.1 nor HTTP/1.0")                                                    \
    X(HEADER, 400, "a header is malformed")                                                                            \
    X(HOST, 400, "Host is missing, malformed or repeated")                                                             \
    X(LENGTH, 400, "Content-Length is malformed or repeated")                                                          \
    X(CODING, 400, "Transfer-Encoding is not just chunked, or not allowed here")                                       \
    X(CODING_UNKNOWN, 501, "Transfer-Encoding has a coding other than chunked")                                        \
    X(CHUNK, 400, "a chunk is malformed")                                                                              \
    X(TRAILER, 400, "a trailer is not allowed")                                                                        \
    X(EXPECTATION, 417, "Expect is not 100-continue")                                                                  \
    X(PROTOCOL, 501, "the protocol of the tunnel is not websocket")                                                    \
    X(CUT_OFF, 400, "the connection ended within a message")                                                           \
    X(TARGET_LONG, 414, "the target is too long")                                                                      \
    X(STATUS_LONG, 502, "the status line is too long")                                                                 \
    X(HEAD_LONG, 431, "the headers are too long")                                                                      \
    X(HEADERS_MANY, 431, "there are too many headers")                                                                 \
    X(BODY_LONG, 413, "the body is too long")

enum pel_http1_fault {
#define PEL_HTTP1_FAULT(name, status, text) PEL_HTTP1_FAULT_##name,
    PEL_HTTP1_FAULTS(PEL_HTTP1_FAULT)
#undef PEL_HTTP1_FAULT
};

/* The text of a fault, a static string, and its status. */
const char *pel_http1_fault_text(enum pel_http1_fault fault);
unsigned pel_http1_fault_status(enum pel_http1_fault fault);

#define PEL_HTTP1_MOST_HEADERS 256

/* Limits in bytes and numbers. Zero allows nothing; it does not mean "unlimited". */
struct pel_http1_limits {
    size_t target;              /* bytes of a request's target, or of a response's reason */
    size_t head;                /* bytes of the first line, the headers, and all line ends; also of the trailers */
    unsigned headers;           /* headers of one head, PEL_HTTP1_MOST_HEADERS at most; also trailers */
    uint64_t body;              /* bytes of a body, without the framing of chunks */
    size_t chunk_excess;        /* bytes of all chunk extensions of a body */
    unsigned host_optional : 1; /* whether an HTTP/1.1 request may lack Host, as those of older clients do */
};

/* 8 KB, 64 KB, 100 headers, an unlimited body, 16 KB. */
extern const struct pel_http1_limits pel_http1_default_limits;

struct pel_http1_header {
    struct pel_slice name; /* as it was sent; names are compared regardless of case */
    struct pel_slice value;
};

/* The form of a request's target. */
enum pel_http1_target { PEL_HTTP1_ORIGIN, PEL_HTTP1_ABSOLUTE, PEL_HTTP1_AUTHORITY, PEL_HTTP1_ASTERISK };

/* How the end of the body is found. */
enum pel_http1_framing { PEL_HTTP1_NO_BODY, PEL_HTTP1_LENGTH, PEL_HTTP1_CHUNKED, PEL_HTTP1_UNTIL_CLOSE };

struct pel_http1_head {
    /* requests */
    struct pel_slice method, target;
    struct pel_slice authority; /* of an absolute target: it replaces the Host header */
    struct pel_slice path;      /* of the target, without the query; empty only in authority and absolute targets */
    struct pel_slice query;     /* the target after the question mark */
    struct pel_slice host;      /* the value of Host */
    enum pel_http1_target target_form;
    unsigned expects_continue : 1;
    /* responses */
    struct pel_slice reason;
    unsigned status;
    /* requests and responses */
    unsigned minor; /* the minor version: 0 or 1 */
    enum pel_http1_framing framing;
    uint64_t length;         /* Content-Length, also when a response has no body */
    unsigned has_length : 1; /* Content-Length was sent */
    unsigned keep_alive : 1; /* the sender is ready to reuse the connection */
    unsigned upgrade : 1;    /* Connection: upgrade and Upgrade were sent */
    unsigned header_count;   /* or the number of trailers */
    struct pel_http1_header headers[PEL_HTTP1_MOST_HEADERS];
};

enum pel_http1_kind { PEL_HTTP1_REQUEST, PEL_HTTP1_RESPONSE, PEL_HTTP1_TRAILERS };

/*
 * Parses the lines of a head, or of trailers, from the first byte on. Each line is checked once it is complete, so the
 * result does not depend on how the bytes were split into pieces.
 *
 *   > 0            the length of the head including its empty line; `head` is set
 *   0              more bytes are needed; *line is the offset of the first incomplete line
 *   PEL_EPROTOCOL  *fault is the reason
 *   PEL_ELIMIT     *fault names the limit
 *
 * A header line of a response is complete only with the first byte after it, which may continue it (obs-fold).
 * A response's framing is determined as if its request were a GET. Its bytes must be writable: where a header goes on
 * in the next line (obs-fold), blanks replace the line end in place. In requests and trailers that is refused.
 */
ssize_t pel_http1_parse_head(enum pel_http1_kind kind, const struct pel_http1_limits *limits, const char *bytes,
                             size_t length, struct pel_http1_head *head, size_t *line, enum pel_http1_fault *fault);

/* The bytes that a first line may have in addition to the target. */
#define PEL_HTTP1_FIRST_LINE_EXCESS 64

/* Bytes that a first line may have. */
static inline size_t pel_http1_first_line_limit(const struct pel_http1_limits *limits)
{
    size_t most = SIZE_MAX - PEL_HTTP1_FIRST_LINE_EXCESS;
    return (limits->target < most ? limits->target : most) + PEL_HTTP1_FIRST_LINE_EXCESS;
}

/* A request's host, perhaps with a port: an absolute target's, or else that of the Host header (RFC 9112, 3.2.2). */
static inline struct pel_slice pel_http1_effective_host(const struct pel_http1_head *head)
{
    return head->target_form == PEL_HTTP1_ABSOLUTE ? head->authority : head->host;
}

/* The first header of that name (given in lower case), or NULL. */
const struct pel_http1_header *pel_http1_find(const struct pel_http1_head *head, const char *name);
