#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "core/base/alloc.h"
#include "core/http2/http2_client.h"
#include "core/http2/http2_private.h"

/* The session's life, and nghttp2's callbacks of what concerns the connection or the end of a stream. */

#define CONNECTION_WINDOW (16 * 1024 * 1024) /* bytes: what streams may send is bounded by their own windows */
#define ANSWERS 1000                         /* of SETTINGS and PING that wait to be sent: beyond, it is a flood */
#define DEFAULT_WINDOW 65535

/* ---- nghttp2's callbacks ----------------------------------------------------------------------------------------- */

/* The bytes that follow are ignored. Streams that have begun are ended as well: their client means harm. */
static void end_flood(struct pel_http2_session *session)
{
    session->flooded = 1;
    nghttp2_session_terminate_session(session->nghttp2, NGHTTP2_ENHANCE_YOUR_CALM);
}

static int on_begin_frame(nghttp2_session *nghttp2, const nghttp2_frame_hd *frame, void *data)
{
    struct pel_http2_session *session = data;

    (void)nghttp2;
    if (frame->type == NGHTTP2_HEADERS)
        session->within_head = !(frame->flags & NGHTTP2_FLAG_END_HEADERS);
    else if (frame->type == NGHTTP2_CONTINUATION && frame->flags & NGHTTP2_FLAG_END_HEADERS)
        session->within_head = 0;
    if (!session->flooded && pel__http2_control_p(frame) &&
        !pel__http2_spend(session, &session->controls, session->limits->controls))
        end_flood(session);
    return 0;
}

static int on_frame(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *data)
{
    struct pel_http2_session *session = data;
    struct pel_http2_stream *stream = nghttp2_session_get_stream_user_data(nghttp2, frame->hd.stream_id);

    if (!session->flooded && pel__http2_idle_p(frame) &&
        !pel__http2_spend(session, &session->controls, session->limits->controls))
        end_flood(session);
    if (frame->hd.type == NGHTTP2_PING && frame->hd.flags & NGHTTP2_FLAG_ACK)
        session->end_known = 1;
    if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK))
        session->settings = 1;
    if (frame->hd.type == NGHTTP2_GOAWAY)
        session->peer_ends = 1;
    if (stream && frame->hd.type == NGHTTP2_RST_STREAM)
        stream->reset_by_peer = 1;
    if (!stream || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
        return 0;
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        stream->ended = 1;
    if (frame->hd.type == NGHTTP2_HEADERS && session->client)
        pel__http2_response_head_received(stream);
    else if (frame->hd.type == NGHTTP2_HEADERS)
        pel__http2_head_received(stream);
    else if (stream->ended)
        pel__http2_tell(stream, PEL_HTTP2_BODY);
    return 0;
}

