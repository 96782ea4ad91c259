#pragma once

#include <nghttp2/nghttp2.h>
#include "core/http2/http2_session.h"

/* How much of something a client may still do (flood.c). */
struct pel_http2_allowance {
    uint32_t left;
    int64_t since; /* when it was last filled up */
};

struct pel_http2_session {
    nghttp2_session *nghttp2;
    const struct pel_http2_limits *limits;
    struct pel_http2_stream *first; /* all streams */
    struct pel_http2_stream *news, **last_news;
    struct pel_buffer *out; /* where pel_http2_send writes */
    size_t most;            /* bytes that it may have */
    int64_t now;
    nghttp2_nv *fields; /* of the head that is being sent; an idle session has none */
    size_t fields_capacity;
    uint32_t count; /* of streams that are not freed: the owner may still work for those that the client reset */
    struct pel_http2_allowance resets, controls;
    unsigned client : 1;    /* the session's side */
    unsigned making : 1;    /* nghttp2's session is being made */
    unsigned settings : 1;  /* the peer's have come */
    unsigned peer_ends : 1; /* the peer has sent GOAWAY */
    unsigned abandoned : 1; /* the connection is broken */
    unsigned flooded : 1, no_memory : 1, within_head : 1, announcing : 1, end_known : 1;
};

/* ---- frame_buffer.c ------------------------------------------------------------------------------------------- */

/* The memory that nghttp2's session uses. Sessions share some of it: one thread at a time may use any of them. */
nghttp2_mem pel__http2_memory(struct pel_http2_session *session);

/* ---- http2_stream.c ------------------------------------------------------------------------------------------- */

/* The stream has news, for pel_http2_next. */
void pel__http2_tell(struct pel_http2_stream *stream, enum pel_http2_news news);

/* Takes the stream out of its session, and frees it. */
void pel__http2_stream_free(struct pel_http2_stream *stream);

/* The list of a head's fields is needed no more. */
void pel__http2_free_fields(struct pel_http2_session *session);

/* ---- flood.c -------------------------------------------------------------------------------------------------- */

/* Whether the client may do it once more. */
int pel__http2_spend(const struct pel_http2_session *session, struct pel_http2_allowance *allowance, uint32_t most);

/* Whether a frame that begins costs work, and brings no request forward. */
int pel__http2_control_p(const nghttp2_frame_hd *frame);

/* The same, of a frame whose payload says so. */
int pel__http2_idle_p(const nghttp2_frame *frame);

/* ---- http2_request.c: nghttp2's callbacks of what is received --------------------------------------------------- */

int pel__http2_on_begin_headers(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *session);
int pel__http2_on_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                         const uint8_t *value, size_t value_length, uint8_t flags, void *session);
int pel__http2_on_data(nghttp2_session *nghttp2, uint8_t flags, int32_t id, const uint8_t *bytes, size_t length,
                       void *session);
void pel__http2_head_received(struct pel_http2_stream *stream);

/* What http2_client.c shares with it. Each returns 0, or what nghttp2's callback should return. */
int pel__http2_append_line(struct pel_http2_stream *stream, struct pel_buffer *lines, struct pel_slice name,
                           struct pel_slice value);
int pel__http2_refuse_malformed(struct pel_http2_stream *stream);
int pel__http2_out_of_memory(struct pel_http2_stream *stream);

/* Parses lines that were received. 0, PEL_EPROTOCOL or PEL_ELIMIT. */
int pel__http2_parse_lines(struct pel_http2_stream *stream, enum pel_http1_kind kind, struct pel_buffer *lines,
                           struct pel_http1_head *head);

/* ---- http2_client.c: the same of a client ------------------------------------------------------------------------ */

int pel__http2_on_begin_response(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *session);
int pel__http2_on_response_field(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                                 size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                                 void *session);
void pel__http2_response_head_received(struct pel_http2_stream *stream);

/* ---- http2_response.c: nghttp2's callback of what is sent ------------------------------------------------------- */

int pel__http2_on_send_data(nghttp2_session *nghttp2, nghttp2_frame *frame, const uint8_t *frame_head, size_t length,
                            nghttp2_data_source *source, void *session);

/* A field at that place of session->fields. 0 or PEL_EMEMORY. */
int pel__http2_add_field(struct pel_http2_session *session, size_t count, struct pel_slice name,
                         struct pel_slice value);

/* The lines from `at` on as fields after the first `count`. Returns the number of fields, or PEL_EMEMORY. */
ssize_t pel__http2_read_fields(struct pel_http2_session *session, size_t count, char *at, const char *end);

/* Reads the stream's output, for nghttp2. */
ssize_t pel__http2_read_body(nghttp2_session *nghttp2, int32_t id, uint8_t *bytes, size_t length, uint32_t *flags,
                             nghttp2_data_source *source, void *session);
