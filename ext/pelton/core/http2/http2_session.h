#pragma once

#include <stdint.h>
#include <sys/types.h>
#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/base/slice.h"
#include "core/http1/http1_head.h"
#include "core/stream/borrowed.h"

/*
 * One side of an HTTP/2 connection: a server's, or a client's (http2_client.h). It has no descriptor: the owner passes
 * bytes in and out, and asks for the streams that have news. Heads are lines of HTTP/1, in both directions.
 *
 * Nothing calls the owner back. A server's stream belongs to the session until its HEAD is taken, and then to the
 * owner, who releases it. A client's belongs to the owner from the beginning.
 */

struct pel_http2_limits {
    const struct pel_http1_limits *message; /* of heads, trailers and bodies */
    uint32_t streams;                       /* that a client may have at once */
    uint32_t window;                        /* bytes of a body that the peer may send ahead of its reader */
    int websockets;                         /* a server: clients are offered WebSockets (RFC 8441) */
    /* What the peer may do at once, and again within PEL_HTTP2_CALM. Beyond, the connection ends. */
    uint32_t resets;   /* a client's streams that end by RST_STREAM before their response, whoever sends it */
    uint32_t controls; /* frames that cost work and bring none forward */
};

#define PEL_HTTP2_CALM ((int64_t)30 * 1000 * 1000 * 1000) /* nanoseconds */

/* Why streams and connections end (RFC 9113, 7). */
enum pel_http2_error {
    PEL_HTTP2_NO_ERROR = 0,
    PEL_HTTP2_PROTOCOL_ERROR = 1,
    PEL_HTTP2_INTERNAL_ERROR = 2,
    PEL_HTTP2_REFUSED_STREAM = 7,
    PEL_HTTP2_CANCEL = 8,
    PEL_HTTP2_HTTP_1_1_REQUIRED = 13
};

enum pel_http2_news {
    PEL_HTTP2_HEAD = 1,  /* the head is complete, or was refused: see fault; or one of 1xx has come */
    PEL_HTTP2_BODY = 2,  /* more of the body, its end, or what is wrong with it */
    PEL_HTTP2_ROOM = 4,  /* the output is small again: see wants_room */
    PEL_HTTP2_CLOSED = 8 /* nothing more comes, and nothing can be sent */
};

struct pel_http2_session;

struct pel_http2_stream {
    struct pel_http2_session *session;
    void *owner;             /* for the owner's use; NULL at first */
    struct pel_buffer lines; /* the owner writes a head, hints or trailers here */
    struct pel_buffer input; /* the body received, for pel_http2_take */
    uint8_t fault;           /* enum pel_http1_fault: why the message is refused, or its body */
    uint8_t interim;         /* a client: how many responses of 1xx have come */
    uint32_t error;          /* of a closed stream: enum pel_http2_error, or another code of RFC 9113, 7 */
    unsigned ended : 1;      /* the message is complete, once the input is taken */
    unsigned closed : 1;
    unsigned reset_by_peer : 1;
    unsigned continued : 1;  /* a client: the server has asked for the body (100) */
    unsigned wants_room : 1; /* set by the owner, who waits for ROOM; reset by it */
    unsigned websocket : 1;  /* a server: the request is an extended CONNECT, and reads as HTTP/1's upgrade */
    unsigned tunnel : 1;     /* set by the owner, who has accepted that: each side ends its bytes by itself */
    unsigned end_sent : 1;   /* all of the output was sent, and its end */
    /* private: */
    unsigned announced : 1, malformed : 1, headed : 1, responded : 1, finished : 1, deferred : 1, released : 1,
        in_trailers : 1, is_reset : 1;
    uint8_t news; /* a set of enum pel_http2_news */
    int32_t id;
    unsigned header_count;
    uint64_t received;
    struct pel_http2_stream *previous, *next, *next_news;
    struct pel_buffer head, trailers; /* lines received */
    struct pel_slice authority;       /* in `pseudo` */
    struct pel_buffer pseudo;         /* the pseudo-headers, until the first line is written */
    size_t pseudo_at[4], pseudo_length[4];
    struct pel_buffer output;
    struct pel_borrowed_list borrowed;
};