/* A field that is malformed makes its request malformed (RFC 9113, 8.1.1); by itself, nghttp2 would drop the field. */
static int on_invalid_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                             size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags, void *data)
{
    (void)nghttp2, (void)frame, (void)name, (void)name_length, (void)value, (void)value_length, (void)flags, (void)data;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/* What the client still sends of a request that is answered has no reader (RFC 9113, 8.1); but a tunnel's owner reads
 * on. */
static void end_sent(struct pel_http2_stream *stream)
{
    stream->end_sent = 1;
    if (!stream->ended && (!stream->tunnel || stream->released))
        nghttp2_submit_rst_stream(stream->session->nghttp2, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
}

static int on_frame_sent(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *data)
{
    struct pel_http2_session *session = data;
    struct pel_http2_stream *stream;

    if (frame->hd.type == NGHTTP2_GOAWAY && session->announcing) { /* by itself, nghttp2 would send the ping first */
        session->announcing = 0;
        nghttp2_submit_ping(nghttp2, NGHTTP2_FLAG_NONE, (const uint8_t *)"goaway?");
    }
    if (session->client || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    stream = nghttp2_session_get_stream_user_data(nghttp2, frame->hd.stream_id);
    if (stream)
        end_sent(stream);
    return 0;
}

static void close_stream(struct pel_http2_stream *stream)
{
    nghttp2_session_set_stream_user_data(stream->session->nghttp2, stream->id, NULL);
    stream->closed = 1;
    pel_borrowed_drop(&stream->borrowed);
    pel_buffer_free(&stream->output);
    if (stream->released || !stream->announced)
        pel__http2_stream_free(stream);
    else
        pel__http2_tell(stream, PEL_HTTP2_CLOSED);
}

static int on_stream_close(nghttp2_session *nghttp2, int32_t id, uint32_t error, void *data)
{
    struct pel_http2_session *session = data;
    struct pel_http2_stream *stream = nghttp2_session_get_stream_user_data(nghttp2, id);

    /* Resets of our own for what is malformed count, too: a client can provoke them. */
    if (error != NGHTTP2_NO_ERROR && !session->client && !session->flooded &&
        (!stream || (!stream->released && !stream->tunnel)) &&
        !pel__http2_spend(session, &session->resets, session->limits->resets))
        end_flood(session);
    if (!stream)
        return 0;
    stream->error = error;
    close_stream(stream);
    return 0;
}

/* ---- the session ------------------------------------------------------------------------------------------------- */

static int configure(nghttp2_session_callbacks **callbacks, nghttp2_option **option, int client)
{
    if (nghttp2_session_callbacks_new(callbacks) || nghttp2_option_new(option))
        return PEL_EMEMORY;
    nghttp2_session_callbacks_set_on_begin_frame_callback(*callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_frame_recv_callback(*callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(*callbacks, on_frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(*callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_begin_headers_callback(*callbacks, client ? pel__http2_on_begin_response
                                                                               : pel__http2_on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(*callbacks,
                                                     client ? pel__http2_on_response_field : pel__http2_on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(*callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(*callbacks, pel__http2_on_data);
    nghttp2_session_callbacks_set_send_data_callback(*callbacks, pel__http2_on_send_data);
    nghttp2_option_set_no_auto_window_update(*option, 1);
    nghttp2_option_set_no_closed_streams(*option, 1);
    nghttp2_option_set_max_outbound_ack(*option, ANSWERS);
    nghttp2_option_set_builtin_recv_extension_type(*option, NGHTTP2_PRIORITY_UPDATE);
    return 0;
}

static int send_settings(struct pel_http2_session *session)
{
    const struct pel_http2_limits *limits = session->limits;
    size_t head = limits->message->head;
    nghttp2_settings_entry entries[] = {
        {session->client ? NGHTTP2_SETTINGS_ENABLE_PUSH : NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
         session->client ? 0 : limits->streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits->window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, head < UINT32_MAX ? (uint32_t)head : UINT32_MAX},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}, /* the last: of a server that offers it */
    };
    size_t count = sizeof entries / sizeof *entries - !limits->websockets;

    return nghttp2_submit_settings(session->nghttp2, NGHTTP2_FLAG_NONE, entries, count) ||
                   nghttp2_session_set_local_window_size(session->nghttp2, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW)
               ? PEL_EMEMORY
               : 0;
}

static struct pel_http2_session *make_session(const struct pel_http2_limits *limits, int client)
{
    struct pel_http2_session *session = pel_calloc(1, sizeof *session);
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    nghttp2_mem memory = pel__http2_memory(session);
    int code = session ? configure(&callbacks, &option, client) : PEL_EMEMORY;

    if (code == 0) {
        session->limits = limits;
        session->client = client;
        session->last_news = &session->news;
        session->resets.left = limits->resets;
        session->controls.left = limits->controls;
        session->making = 1;
        if ((client ? nghttp2_session_client_new3 : nghttp2_session_server_new3)(&session->nghttp2, callbacks, session,
                                                                                 option, &memory))
            code = PEL_EMEMORY;
        session->making = 0;
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    if (code == 0)
        code = send_settings(session);
    if (code < 0 && session)
        pel_http2_session_free(session);
    return code < 0 ? NULL : session;
}

struct pel_http2_session *pel_http2_session_new(const struct pel_http2_limits *limits)
{
    return make_session(limits, 0);
}

struct pel_http2_session *pel_http2_client_new(const struct pel_http2_limits *limits)
{
    return make_session(limits, 1);
}

void pel_http2_session_free(struct pel_http2_session *session)
{
    nghttp2_session_del(session->nghttp2);
    while (session->first)
        pel__http2_stream_free(session->first);
    pel__http2_free_fields(session);
    pel_free(session);
}

int pel_http2_receive(struct pel_http2_session *session, const char *bytes, size_t length, int64_t now)
{
    ssize_t count;

    session->now = now;
    if (session->abandoned)
        return 0;
    if (session->flooded)
        return PEL_ELIMIT;
    count = nghttp2_session_mem_recv(session->nghttp2, (const uint8_t *)bytes, length);
    if (session->no_memory || count == NGHTTP2_ERR_NOMEM)
        return PEL_EMEMORY;
    if (session->flooded || count == NGHTTP2_ERR_FLOODED) {
        session->flooded = 1;
        return PEL_ELIMIT;
    }
    return count < 0 ? PEL_EPROTOCOL : 0;
}

int pel_http2_send(struct pel_http2_session *session, struct pel_buffer *output, size_t most)
{
    int code = 1;

    if (session->abandoned)
        return 0;
    session->out = output;
    session->most = most;
    while (code == 1 && pel_buffer_length(output) < most) {
        const uint8_t *bytes;
        ssize_t count = nghttp2_session_mem_send(session->nghttp2, &bytes);
        if (count < 0)
            code = count == NGHTTP2_ERR_NOMEM ? PEL_EMEMORY : PEL_EPROTOCOL;
        else if (count == 0)
            code = pel_buffer_length(output) >= most;
        else if (pel_buffer_append(output, bytes, (size_t)count) < 0)
            code = PEL_EMEMORY;
        if (count == 0)
            break;
    }
    session->out = NULL;
    return code;
}

int pel_http2_over_p(const struct pel_http2_session *session)
{
    return !nghttp2_session_want_read(session->nghttp2) && !nghttp2_session_want_write(session->nghttp2);
}

/* nghttp2 still has frames of the streams, which it would read from their memory. */
void pel_http2_abandon(struct pel_http2_session *session)
{
    session->abandoned = 1;
    for (struct pel_http2_stream *stream = session->first, *next; stream; stream = next) {
        next = stream->next;
        if (!stream->closed)
            close_stream(stream);
    }
}

struct pel_http2_stream *pel_http2_first(const struct pel_http2_session *session)
{
    return session->first;
}

int pel_http2_within_head_p(const struct pel_http2_session *session)
{
    return session->within_head;
}

void pel_http2_announce_end(struct pel_http2_session *session)
{
    session->announcing = 1;
    nghttp2_submit_shutdown_notice(session->nghttp2);
}

int pel_http2_end_known_p(const struct pel_http2_session *session)
{
    return session->end_known;
}

void pel_http2_end(struct pel_http2_session *session)
{
    nghttp2_submit_goaway(session->nghttp2, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session->nghttp2), NGHTTP2_NO_ERROR, NULL, 0);
}

#else

extern int pel__http2_is_missing; /* an empty file is no C */

#endif
