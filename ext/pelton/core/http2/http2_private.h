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
    nghttp2_nv *fields; /* of the head that is being sent */
    size_t fields_capacity;
    uint32_t count; /* of streams that are not freed: the owner may still work for those that the client reset */
    struct pel_http2_allowance resets, controls;
    unsigned flooded : 1, no_memory : 1, within_head : 1, announcing : 1, end_known : 1;
};

/* ---- http2_stream.c ------------------------------------------------------------------------------------------- */

/* The stream has news, for pel_http2_next. */
void pel__http2_tell(struct pel_http2_stream *stream, enum pel_http2_news news);

/* Takes the stream out of its session, and frees it. */
void pel__http2_stream_free(struct pel_http2_stream *stream);

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

/* ---- http2_response.c: nghttp2's callback of what is sent ------------------------------------------------------- */

int pel__http2_on_send_data(nghttp2_session *nghttp2, nghttp2_frame *frame, const uint8_t *frame_head, size_t length,
                            nghttp2_data_source *source, void *session);