/* A server's side. NULL when there is no memory. The limits belong to the caller. */
struct pel_http2_session *pel_http2_session_new(const struct pel_http2_limits *limits);

/* Frees the session and all of its streams. */
void pel_http2_session_free(struct pel_http2_session *session);

/* Takes bytes from the peer at this time of the loop. 0; or PEL_EPROTOCOL, PEL_ELIMIT (a flood) or PEL_EMEMORY: the
 * connection is over, once what pel_http2_send has left is sent. */
int pel_http2_receive(struct pel_http2_session *session, const char *bytes, size_t length, int64_t now);

/* Appends frames to the output until it has `most` bytes or more, or there are none. 1: there may be more; 0; or
 * PEL_EMEMORY or PEL_EPROTOCOL. */
int pel_http2_send(struct pel_http2_session *session, struct pel_buffer *output, size_t most);

/* Whether both sides have ended the connection, and all was sent. */
int pel_http2_over_p(const struct pel_http2_session *session);

/* Whether the peer is in the middle of a head, which no other frame may interrupt. */
int pel_http2_within_head_p(const struct pel_http2_session *session);

/* The connection is broken: all streams are closed, and nothing is sent or received any more. */
void pel_http2_abandon(struct pel_http2_session *session);

/* The first of all streams; stream->next is the next. Some have no owner, or have none any more. */
struct pel_http2_stream *pel_http2_first(const struct pel_http2_session *session);

/* Says that the server stops, so that no new stream should come. A peer may have sent some before it knows. */
void pel_http2_announce_end(struct pel_http2_session *session);

/* Whether the peer has answered a ping sent after the announcement: it knows. */
int pel_http2_end_known_p(const struct pel_http2_session *session);

/* The streams begun so far are the last. */
void pel_http2_end(struct pel_http2_session *session);

/* The next stream that has news, and in *news what; NULL when there is none. */
struct pel_http2_stream *pel_http2_next(struct pel_http2_session *session, unsigned *news);

/* ---- a stream's request (http2_request.c) ----------------------------------------------------------------------- */

/* Parses the head. The slices are valid until pel_http2_free_head. PEL_EPROTOCOL, or PEL_ELIMIT: stream->fault says
 * why. */
int pel_http2_head(struct pel_http2_stream *stream, struct pel_http1_head *head);
void pel_http2_free_head(struct pel_http2_stream *stream);

/* The trailers: header_count is 0 if there are none. Returns as pel_http2_head. */
int pel_http2_trailers(struct pel_http2_stream *stream, struct pel_http1_head *head);

/* The owner has taken so many bytes from the input: the client may send as many. */
void pel_http2_take(struct pel_http2_stream *stream, size_t length);

/* ---- its response (http2_response.c) ---------------------------------------------------------------------------- */

/* Sends the lines: early hints, another head with a status of 1xx, or the response's; then the body follows unless
 * there is none. 0, PEL_EMEMORY, or PEL_EARGUMENT. */
int pel_http2_send_head(struct pel_http2_stream *stream, int no_body);

/* Appends bytes of the body: copied, or lent as in pel_borrowed_add. 0 or PEL_EMEMORY. Those of a closed stream are
 * dropped. */
int pel_http2_append(struct pel_http2_stream *stream, const char *bytes, size_t length);
int pel_http2_lend(struct pel_http2_stream *stream, const char *bytes, size_t length, uintptr_t owner,
                   struct pel_lender *lender);

/* Bytes of the body that wait for the peer's windows, or for the owner to send. */
size_t pel_http2_unsent(const struct pel_http2_stream *stream);

/* The body is complete. The lines, if any, are its trailers. */
void pel_http2_finish(struct pel_http2_stream *stream);

/* Ends the stream at once: the output is dropped. */
void pel_http2_reset(struct pel_http2_stream *stream, enum pel_http2_error error);

/* The owner forgets a tunnel, whose output is sent and ended. What the client sends yet has no reader. */
void pel_http2_hang_up(struct pel_http2_stream *stream);

/* The owner forgets the stream, which goes on sending what is finished, and ends. */
void pel_http2_release(struct pel_http2_stream *stream);
