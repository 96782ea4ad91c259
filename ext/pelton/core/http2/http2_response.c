#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "core/base/alloc.h"
#include "core/http2/http2_private.h"

/* What a server answers: the lines of a head become fields, and the body goes out as the peer's windows allow. */

#define ROOM 32768 /* bytes of output: with so few, an owner who waits may write again */
#define FRAME_HEAD 9

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* Fields of an HTTP/1 connection, which HTTP/2 forbids (RFC 9113, 8.2.2). */
static int of_connection_p(struct pel_slice name)
{
    switch (name.length) {
    case 7:
        return pel_http1_equal(name, "upgrade");
    case 10:
        return pel_http1_equal(name, "connection") || pel_http1_equal(name, "keep-alive");
    case 16:
        return pel_http1_equal(name, "proxy-connection");
    case 17:
        return pel_http1_equal(name, "transfer-encoding");
    default:
        return 0;
    }
}

int pel__http2_add_field(struct pel_http2_session *session, size_t count, struct pel_slice name, struct pel_slice value)
{
    if (count == session->fields_capacity) {
        size_t capacity = count ? count * 2 : 32;
        nghttp2_nv *fields = pel_realloc(session->fields, capacity * sizeof *fields);
        if (!fields)
            return PEL_EMEMORY;
        session->fields = fields;
        session->fields_capacity = capacity;
    }
    session->fields[count] = (nghttp2_nv){.name = (uint8_t *)name.bytes,
                                          .namelen = name.length,
                                          .value = (uint8_t *)value.bytes,
                                          .valuelen = value.length};
    return 0;
}

static void lower(char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] >= 'A' && bytes[i] <= 'Z')
            bytes[i] |= 32;
}

ssize_t pel__http2_read_fields(struct pel_http2_session *session, size_t count, char *at, const char *end)
{
    while (at < end && *at != '\r') {
        char *line_end = memchr(at, '\n', (size_t)(end - at)), *colon = memchr(at, ':', (size_t)(end - at));
        struct pel_slice name = {at, (size_t)(colon - at)};
        lower(at, name.length);
        if (!of_connection_p(name)) {
            int code = pel__http2_add_field(session, count, name, pel_http1_trim(colon + 1, line_end - 1));
            if (code < 0)
                return code;
            count++;
        }
        at = line_end + 1;
    }
    return (ssize_t)count;
}

ssize_t pel__http2_read_body(nghttp2_session *nghttp2, int32_t id, uint8_t *bytes, size_t length, uint32_t *flags,
                             nghttp2_data_source *source, void *data)
{
    struct pel_http2_stream *stream = source->ptr;
    size_t unsent = pel_http2_unsent(stream);

    (void)bytes, (void)data;
    if (!unsent && !stream->finished) {
        stream->deferred = 1;
        return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (unsent <= length && stream->finished) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (pel_buffer_length(&stream->lines)) {
            char *lines = pel_buffer_head(&stream->lines);
            ssize_t count =
                pel__http2_read_fields(stream->session, 0, lines, lines + pel_buffer_length(&stream->lines));
            if (count > 0) {
                *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                nghttp2_submit_trailer(nghttp2, id, stream->session->fields, (size_t)count);
            }
            pel_buffer_free(&stream->lines);
        }
    }
    return (ssize_t)pel_min(unsent, length);
}

/* One head of the lines. Returns its length, or a negative code. */
static ssize_t send_one_head(struct pel_http2_stream *stream, char *lines, size_t length, int no_body)
{
    struct pel_http2_session *session = stream->session;
    nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = pel__http2_read_body};
    char *end = memmem(lines, length, "\r\n\r\n", 4), *first_end = memchr(lines, '\n', length);
    ssize_t count;
    int code, final = lines[9] != '1';

    if (!end)
        return PEL_EARGUMENT;
    code = pel__http2_add_field(session, 0, PEL_SLICE(":status"), (struct pel_slice){lines + 9, 3});
    count = code < 0 ? code : pel__http2_read_fields(session, 1, first_end + 1, end + 2);
    if (count < 0)
        return count;
    if (final) {
        stream->responded = 1;
        code = nghttp2_submit_response(session->nghttp2, stream->id, session->fields, (size_t)count,
                                       no_body ? NULL : &provider);
    } else {
        code = nghttp2_submit_headers(session->nghttp2, NGHTTP2_FLAG_NONE, stream->id, NULL, session->fields,
                                      (size_t)count, NULL);
    }
    return code == NGHTTP2_ERR_NOMEM ? PEL_EMEMORY : end + 4 - lines;
}

