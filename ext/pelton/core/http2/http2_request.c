#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "core/base/alloc.h"
#include "core/http2/http2_private.h"

/*
 * What a client sends. The fields of a head become lines of HTTP/1, which its parser reads: so a request is refused for
 * the same reasons as there, and one server's single request is no two requests to another. nghttp2 has refused what
 * RFC 9113 forbids beyond that: pseudo-headers in disorder, fields of the connection, a body that is not as long as its
 * content-length.
 */

enum { METHOD, TARGET, AUTHORITY, PROTOCOL };

#define LINES_OF_UPGRADE 2 /* that a request for a WebSocket has besides its fields */

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Resets the stream: RFC 9113, 8.1.1. */
int pel__http2_refuse_malformed(struct pel_http2_stream *stream)
{
    stream->malformed = 1;
    nghttp2_submit_rst_stream(stream->session->nghttp2, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_PROTOCOL_ERROR);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int pel__http2_out_of_memory(struct pel_http2_stream *stream)
{
    stream->session->no_memory = 1;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static struct pel_slice pseudo_header(struct pel_http2_stream *stream, int which)
{
    if (!stream->pseudo_length[which])
        return (struct pel_slice){"", 0};
    return (struct pel_slice){pel_buffer_head(&stream->pseudo) + stream->pseudo_at[which],
                              stream->pseudo_length[which]};
}

static int append_slice(struct pel_buffer *buffer, struct pel_slice slice)
{
    return slice.length ? pel_buffer_append(buffer, slice.bytes, slice.length) : 0;
}

/* An extended CONNECT asks for what HTTP/1 asks for by GET and Upgrade (RFC 8441, 5). */
static int begin_tunnel(struct pel_http2_stream *stream, struct pel_slice *method)
{
    if (!pel_slice_equals(pseudo_header(stream, PROTOCOL), "websocket")) {
        stream->fault = PEL_HTTP1_FAULT_PROTOCOL;
        return 0;
    }
    stream->websocket = 1;
    *method = PEL_SLICE("GET");
    return 1;
}

/* METHOD SP target SP HTTP/1.1, and Host. None of them may hold what would end its place in the line. */
static int write_first_line(struct pel_http2_stream *stream)
{
    struct pel_slice method = pseudo_header(stream, METHOD), target = pseudo_header(stream, TARGET),
                     authority = pseudo_header(stream, AUTHORITY);
    struct pel_buffer *head = &stream->head;

    if (pel_buffer_length(head) || stream->fault)
        return 0;
    if (stream->pseudo_length[PROTOCOL] && !begin_tunnel(stream, &method))
        return 0;
    if (!target.length) /* CONNECT */
        target = authority;
    if (!pel_http1_all(method.bytes, method.length, PEL_HTTP1_TOKEN) ||
        !pel_http1_all(target.bytes, target.length, PEL_HTTP1_TARGET_BYTE) || !target.length ||
        !pel_http1_all(authority.bytes, authority.length, PEL_HTTP1_TARGET_BYTE))
        return pel__http2_refuse_malformed(stream);
    if (append_slice(head, method) < 0 || append_slice(head, PEL_SLICE(" ")) < 0 || append_slice(head, target) < 0 ||
        append_slice(head, PEL_SLICE(" HTTP/1.1\r\n")) < 0)
        return pel__http2_out_of_memory(stream);
    if (authority.length && (append_slice(head, PEL_SLICE("host: ")) < 0 || append_slice(head, authority) < 0 ||
                             append_slice(head, PEL_SLICE("\r\n")) < 0))
        return pel__http2_out_of_memory(stream);
    if (stream->websocket && append_slice(head, PEL_SLICE("connection: upgrade\r\nupgrade: websocket\r\n")) < 0)
        return pel__http2_out_of_memory(stream);
    return 0;
}

static int keep_pseudo_header(struct pel_http2_stream *stream, struct pel_slice name, struct pel_slice value)
{
    const struct pel_http1_limits *limits = stream->session->limits->message;
    int which = pel_slice_equals(name, ":method")      ? METHOD
                : pel_slice_equals(name, ":path")      ? TARGET
                : pel_slice_equals(name, ":authority") ? AUTHORITY
                : pel_slice_equals(name, ":protocol")  ? PROTOCOL
                                                       : -1;

    if (which < 0) /* :scheme, which the connection knows better */
        return 0;
    if (which == TARGET && value.length > limits->target)
        stream->fault = PEL_HTTP1_FAULT_TARGET_LONG;
    else if (pel_buffer_length(&stream->pseudo) + value.length > limits->head)
        stream->fault = PEL_HTTP1_FAULT_HEAD_LONG;
    if (stream->fault)
        return 0;
    stream->pseudo_at[which] = pel_buffer_length(&stream->pseudo);
    stream->pseudo_length[which] = value.length;
    return append_slice(&stream->pseudo, value) < 0 ? pel__http2_out_of_memory(stream) : 0;
}

/* Host says nothing new besides :authority, or contradicts it (RFC 9113, 8.3.1). 1: it is left out. */
static int repeats_authority_p(struct pel_http2_stream *stream, struct pel_slice name, struct pel_slice value)
{
    struct pel_slice authority = pseudo_header(stream, AUTHORITY);

    if (stream->in_trailers || !authority.length || !pel_slice_equals(name, "host"))
        return 0;
    return value.length == authority.length && !memcmp(value.bytes, authority.bytes, value.length)
               ? 1
               : pel__http2_refuse_malformed(stream);
}

int pel__http2_append_line(struct pel_http2_stream *stream, struct pel_buffer *lines, struct pel_slice name,
                           struct pel_slice value)
{
    const struct pel_http1_limits *limits = stream->session->limits->message;

    if (pel_buffer_length(lines) + name.length + value.length + 4 > limits->head)
        stream->fault = PEL_HTTP1_FAULT_HEAD_LONG;
    else if (++stream->header_count > limits->headers)
        stream->fault = PEL_HTTP1_FAULT_HEADERS_MANY;
    if (stream->fault)
        return 0;
    if (!name.length || !pel_http1_all(name.bytes, name.length, PEL_HTTP1_TOKEN) ||
        !pel_http1_all(value.bytes, value.length, PEL_HTTP1_VALUE))
        return pel__http2_refuse_malformed(stream);
    if (append_slice(lines, name) < 0 || append_slice(lines, PEL_SLICE(": ")) < 0 || append_slice(lines, value) < 0 ||
        append_slice(lines, PEL_SLICE("\r\n")) < 0)
        return pel__http2_out_of_memory(stream);
    return 0;
}

/* ---- nghttp2's callbacks ----------------------------------------------------------------------------------------- */

/* A client that resets streams may open others, while the owner still works for the first: so those count, too. */
int pel__http2_on_begin_headers(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *data)
{
    struct pel_http2_session *session = data;
    struct pel_http2_stream *stream = nghttp2_session_get_stream_user_data(nghttp2, frame->hd.stream_id);

    if (stream) {
        stream->in_trailers = 1;
        stream->header_count = 0;
        return 0;
    }
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (session->flooded || session->count >= (uint64_t)session->limits->streams * 2) {
        nghttp2_submit_rst_stream(nghttp2, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (!(stream = pel_calloc(1, sizeof *stream))) {
        session->no_memory = 1;
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    stream->session = session;
    stream->id = frame->hd.stream_id;
    if ((stream->next = session->first))
        stream->next->previous = stream;
    session->first = stream;
    session->count++;
    nghttp2_session_set_stream_user_data(nghttp2, stream->id, stream);
    return 0;
}

int pel__http2_on_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                         const uint8_t *value, size_t value_length, uint8_t flags, void *data)
{
    struct pel_http2_stream *stream = nghttp2_session_get_stream_user_data(nghttp2, frame->hd.stream_id);
    struct pel_slice key = {(const char *)name, name_length}, text = {(const char *)value, value_length};
    int code;

    (void)flags, (void)data;
    if (!stream || stream->fault)
        return 0;
    if (stream->in_trailers)
        return pel__http2_append_line(stream, &stream->trailers, key, text);
    if (name_length && *name == ':')
        return keep_pseudo_header(stream, key, text);
    if ((code = write_first_line(stream)) || (code = repeats_authority_p(stream, key, text)))
        return code < 0 ? code : 0;
    return pel__http2_append_line(stream, &stream->head, key, text);
}

/* The head, or the trailers, are complete. */
void pel__http2_head_received(struct pel_http2_stream *stream)
{
    struct pel_buffer *lines = stream->in_trailers ? &stream->trailers : &stream->head;

    if (stream->malformed || (!stream->in_trailers && write_first_line(stream) < 0))
        return;
    if (append_slice(lines, PEL_SLICE("\r\n")) < 0)
        stream->session->no_memory = 1;
    pel_buffer_free(&stream->pseudo);
    stream->pseudo_length[AUTHORITY] = 0;
    pel__http2_tell(stream, stream->in_trailers ? PEL_HTTP2_BODY : PEL_HTTP2_HEAD);
    stream->announced = 1;
}

/* The whole connection's window is opened at once: what a stream may send is bounded by its own, so one whose body
 * is not read holds up no other. */
int pel__http2_on_data(nghttp2_session *nghttp2, uint8_t flags, int32_t id, const uint8_t *bytes, size_t length,
                       void *data)
{
    struct pel_http2_session *session = data;
    struct pel_http2_stream *stream = nghttp2_session_get_stream_user_data(nghttp2, id);

    (void)flags;
    nghttp2_session_consume_connection(nghttp2, length);
    if (!stream || stream->released || stream->fault)
        return 0;
    stream->received += length;
    if (stream->received > session->limits->message->body && !stream->websocket)
        stream->fault = PEL_HTTP1_FAULT_BODY_LONG;
    else if (pel_buffer_append(&stream->input, bytes, length) < 0)
        return pel__http2_out_of_memory(stream);
    pel__http2_tell(stream, PEL_HTTP2_BODY);
    return 0;
}

/* ---- the owner's side -------------------------------------------------------------------------------------------- */

int pel__http2_parse_lines(struct pel_http2_stream *stream, enum pel_http1_kind kind, struct pel_buffer *lines,
                           struct pel_http1_head *head)
{
    struct pel_http1_limits limits = *stream->session->limits->message;
    enum pel_http1_fault fault = PEL_HTTP1_FAULT_NONE;
    ssize_t length;
    size_t line;

    if (stream->fault)
        return PEL_ELIMIT;
    limits.head = SIZE_MAX; /* was looked to already: the lines have bytes that the fields have not */
    limits.headers++;       /* Host, of :authority */
    if (stream->websocket)
        limits.headers += LINES_OF_UPGRADE;
    if (limits.headers > PEL_HTTP1_MOST_HEADERS)
        limits.headers = PEL_HTTP1_MOST_HEADERS;
    length = pel_http1_parse_head(kind, &limits, pel_buffer_head(lines), pel_buffer_length(lines), head, &line, &fault);
    if (length > 0)
        return 0;
    stream->fault = (uint8_t)(fault ? fault : PEL_HTTP1_FAULT_HEADER);
    return length == PEL_ELIMIT ? PEL_ELIMIT : PEL_EPROTOCOL;
}

int pel_http2_head(struct pel_http2_stream *stream, struct pel_http1_head *head)
{
    int code = pel__http2_parse_lines(stream, PEL_HTTP1_REQUEST, &stream->head, head);

    if (code < 0)
        return code;
    if (stream->websocket || (stream->ended && !pel_buffer_length(&stream->input)))
        head->framing = PEL_HTTP1_NO_BODY;
    else if (!head->has_length)
        head->framing = PEL_HTTP1_UNTIL_CLOSE;
    if (!head->has_length || head->length <= stream->session->limits->message->body)
        return 0;
    stream->fault = PEL_HTTP1_FAULT_BODY_LONG;
    return PEL_ELIMIT;
}

void pel_http2_free_head(struct pel_http2_stream *stream)
{
    pel_buffer_free(&stream->head);
}

int pel_http2_trailers(struct pel_http2_stream *stream, struct pel_http1_head *head)
{
    head->header_count = 0;
    return pel_buffer_length(&stream->trailers)
               ? pel__http2_parse_lines(stream, PEL_HTTP1_TRAILERS, &stream->trailers, head)
               : 0;
}

void pel_http2_take(struct pel_http2_stream *stream, size_t length)
{
    pel_buffer_consume(&stream->input, length);
    if (!pel_buffer_length(&stream->input))
        pel_buffer_free(&stream->input);
    if (!stream->closed)
        nghttp2_session_consume_stream(stream->session->nghttp2, stream->id, length);
}

#else

extern int pel__http2_is_missing; /* an empty file is no C */

#endif
