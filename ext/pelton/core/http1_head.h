#ifndef PEL_HTTP1_HEAD_H
#define PEL_HTTP1_HEAD_H

#include <stdint.h>
#include <sys/types.h>
#include "error.h"
#include "http1_text.h"

/*
 * The head of an HTTP/1 message: its first line and its headers, as slices of the bytes it was parsed from. Strict:
 * what two parsers could take for two different things is refused, because one of them may be a proxy in front of us.
 */

/* Why a message was refused.
 *
 *   X(name, status a server answers with, text)
 */
#define PEL_HTTP1_FAULTS(X)                                                                                            \
    X(NONE, 200, "nothing")                                                                                            \
    X(LINE_END, 400, "a line does not end with CRLF")                                                                  \
    X(FIRST_LINE, 400, "the first line is malformed")                                                                  \
    X(METHOD, 400, "the method is malformed")                                                                          \
    X(TARGET, 400, "the target is malformed")                                                                          \
    X(VERSION, 505, "the version is neither HTTP/1.1 nor HTTP/1.0")                                                    \
    X(HEADER, 400, "a header is malformed")                                                                            \
    X(HOST, 400, "Host is missing, malformed, or there twice")                                                         \
    X(LENGTH, 400, "Content-Length is malformed, or there twice")                                                      \
    X(CODING, 400, "Transfer-Encoding is not chunked alone, or not allowed here")                                      \
    X(CHUNK, 400, "a chunk is malformed")                                                                              \
    X(TRAILER, 400, "a trailer is not allowed")                                                                        \
    X(EXPECTATION, 417, "only 100-continue can be expected")                                                           \
    X(CUT_OFF, 400, "the connection ended within a message")                                                           \
    X(TARGET_LONG, 414, "the target is too long")                                                                      \
    X(HEAD_LONG, 431, "the headers are too long")                                                                      \
    X(HEADERS_MANY, 431, "there are too many headers")                                                                 \
    X(BODY_LONG, 413, "the body is too long")

enum pel_http1_fault {
#define PEL_HTTP1_FAULT(name, status, text) PEL_HTTP1_FAULT_##name,
    PEL_HTTP1_FAULTS(PEL_HTTP1_FAULT)
#undef PEL_HTTP1_FAULT
};

/* The text and the status of a fault; static, the caller frees nothing. */
const char *pel_http1_fault_text(enum pel_http1_fault fault);
unsigned pel_http1_fault_status(enum pel_http1_fault fault);

#define PEL_HTTP1_MOST_HEADERS 256

/* In bytes and numbers. Zero stands for none at all, not for "without limit". */
struct pel_http1_limits {
    size_t target;              /* bytes of a request's target; of a response's reason */
    size_t head;                /* bytes of the first line, the headers, and all line ends; of the trailers as well */
    unsigned headers;           /* of one head, PEL_HTTP1_MOST_HEADERS at most; of the trailers as well */
    uint64_t body;              /* bytes of a body, without what chunks add */
    size_t chunk_excess;        /* bytes of all chunk extensions of a body */
    unsigned host_optional : 1; /* whether a request of HTTP/1.1 may be without Host, as clients from before it are */
};

/* 8 KB, 64 KB, 100, for ever, 16 KB. */
extern const struct pel_http1_limits pel_http1_default_limits;

struct pel_http1_header {
    struct pel_slice name; /* as it was sent; names are the same whatever their case */
    struct pel_slice value;
};

/* How the target of a request is written. */
enum pel_http1_target { PEL_HTTP1_ORIGIN, PEL_HTTP1_ABSOLUTE, PEL_HTTP1_AUTHORITY, PEL_HTTP1_ASTERISK };

/* How long the body is. */
enum pel_http1_framing { PEL_HTTP1_NO_BODY, PEL_HTTP1_LENGTH, PEL_HTTP1_CHUNKED, PEL_HTTP1_UNTIL_CLOSE };

struct pel_http1_head {
    /* of a request */
    struct pel_slice method, target;
    struct pel_slice authority; /* of an absolute target: what stands for the Host header then */
    struct pel_slice path;      /* of the target, without the query; empty only in authority and absolute targets */
    struct pel_slice query;     /* behind the question mark */
    struct pel_slice host;      /* Host's value */
    enum pel_http1_target target_form;
    unsigned expects_continue : 1;
    /* of a response */
    struct pel_slice reason;
    unsigned status;
    /* of both */
    unsigned minor; /* of the version: 0 or 1 */
    enum pel_http1_framing framing;
    uint64_t length;         /* of a body with PEL_HTTP1_LENGTH; of a response without a body: what was said of one */
    unsigned has_length : 1; /* Content-Length was sent */
    unsigned keep_alive : 1; /* the sender would go on with this connection */
    unsigned upgrade : 1;    /* Connection: upgrade and Upgrade were sent */
    unsigned header_count;   /* of trailers as well */
    struct pel_http1_header headers[PEL_HTTP1_MOST_HEADERS];
};

enum pel_http1_kind { PEL_HTTP1_REQUEST, PEL_HTTP1_RESPONSE, PEL_HTTP1_TRAILERS };

/*
 * Parses the lines of a head, or of trailers, from its first byte on. Every line is judged when it is complete, so the
 * answer does not depend on how the bytes were cut.
 *
 *   > 0            the head's length, its empty line included; `head` is set
 *   0              more bytes are needed; *line is where the first incomplete line begins
 *   PEL_EPROTOCOL  *fault says why
 *   PEL_ELIMIT     *fault says which
 *
 * Whether a response has a body is decided as if its request were a GET.
 */
ssize_t pel_http1_parse_head(enum pel_http1_kind kind, const struct pel_http1_limits *limits, const char *bytes,
                             size_t length, struct pel_http1_head *head, size_t *line, enum pel_http1_fault *fault);

/* Beyond the target, bytes that a first line may have. */
#define PEL_HTTP1_FIRST_LINE_EXCESS 64

/* The header of that name (in lower case), the first of them; NULL when there is none. */
const struct pel_http1_header *pel_http1_find(const struct pel_http1_head *head, const char *name);

#endif