int pel_http2_send_head(struct pel_http2_stream *stream, int no_body)
{
    while (pel_buffer_length(&stream->lines) && !stream->closed && !stream->responded) {
        ssize_t count =
            send_one_head(stream, pel_buffer_head(&stream->lines), pel_buffer_length(&stream->lines), no_body);
        if (count < 0)
            return (int)count;
        pel_buffer_consume(&stream->lines, (size_t)count);
    }
    return 0;
}

/* ---- the body ---------------------------------------------------------------------------------------------------- */

size_t pel_http2_unsent(const struct pel_http2_stream *stream)
{
    return pel_buffer_length(&stream->output) + stream->borrowed.length;
}

static void resume(struct pel_http2_stream *stream)
{
    if (!stream->deferred)
        return;
    stream->deferred = 0;
    nghttp2_session_resume_data(stream->session->nghttp2, stream->id);
}

int pel_http2_append(struct pel_http2_stream *stream, const char *bytes, size_t length)
{
    if (stream->closed || stream->is_reset)
        return 0;
    if (pel_buffer_append(&stream->output, bytes, length) < 0)
        return PEL_EMEMORY;
    resume(stream);
    return 0;
}

int pel_http2_lend(struct pel_http2_stream *stream, const char *bytes, size_t length, uintptr_t owner,
                   struct pel_lender *lender)
{
    if (stream->closed || stream->is_reset) {
        if (lender)
            lender->give_back(lender, owner);
        return 0;
    }
    if (pel_borrowed_add(&stream->borrowed, &stream->output, bytes, length, owner, lender) < 0)
        return PEL_EMEMORY;
    resume(stream);
    return 0;
}

void pel_http2_finish(struct pel_http2_stream *stream)
{
    stream->finished = 1;
    resume(stream);
}

int pel__http2_on_send_data(nghttp2_session *nghttp2, nghttp2_frame *frame, const uint8_t *frame_head, size_t length,
                            nghttp2_data_source *source, void *data)
{
    struct pel_http2_session *session = data;
    struct pel_http2_stream *stream = source->ptr;
    struct iovec parts[8];
    size_t left = length;

    (void)nghttp2, (void)frame;
    if (pel_buffer_reserve(session->out, FRAME_HEAD + length) < 0) {
        session->no_memory = 1;
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    pel_buffer_append(session->out, frame_head, FRAME_HEAD);
    while (left) {
        int count = pel_borrowed_parts(&stream->borrowed, &stream->output, parts, 8, left);
        size_t taken = 0;
        for (int i = 0; i < count; i++) {
            pel_buffer_append(session->out, parts[i].iov_base, parts[i].iov_len);
            taken += parts[i].iov_len;
        }
        pel_borrowed_consume(&stream->borrowed, &stream->output, taken);
        left -= taken;
    }
    if (stream->wants_room && pel_http2_unsent(stream) <= ROOM)
        pel__http2_tell(stream, PEL_HTTP2_ROOM);
    return pel_buffer_length(session->out) < session->most ? 0 : NGHTTP2_ERR_PAUSE;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void pel_http2_reset(struct pel_http2_stream *stream, enum pel_http2_error error)
{
    if (stream->closed || stream->is_reset)
        return;
    stream->is_reset = 1;
    stream->finished = 0;
    pel_borrowed_drop(&stream->borrowed); /* its owners may be gone before the frame is sent */
    pel_buffer_free(&stream->output);
    nghttp2_submit_rst_stream(stream->session->nghttp2, NGHTTP2_FLAG_NONE, stream->id, (uint32_t)error);
}

void pel_http2_hang_up(struct pel_http2_stream *stream)
{
    if (stream->end_sent && !stream->ended)
        pel_http2_reset(stream, PEL_HTTP2_NO_ERROR);
    else
        pel_http2_finish(stream);
    pel_http2_release(stream);
}

void pel_http2_release(struct pel_http2_stream *stream)
{
    stream->owner = NULL;
    if (stream->closed) {
        pel__http2_stream_free(stream);
        return;
    }
    stream->wants_room = 0;
    stream->released = 1;
}

#else

extern int pel__http2_is_missing; /* an empty file is no C */

#endif
