#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "core/http2/http2_client.h"

#include "core/base/alloc.h"
#include "core/http2/http2_private.h"

/*
 * What a client asks, and what a server answers: the lines of a request's head become fields, and the fields of a
 * response's head become lines, which HTTP/1's parser reads. nghttp2 has refused what RFC 9113 forbids: pseudo-headers
 * in disorder, fields of the connection, 101, a body that is not as long as its content-length, pushes.
 */

#define MOST_INTERIM 100 /* responses of 1xx before the final one */
#define STATUS_LINE "HTTP/1.1 "

uint32_t pel_http2_allowed_streams(const struct pel_http2_session *session)
{
    return session->settings
               ? nghttp2_session_get_remote_settings(session->nghttp2, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
               : 0;
}

int pel_http2_settings_known_p(const struct pel_http2_session *session)
{
    return session->settings;
}

int pel_http2_leaving_p(const struct pel_http2_session *session)
{
    return session->peer_ends || session->flooded || session->abandoned ||
           !nghttp2_session_check_request_allowed(session->nghttp2);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* The fields of the head, whose form the caller vouches for. Returns their number, or a negative code. */
static ssize_t read_head(struct pel_http2_session *session, char *lines, size_t length, struct pel_slice scheme)
{
    char *end = lines + length, *line_end = memchr(lines, '\n', length), *method_end, *target_end, *host;
    ssize_t code = PEL_EARGUMENT;

    if (!line_end || !(method_end = memchr(lines, ' ', (size_t)(line_end - lines))) ||
        !(target_end = memchr(method_end + 1, ' ', (size_t)(line_end - method_end - 1))))
        return code;
    host = line_end + 1;
    if (end - host < 6 || memcmp(host, "host: ", 6) || !(line_end = memchr(host, '\n', (size_t)(end - host))))
        return code;
    if ((code = pel__http2_add_field(session, 0, PEL_SLICE(":method"),
                                     (struct pel_slice){lines, (size_t)(method_end - lines)})) < 0 ||
        (code = pel__http2_add_field(session, 1, PEL_SLICE(":scheme"), scheme)) < 0 ||
        (code = pel__http2_add_field(session, 2, PEL_SLICE(":authority"), pel_http1_trim(host + 6, line_end - 1))) <
            0 ||
        (code = pel__http2_add_field(session, 3, PEL_SLICE(":path"),
                                     (struct pel_slice){method_end + 1, (size_t)(target_end - method_end - 1)})) < 0)
        return code;
    return pel__http2_read_fields(session, 4, line_end + 1, end);
}

struct pel_http2_stream *pel_http2_request(struct pel_http2_session *session, char *lines, size_t length,
                                           struct pel_slice scheme, int no_body)
{
    struct pel_http2_stream *stream = session->abandoned ? NULL : pel_calloc(1, sizeof *stream);
    nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = pel__http2_read_body};
    ssize_t count = stream ? read_head(session, lines, length, scheme) : PEL_EMEMORY;

    if (count >= 0)
        count = nghttp2_submit_request(session->nghttp2, NULL, session->fields, (size_t)count,
                                       no_body ? NULL : &provider, stream);
    if (count < 0) {
        pel_free(stream);
        return NULL;
    }
    stream->session = session;
    stream->id = (int32_t)count;
    stream->announced = 1;
    stream->responded = (unsigned)no_body;
    stream->finished = (unsigned)no_body;
    if ((stream->next = session->first))
        stream->next->previous = stream;
    session->first = stream;
    session->count++;
    return stream;
}

/* ---- responses --------------------------------------------------------------------------------------------------- */

int pel__http2_on_begin_response(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *data)
{
    struct pel_http2_stream *stream = nghttp2_session_get_stream_user_data(nghttp2, frame->hd.stream_id);

    (void)data;
    if (frame->hd.type != NGHTTP2_HEADERS) /* a push that crosses our SETTINGS: its stream is reset */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (stream) {
        stream->in_trailers = stream->headed;
        stream->header_count = 0;
    }
    return 0;
}

int pel__http2_on_response_field(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                                 size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                                 void *data)
{
    struct pel_http2_stream *stream = nghttp2_session_get_stream_user_data(nghttp2, frame->hd.stream_id);
    struct pel_slice key = {(const char *)name, name_length}, text = {(const char *)value, value_length};
    struct pel_buffer *head;

    (void)flags, (void)data;
    if (!stream || stream->fault || stream->released || frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    if (stream->in_trailers)
        return pel__http2_append_line(stream, &stream->trailers, key, text);
    head = &stream->head;
    if (!name_length || *name != ':')
        return pel__http2_append_line(stream, head, key, text);
    if (pel_buffer_append(head, STATUS_LINE, sizeof STATUS_LINE - 1) < 0 ||
        pel_buffer_append(head, value, value_length) < 0 || pel_buffer_append(head, " \r\n", 3) < 0)
        return pel__http2_out_of_memory(stream);
    return 0;
}

/* The status of a response's head; NULL for trailers, and for a head that a fault has left incomplete. */
static const char *read_status(struct pel_http2_stream *stream)
{
    if (stream->in_trailers || stream->fault || pel_buffer_length(&stream->head) < sizeof STATUS_LINE - 1)
        return NULL;
    return pel_buffer_head(&stream->head) + sizeof STATUS_LINE - 1;
}

/* One of 1xx: the final one is still to come. */
static void drop_interim(struct pel_http2_stream *stream, const char *status)
{
    if (status[1] == '0' && status[2] == '0')
        stream->continued = 1;
    pel_buffer_consume(&stream->head, pel_buffer_length(&stream->head));
    if (++stream->interim > MOST_INTERIM)
        pel__http2_refuse_malformed(stream);
    else
        pel__http2_tell(stream, PEL_HTTP2_HEAD);
}

void pel__http2_response_head_received(struct pel_http2_stream *stream)
{
    struct pel_buffer *lines = stream->in_trailers ? &stream->trailers : &stream->head;
    const char *status = read_status(stream);

    if (stream->malformed || stream->released)
        return;
    if (status && *status == '1') {
        drop_interim(stream, status);
        return;
    }
    stream->headed = 1;
    if (pel_buffer_append(lines, "\r\n", 2) < 0)
        stream->session->no_memory = 1;
    pel__http2_tell(stream, stream->in_trailers ? PEL_HTTP2_BODY : PEL_HTTP2_HEAD);
}

int pel_http2_response(struct pel_http2_stream *stream, struct pel_http1_head *head)
{
    int code;

    if (!stream->headed)
        return 0;
    if ((code = pel__http2_parse_lines(stream, PEL_HTTP1_RESPONSE, &stream->head, head)) < 0)
        return code;
    if (stream->ended && !pel_buffer_length(&stream->input))
        head->framing = PEL_HTTP1_NO_BODY;
    return 1;
}

#else

extern int pel__http2_is_missing; /* an empty file is no C */

#endif
