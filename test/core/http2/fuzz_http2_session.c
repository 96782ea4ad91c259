#include <stdlib.h>
#include "core/http2/http2_session.h"
#include "fuzz_pieces.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

/*
 * For any bytes behind the preface: no crash, no hang, and bounded memory, while the owner answers, cancels and ends as
 * further bytes decide. The first bytes choose what the owner does for each stream.
 */

#define STREAMS 20

static const struct pel_http1_limits message = {
    .target = 100, .head = 1000, .headers = 10, .body = 10000, .chunk_excess = 100};
static const struct pel_http2_limits limits = {
    .message = &message, .streams = STREAMS, .window = 5000, .websockets = 1, .resets = 50, .controls = 50};

static void answer(struct pel_http2_stream *stream, uint32_t choice)
{
    static const char lines[] = "HTTP/1.1 200 OK\r\nx-one: 1\r\n\r\n", trailers[] = "x-sum: 1\r\n\r\n";
    static const char bytes[40000];

    stream->tunnel = stream->websocket && choice % 2;
    pel_buffer_append(&stream->lines, lines, sizeof lines - 1);
    CHECK(pel_http2_send_head(stream, choice % 5 == 0) == 0);
    if (choice % 5)
        pel_http2_append(stream, bytes, choice % sizeof bytes);
    if (choice % 7 == 0)
        pel_buffer_append(&stream->lines, trailers, sizeof trailers - 1);
    if (choice % 11 == 0)
        pel_http2_reset(stream, PEL_HTTP2_CANCEL);
    else
        pel_http2_finish(stream);
}

static void handle(struct pel_http2_stream *stream, unsigned news, uint32_t choice)
{
    static struct pel_http1_head head;

    if (news & PEL_HTTP2_HEAD && !stream->closed && pel_http2_head(stream, &head) == 0 && choice % 3)
        answer(stream, choice);
    if (news & PEL_HTTP2_BODY && choice % 2)
        pel_http2_take(stream, pel_buffer_length(&stream->input));
    if (stream->ended)
        pel_http2_trailers(stream, &head);
    if (stream->closed || choice % 13 == 0) {
        pel_http2_reset(stream, PEL_HTTP2_INTERNAL_ERROR);
        pel_http2_release(stream);
    }
}

static unsigned count_streams(const struct pel_http2_session *session)
{
    unsigned count = 0;

    for (const struct pel_http2_stream *stream = pel_http2_first(session); stream; stream = stream->next) {
        count++;
        CHECK(pel_buffer_length((struct pel_buffer *)&stream->input) <= limits.message->body);
        CHECK(pel_buffer_length((struct pel_buffer *)&stream->head) <= 3 * limits.message->head);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
    struct pel_http2_session *session;
    struct pel_buffer output = {0};
    uint32_t seed = seed_of(data, size);
    int code = 0;

    if (size < 2)
        return 0;
    session = pel_http2_session_new(&limits);
    CHECK(session);
    CHECK(pel_http2_receive(session, preface, sizeof preface, 0) == 0);
    for (size_t at = 1, piece; at < size && code == 0; at += piece) {
        struct pel_http2_stream *stream;
        unsigned news;
        piece = next_piece(&seed, data[0] + 1u, size - at);
        code = pel_http2_receive(session, (const char *)data + at, piece, (int64_t)at);
        while ((stream = pel_http2_next(session, &news)))
            handle(stream, news, seed >> 3);
        if (pel_http2_send(session, &output, 1 + seed % 10000) < 0)
            code = -1;
        pel_buffer_consume(&output, pel_buffer_length(&output));
        while ((stream = pel_http2_next(session, &news)))
            handle(stream, news, seed >> 5);
        CHECK(count_streams(session) <= 2 * STREAMS);
        if (seed % 97 == 0)
            pel_http2_announce_end(session);
    }
    if (seed % 2)
        pel_http2_abandon(session);
    pel_http2_session_free(session);
    pel_buffer_free(&output);
    return 0;
}
